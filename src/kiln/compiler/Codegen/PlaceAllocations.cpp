#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Interfaces/ArenaPlan.h"
#include "kiln/schema/executable_abi.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_PLACEALLOCATIONS
#include "kiln/compiler/Codegen/CodegenPasses.h.inc"

namespace {

class PlaceAllocations : public impl::PlaceAllocationsBase<PlaceAllocations> {
public:
  using PlaceAllocationsBase::PlaceAllocationsBase;

private:
  struct Allocation {
    Operation *op;
    int64_t bytes;
    int64_t localOffset = -1; // -1: on the stack
  };

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    SmallVector<Allocation> allocations;
    WalkResult walk = func.walk([&](Operation *op) {
      if (!isa<memref::AllocOp, memref::AllocaOp>(op))
        return WalkResult::advance();
      FailureOr<int64_t> bytes = maximumBytes(op);
      if (failed(bytes) || failed(checkLifetime(op)))
        return WalkResult::interrupt();
      allocations.push_back({op, *bytes});
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    SmallVector<memref::DeallocOp> deallocations;
    func.walk([&](memref::DeallocOp op) { deallocations.push_back(op); });
    for (memref::DeallocOp op : deallocations)
      op.erase();

    int64_t stack = 0;
    SmallVector<Allocation *> largeOnes;
    for (Allocation &allocation : allocations) {
      int64_t bytes = llvm::alignTo(allocation.bytes, KILN_BINDING_ALIGNMENT);
      if (stack + bytes <= stackLimit)
        stack += bytes;
      else
        largeOnes.push_back(&allocation);
    }
    FailureOr<int64_t> local = placeInLocalMemory(func, largeOnes);
    if (failed(local))
      return signalPassFailure();

    Value localMemory;
    if (*local > 0) {
      OpBuilder b(func);
      auto type = MemRefType::get({*local}, b.getI8Type());
      if (failed(func.insertArgument(func.getNumArguments(), type,
                                     b.getDictionaryAttr(b.getNamedAttr(localMemoryArgAttr, b.getUnitAttr())),
                                     func.getLoc()))) {
        func.emitOpError("cannot take local memory as an argument");
        return signalPassFailure();
      }
      localMemory = func.getArguments().back();
    }
    Block &entry = func.getBody().front();
    OpBuilder top = OpBuilder::atBlockBegin(&entry);
    for (Allocation &allocation : allocations)
      place(allocation, top, localMemory);
  }

  // Buffers of which one is no longer used when the other is made share their memory. Gives the bytes of all of it.
  FailureOr<int64_t> placeInLocalMemory(func::FuncOp func, ArrayRef<Allocation *> allocations) {
    if (allocations.empty())
      return 0;
    static_assert(kArenaAlignment % KILN_BINDING_ALIGNMENT == 0);
    llvm::DenseMap<Operation *, Steps> steps;
    unsigned count = 0;
    countSteps(func, steps, count);
    SmallVector<ArenaValue> values;
    for (Allocation *allocation : allocations)
      values.push_back({allocation->bytes, steps[allocation->op].first, findLastUse(allocation->op, steps)});
    ArenaPlan plan = planArena(values);
    for (auto [allocation, offset, value] : llvm::zip(allocations, plan.offsets, values)) {
      allocation->localOffset = offset;
      if (int64_t end = offset + value.size; end > localMemoryLimit)
        return allocation->op->emitOpError("brings the temporary buffers of this dispatch to ")
               << plan.size << " bytes of local memory, more than the " << localMemoryLimit.getValue()
               << " that a worker has; tile the operation that needs it into smaller parts";
    }
    return plan.size;
  }

  // The numbers, in the order of the text, of an operation and of the last one in it.
  struct Steps {
    unsigned first, last;
  };

  static void countSteps(Operation *op, llvm::DenseMap<Operation *, Steps> &steps, unsigned &count) {
    unsigned first = count++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        countSteps(&inner, steps, count);
    steps[op] = {first, count - 1};
  }

  // The step after which nobody uses the buffer. What uses it in a loop uses it in all of the loop.
  static unsigned findLastUse(Operation *op, const llvm::DenseMap<Operation *, Steps> &steps) {
    unsigned last = steps.at(op).last;
    SmallVector<Value> aliases{op->getResult(0)};
    llvm::DenseSet<Value> known(aliases.begin(), aliases.end());
    while (!aliases.empty()) {
      for (Operation *user : aliases.pop_back_val().getUsers()) {
        Operation *place = op->getBlock()->findAncestorOpInBlock(*user);
        if (!place || user->hasTrait<OpTrait::IsTerminator>())
          return steps.at(op->getParentOfType<func::FuncOp>()).last;
        last = std::max(last, steps.at(place).last);
        for (Value result : user->getResults())
          if (isa<BaseMemRefType>(result.getType()) && known.insert(result).second)
            aliases.push_back(result);
      }
    }
    return last;
  }

  static void place(const Allocation &allocation, OpBuilder &top, Value localMemory) {
    Operation *op = allocation.op;
    auto type = cast<MemRefType>(op->getResult(0).getType());
    bool onStack = allocation.localOffset < 0;
    Location loc = op->getLoc();
    Value memory;
    if (onStack && type.hasStaticShape()) {
      auto alloca = memref::AllocaOp::create(top, loc, type, top.getI64IntegerAttr(KILN_BINDING_ALIGNMENT));
      memory = alloca;
    } else {
      OpBuilder b(op);
      Value bytes = localMemory;
      if (onStack) {
        auto bytesType = MemRefType::get({allocation.bytes}, b.getI8Type());
        bytes = memref::AllocaOp::create(top, loc, bytesType, top.getI64IntegerAttr(KILN_BINDING_ALIGNMENT));
      }
      Value offset = arith::ConstantIndexOp::create(b, loc, std::max<int64_t>(allocation.localOffset, 0));
      auto viewType = MemRefType::get(type.getShape(), type.getElementType());
      memory = memref::ViewOp::create(b, loc, viewType, bytes, offset, op->getOperands());
      // A view has the default memory space; the allocation may have named another.
      if (viewType != type)
        memory = memref::MemorySpaceCastOp::create(b, loc, type, memory);
    }
    op->getResult(0).replaceAllUsesWith(memory);
    op->erase();
  }

  static FailureOr<int64_t> maximumBytes(Operation *op) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!type.getLayout().isIdentity())
      return op->emitOpError("allocates a buffer with a layout; temporary buffers of a kernel must be contiguous");
    Type element = type.getElementType();
    int64_t bytes;
    if (element.isIntOrFloat())
      bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    else if (element.isIndex())
      bytes = 8;
    else
      return op->emitOpError("allocates elements that a kernel cannot keep in memory: ") << element;
    auto dynamic = op->getOperands().begin();
    for (int64_t extent : type.getShape()) {
      if (ShapedType::isDynamic(extent)) {
        FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
            presburger::BoundType::UB, ValueBoundsConstraintSet::Variable(*dynamic++), /*stopCondition=*/nullptr,
            /*closedUB=*/true);
        if (failed(bound))
          return op->emitOpError("allocates a buffer whose size has no constant bound; a kernel does not allocate from "
                                 "the heap: tile its producer by a constant, or make it a result of the dispatch");
        extent = std::max<int64_t>(*bound, 0);
      }
      if (llvm::MulOverflow(bytes, extent, bytes))
        return op->emitOpError("allocates more memory than can be addressed");
    }
    return bytes;
  }

  // One place serves all iterations of a loop, so that a buffer must not outlive its iteration.
  static LogicalResult checkLifetime(Operation *op) {
    if (!op->getParentOfType<LoopLikeOpInterface>())
      return success();
    SmallVector<Value> aliases{op->getResult(0)};
    while (!aliases.empty()) {
      Value value = aliases.pop_back_val();
      for (Operation *user : value.getUsers()) {
        if (isa<ViewLikeOpInterface>(user))
          llvm::append_range(aliases, user->getResults());
        else if (user->hasTrait<OpTrait::IsTerminator>())
          return op->emitOpError(
              "allocates a buffer that is carried from one iteration of a loop to the next; allocate "
              "it before the loop");
      }
    }
    return success();
  }
};

} // namespace
} // namespace kiln
