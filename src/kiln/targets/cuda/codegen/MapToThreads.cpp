#include "kiln/compiler/Codegen/BooleanMemory.h"
#include "kiln/compiler/Codegen/Combiner.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"
#include "kiln/targets/cuda/codegen/ColumnLoops.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/RowLoops.h"
#include "kiln/targets/cuda/codegen/ThreadLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDAMAPTOTHREADS
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

static constexpr int64_t fewestThreads = 32, mostThreads = 256;

// How many workgroups the dispatch has, where that is known.
static std::optional<int64_t> countWorkgroups(func::FuncOp function) {
  HAL::ExecutableExportOp exportOp = findExport(function);
  if (!exportOp || exportOp.getWorkgroupCount().empty())
    return std::nullopt;
  int64_t total = 1;
  for (Value count : exportOp.getWorkgroupCount().front().getTerminator()->getOperands()) {
    std::optional<int64_t> known = getConstantIntValue(count);
    if (!known)
      return std::nullopt;
    total *= *known;
  }
  return total;
}

// As many threads as the largest operation has work for.
static int64_t chooseThreads(func::FuncOp function) {
  int64_t threads = fewestThreads;
  std::optional<int64_t> workgroups = countWorkgroups(function);
  function.walk([&](linalg::LinalgOp op) {
    if (isAlongColumns(op)) {
      threads = std::max(threads, threadsForColumns(op, workgroups));
      return;
    }
    WorkSize size = WorkSize::of(op);
    int64_t work = size.parallel.value_or(mostThreads);
    if (op.getNumReductionLoops() != 0 && findCombiner(op, 0) && work < mostThreads)
      work *= std::clamp<int64_t>(size.reduction.value_or(mostThreads) / 2, 1, mostThreads);
    threads = std::max<int64_t>(threads, llvm::PowerOf2Ceil(std::min(work, mostThreads)));
  });
  return threads;
}

static bool isWork(Operation *op) {
  return isa<linalg::LinalgOp>(op);
}

static bool holdsWork(Operation *op) {
  return op->walk([](Operation *inner) { return isWork(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

// What an operation, with all in it, does to memory that other threads see.
namespace {
struct Accesses {
  bool reads = false, writes = false;

  static Accesses of(Operation *op) {
    Accesses accesses;
    op->walk([&](Operation *inner) {
      if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isa<memref::AllocOp, memref::AllocaOp>(inner))
        return;
      auto interface = dyn_cast<MemoryEffectOpInterface>(inner);
      accesses.reads |= interface ? interface.hasEffect<MemoryEffects::Read>() : !isMemoryEffectFree(inner);
      accesses.writes |= interface ? interface.hasEffect<MemoryEffects::Write>() : !isMemoryEffectFree(inner);
    });
    return accesses;
  }
};
} // namespace

namespace {

// Distributes the operations of a function. It visits them in the order in which they run and knows, at each, what has
// happened to memory since the last barrier.
class Distributor {
public:
  Distributor(func::FuncOp function, int64_t threads) : function(function), b(function.getContext()), threads(threads) {
    b.setInsertionPointToStart(&function.getFunctionBody().front());
    thread = gpu::ThreadIdOp::create(b, function.getLoc(), b.getIndexType(), gpu::Dimension::x);
  }

  void run() { visit(function.getFunctionBody().front()); }
  void run(RowGroup &group) { group.emit(thread); }

private:
  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (&op == thread.getDefiningOp())
        continue;
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
        distribute(linalgOp);
      } else if (holdsWork(&op)) {
        // What the loop before has left, and what its own last iteration has.
        barrierBefore(&op);
        for (Region &region : op.getRegions())
          for (Block &inner : region) {
            visit(inner);
            barrierBefore(inner.getTerminator());
          }
      } else {
        visitScalar(&op);
      }
    }
  }

  void distribute(linalg::LinalgOp op) {
    SmallVector<Value> fills;
    SmallVector<Operation *> absorbed;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      linalg::FillOp fill = findFill(op, init);
      fills.push_back(fill ? fill.value() : Value());
      if (fill)
        absorbed.push_back(fill);
    }
    for (Operation *fill : absorbed)
      fill->erase();
    if (isa<linalg::FillOp>(op) && isAbsorbed(cast<linalg::FillOp>(op.getOperation())))
      return; // By the one that comes next.
    barrierBefore(op);
    emitThreadLoops(b, op, thread, threads, fills);
    op->erase();
    since = {true, true};
  }

  // The fill of the memory that an operation accumulates into, where nothing comes between the two that sees it.
  static linalg::FillOp findFill(linalg::LinalgOp op, OpOperand &init) {
    for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
      auto fill = dyn_cast<linalg::FillOp>(before);
      if (fill && fill.output() == init.get())
        return absorbs(op, init) ? fill : linalg::FillOp();
      if (fill && llvm::is_contained(op.getDpsInits(), fill.output()))
        continue;
      if (!isMemoryEffectFree(before) && !isa<memref::AllocOp>(before))
        return {};
    }
    return {};
  }

  static bool absorbs(linalg::LinalgOp op, OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool isOwn = llvm::count(op->getOperands(), init.get()) == 1;
    return isOwn && op.getNumReductionLoops() != 0 && map.isProjectedPermutation() &&
           llvm::all_of(op.getDpsInitsMutable(),
                        [&](OpOperand &other) { return op.getMatchingIndexingMap(&other) == map; });
  }

  static bool isAbsorbed(linalg::FillOp fill) {
    for (Operation *next = fill->getNextNode(); next; next = next->getNextNode()) {
      if (auto op = dyn_cast<linalg::LinalgOp>(next); op && !isa<linalg::FillOp>(next))
        return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) { return findFill(op, init) == fill; });
      if (!isMemoryEffectFree(next) && !isa<linalg::FillOp, memref::AllocOp>(next))
        return false;
    }
    return false;
  }

  // Operations between those that are distributed run in every thread; those that write run in the first one.
  void visitScalar(Operation *op) {
    Accesses accesses = Accesses::of(op);
    if (accesses.writes) {
      barrierBefore(op);
      runInOneThread(op);
      since = {true, true};
    } else if (accesses.reads) {
      if (since.writes)
        barrierBefore(op);
      since.reads = true;
    }
  }

  void runInOneThread(Operation *op) {
    Location loc = op->getLoc();
    b.setInsertionPoint(op);
    SmallVector<Value> memory;
    for (Type type : op->getResultTypes())
      memory.push_back(memref::AllocOp::create(b, loc, MemRefType::get({}, type)));
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, thread, zero);
    auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    if (op->getNumRegions() != 0)
      Util::addRemark(function, Util::Cost::OneThread, loc, function.getName(),
                      "runs in one thread of each workgroup: '" + op->getName().getStringRef() +
                          "' computes elements one after the other");
    b.setInsertionPointAfter(branch);
    if (!memory.empty())
      gpu::BarrierOp::create(b, loc);
    for (auto [result, buffer] : llvm::zip(op->getResults(), memory))
      result.replaceAllUsesWith(memref::LoadOp::create(b, loc, buffer));
    op->moveBefore(branch.thenBlock()->getTerminator());
    b.setInsertionPointAfter(op);
    for (auto [result, buffer] : llvm::zip(op->getResults(), memory))
      memref::StoreOp::create(b, loc, result, buffer);
  }

  void barrierBefore(Operation *op) {
    if (!since.reads && !since.writes)
      return;
    b.setInsertionPoint(op);
    gpu::BarrierOp::create(b, op->getLoc());
    since = {};
  }

  func::FuncOp function;
  OpBuilder b;
  int64_t threads;
  Value thread;
  Accesses since; // the last barrier
};

// Temporary memory that nothing is left to read.
void eraseUnusedMemory(func::FuncOp function) {
  SmallVector<memref::AllocOp> unused;
  function.walk([&](memref::AllocOp op) {
    if (op->use_empty())
      unused.push_back(op);
  });
  for (memref::AllocOp op : unused)
    op.erase();
}

// Copies become operations that can be distributed.
void replaceCopies(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<memref::CopyOp, memref::DeallocOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      linalg::makeMemRefCopyOp(b, op->getLoc(), copy.getSource(), copy.getTarget());
    op->erase();
  }
}

// Puts all of a dispatch into a loop over the workgroups that a block is for.
void loopOverWorkgroups(func::FuncOp function) {
  Block &body = function.getFunctionBody().front();
  Location loc = function.getLoc();
  bool sharesMemory = function
                          .walk([](Operation *op) {
                            return isa<memref::AllocOp, memref::AllocaOp, gpu::DynamicSharedMemoryOp>(op)
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Value count[3], total;
  HAL::ExecutableExportOp exportOp = findExport(function);
  bool isFilled = exportOp && !exportOp.getWorkgroupCount().empty();
  for (unsigned dim = 0; dim < 3; ++dim) {
    std::optional<int64_t> known;
    if (isFilled)
      known = getConstantIntValue(exportOp.getWorkgroupCount().front().getTerminator()->getOperand(dim));
    count[dim] = known ? arith::ConstantIndexOp::create(b, loc, *known).getResult()
                       : HAL::InterfaceWorkgroupCountOp::create(b, loc, dim).getResult();
    total = dim == 0 ? count[0] : arith::MulIOp::create(b, loc, total, count[dim]).getResult();
  }
  Value first = gpu::BlockIdOp::create(b, loc, b.getIndexType(), gpu::Dimension::x);
  Value step = gpu::GridDimOp::create(b, loc, b.getIndexType(), gpu::Dimension::x);
  auto loop = scf::ForOp::create(b, loc, first, total, step);
  Operation *terminator = body.getTerminator();
  loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(), body.getOperations(),
                                         std::next(loop->getIterator()), terminator->getIterator());
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), id[3];
  Value rest = arith::DivUIOp::create(b, loc, number, count[0]);
  id[0] = arith::RemUIOp::create(b, loc, number, count[0]);
  id[1] = arith::RemUIOp::create(b, loc, rest, count[1]);
  id[2] = arith::DivUIOp::create(b, loc, rest, count[1]);
  loop.walk([&](HAL::InterfaceWorkgroupIDOp op) {
    op.replaceAllUsesWith(id[op.getDimension()]);
    op.erase();
  });
  // What the next workgroup writes there others may still read.
  if (sharesMemory) {
    b.setInsertionPoint(loop.getBody()->getTerminator());
    gpu::BarrierOp::create(b, loc);
  }
}

class CudaMapToThreadsPass : public impl::CudaMapToThreadsBase<CudaMapToThreadsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getFunctionBody().hasOneBlock()) {
      function.emitOpError("has control flow between blocks; dispatches for GPUs have structured control flow");
      return signalPassFailure();
    }
    WalkResult onTensors = function.walk([](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        return WalkResult::advance();
      op->emitOpError("still works on tensors; threads share what works on memory");
      return WalkResult::interrupt();
    });
    if (onTensors.wasInterrupted())
      return signalPassFailure();
    IRRewriter rewriter(function.getContext());
    if (!function->hasAttr(threadsAttr)) // Not written for its threads already.
      distribute(function);
    if (failed(convertBooleanMemory(rewriter, function)))
      return signalPassFailure();
    if (!function->hasAttr(blocksPerMultiprocessorAttr))
      loopOverWorkgroups(function);
  }

  static void distribute(func::FuncOp function) {
    replaceCopies(function);
    std::optional<RowGroup> group = RowGroup::find(function);
    int64_t threads = group ? group->threads() : chooseThreads(function);
    Distributor distributor(function, threads);
    if (group)
      distributor.run(*group);
    else
      distributor.run();
    eraseUnusedMemory(function);
    function->setAttr(threadsAttr, Builder(function.getContext()).getI32IntegerAttr(threads));
  }
};

} // namespace
} // namespace kiln
