#include "kiln/targets/cuda/codegen/SpecLaunch.h"

#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

static constexpr int64_t mostThreads = 1024;
// Of a buffer in shared memory, in bytes: what copies and ldmatrix need, and a row of banks.
static constexpr int64_t sharedAlignment = 128;

static SpecFault faultAt(Operation *op, const Twine &what) {
  return {op->getLoc(), ("'" + op->getName().getStringRef() + "' " + what).str()};
}

static bool isShared(MemRefType type) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

// Each buffer has a place of its own, so that no barriers are needed but those that the spec has put.
static std::optional<SpecFault> placeSharedMemory(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<memref::AllocOp> buffers;
  SmallVector<memref::DeallocOp> deallocations;
  function.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && isShared(alloc.getType()))
      buffers.push_back(alloc);
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op); dealloc && isa<MemRefType>(dealloc.getMemref().getType()) &&
                                                        isShared(cast<MemRefType>(dealloc.getMemref().getType())))
      deallocations.push_back(dealloc);
  });
  if (buffers.empty())
    return std::nullopt;
  for (memref::DeallocOp op : deallocations)
    rewriter.eraseOp(op);
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = function.getLoc();
  rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
  auto space = gpu::AddressSpaceAttr::get(function.getContext(), gpu::AddressSpace::Workgroup);
  auto bytesType = MemRefType::get({ShapedType::kDynamic}, rewriter.getI8Type(), AffineMap(), space);
  Value memory = gpu::DynamicSharedMemoryOp::create(rewriter, loc, bytesType);
  CudaTarget target = CudaTarget::of(function);
  int64_t total = 0;
  for (memref::AllocOp buffer : buffers) {
    MemRefType type = buffer.getType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
      return faultAt(buffer, "in shared memory whose size is not constant: tile by constants before");
    if (llvm::any_of(buffer->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }))
      return faultAt(buffer, "in shared memory that a loop hands on: allocate it before the loop");
    int64_t bytes = type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, total);
    Value view = memref::ViewOp::create(rewriter, buffer.getLoc(), type, memory, offset, ValueRange());
    total += llvm::alignTo(bytes, sharedAlignment);
    if (total > target.sharedLimit()) {
      SpecFault fault =
          faultAt(buffer, llvm::formatv("that brings shared memory to {0} bytes: a block of {1} has {2}; make tiles "
                                        "smaller, or fewer buffers of each (transform.memref.multibuffer)",
                                        total, target.architecture, target.sharedLimit())
                              .str());
      fault.isLimit = true;
      return fault;
    }
    rewriter.replaceOp(buffer, view);
  }
  function->setAttr(dynamicSharedBytesAttr, rewriter.getI64IntegerAttr(total));
  return std::nullopt;
}

// What every block would do again.
static std::optional<SpecFault> findWorkOutside(gpu::LaunchOp launch) {
  for (Operation &op : *launch->getBlock()) {
    if (&op == launch || op.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&op) ||
        isa<gpu::DynamicSharedMemoryOp, memref::AllocOp, memref::DeallocOp>(op))
      continue;
    return faultAt(&op, "outside of its gpu.launch: fuse it into the loop over blocks "
                        "(transform.structured.fuse_into_containing_op)");
  }
  return std::nullopt;
}

static std::optional<SpecFault> findOthersMemory(func::FuncOp function) {
  std::optional<SpecFault> fault;
  function.walk([&](Operation *op) {
    if (!isa<memref::AllocOp, memref::AllocaOp>(op))
      return WalkResult::advance();
    fault =
        faultAt(op, "that does not say whether it is the block's or a thread's memory, in a kernel that is mapped to "
                    "threads: have it in shared memory (memory_space = #gpu.address_space<workgroup> of "
                    "transform.structured.bufferize_to_allocation), or in registers, as vectors");
    return WalkResult::interrupt();
  });
  return fault;
}

// What all threads would write at the same place.
static std::optional<SpecFault> findUnmappedWrite(func::FuncOp function, Value thread) {
  std::optional<SpecFault> fault;
  auto isOfThread = [&](ValueRange values) {
    llvm::DenseSet<Value> visited;
    return llvm::any_of(values, [&](Value value) { return dependsOn(value, thread, visited); });
  };
  function.walk([&](MemoryEffectOpInterface op) {
    // Instructions of all lanes of a warp.
    if (!op.hasEffect<MemoryEffects::Write>() || isa_and_nonnull<gpu::GPUDialect>(op->getDialect()) ||
        !llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
      return WalkResult::advance();
    SmallVector<Value> places;
    for (Value operand : op->getOperands())
      if (isa<BaseMemRefType>(operand.getType()) || operand.getType().isIndex())
        places.push_back(operand);
    bool isMapped = isOfThread(places);
    for (Operation *parent = op->getParentOp(); !isMapped && parent != function; parent = parent->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(parent))
        isMapped = isOfThread(branch.getCondition());
    if (isMapped)
      return WalkResult::advance();
    fault = faultAt(op, "that all threads of a block do at the same place: give each its part, with "
                        "transform.structured.tile_using_forall and a mapping to #gpu.thread or #gpu.warp, before "
                        "transform.gpu.map_nested_forall_to_threads");
    return WalkResult::interrupt();
  });
  return fault;
}

// What threads have left to do element by element.
static void lowerLinalg(RewriterBase &rewriter, func::FuncOp function) {
  SmallVector<memref::CopyOp> copies;
  function.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    rewriter.setInsertionPoint(op);
    linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(), op.getTarget());
    rewriter.eraseOp(op);
  }
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    if (succeeded(linalg::linalgOpToLoops(rewriter, op)))
      rewriter.eraseOp(op);
  }
}

namespace {
// x, y and z of a grid or a block.
struct Sizes {
  int64_t x, y, z;
  int64_t total() const { return x * y * z; }
};
} // namespace

static std::optional<Sizes> constantSizes(gpu::KernelDim3 dims) {
  std::optional<int64_t> x = getConstantIntValue(dims.x), y = getConstantIntValue(dims.y),
                         z = getConstantIntValue(dims.z);
  if (!x || !y || !z || *x < 1 || *y < 1 || *z < 1)
    return std::nullopt;
  return Sizes{*x, *y, *z};
}

// Kernels have blocks of one dimension, whose threads are numbered as those of this block are.
static void replaceIds(RewriterBase &rewriter, gpu::LaunchOp launch, const Sizes &block, Value thread) {
  Location loc = launch.getLoc();
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(rewriter, loc, value).getResult(); };
  auto rest = [&](Value value, int64_t by) {
    return by == 1 ? number(0) : arith::RemUIOp::create(rewriter, loc, value, number(by)).getResult();
  };
  auto quotient = [&](Value value, int64_t by) {
    return by == 1 ? value : arith::DivUIOp::create(rewriter, loc, value, number(by)).getResult();
  };
  Value y = quotient(thread, block.x);
  Value threads[] = {block.x == block.total() ? thread : rest(thread, block.x),
                     block.z == 1 && block.y != 1 ? y : rest(y, block.y),
                     block.z == 1 ? number(0) : quotient(y, block.y)};
  Value blocks[3];
  for (unsigned dim = 0; dim < 3; ++dim)
    blocks[dim] = HAL::InterfaceWorkgroupIDOp::create(rewriter, loc, dim);
  gpu::KernelDim3 gridSize = launch.getGridSizeOperandValues(), blockSize = launch.getBlockSizeOperandValues();
  Value grid[] = {gridSize.x, gridSize.y, gridSize.z}, size[] = {blockSize.x, blockSize.y, blockSize.z};
  auto of = [](gpu::Dimension dim, ArrayRef<Value> values) { return values[static_cast<unsigned>(dim)]; };
  launch.getBody().walk([&](Operation *op) {
    Value value;
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
      value = of(id.getDimension(), threads);
    else if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      value = of(id.getDimension(), blocks);
    else if (auto dim = dyn_cast<gpu::BlockDimOp>(op))
      value = of(dim.getDimension(), size);
    else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
      value = of(dim.getDimension(), grid);
    else if (isa<gpu::LaneIdOp>(op))
      value = rest(thread, 32);
    else if (isa<gpu::SubgroupIdOp>(op))
      value = quotient(thread, 32);
    if (value)
      rewriter.replaceOp(op, value);
  });
  SmallVector<Value> arguments;
  for (ArrayRef<Value> values : {ArrayRef(blocks), ArrayRef(threads), ArrayRef(grid), ArrayRef(size)})
    llvm::append_range(arguments, values);
  Block &body = launch.getBody().front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, launch, arguments);
  rewriter.eraseOp(launch);
}

static std::optional<SpecFault> takeOneLaunch(RewriterBase &rewriter, func::FuncOp function, gpu::LaunchOp launch) {
  HAL::ExecutableExportOp exportOp = findExport(function);
  if (!exportOp || launch->getParentOp() != function || !launch.getBody().hasOneBlock())
    return faultAt(launch, "that is not at the top of a dispatch's function");
  if (!exportOp.getWorkgroupCount().empty())
    return faultAt(launch, "beside a workgroup count that is filled in: a launch has its own count "
                           "(leave out transform.iree.populate_workgroup_count_region_using_num_threads_slice)");
  if (launch.hasClusterSize() || launch.getDynamicSharedMemorySize() || launch.getAsyncToken() ||
      launch.getBody().getNumArguments() != gpu::LaunchOp::kNumConfigRegionAttributes)
    return faultAt(launch, "with clusters, a stream or memory of its own, which specs cannot have here");
  std::optional<Sizes> grid = constantSizes(launch.getGridSizeOperandValues()),
                       block = constantSizes(launch.getBlockSizeOperandValues());
  if (!grid || !block)
    return faultAt(launch, "whose sizes are not positive constants");
  if (block->total() > mostThreads)
    return faultAt(launch, llvm::formatv("with blocks of {0} threads: they can have {1} (block_dims of "
                                         "transform.gpu.map_nested_forall_to_threads)",
                                         block->total(), mostThreads)
                               .str());
  if (std::optional<SpecFault> fault = findWorkOutside(launch))
    return fault;

  rewriter.setInsertionPointToEnd(exportOp.createWorkgroupCountBlock());
  SmallVector<Value> counts;
  for (int64_t count : {grid->x, grid->y, grid->z})
    counts.push_back(arith::ConstantIndexOp::create(rewriter, launch.getLoc(), count));
  HAL::ReturnOp::create(rewriter, launch.getLoc(), counts);

  rewriter.setInsertionPoint(launch);
  Value thread = gpu::ThreadIdOp::create(rewriter, launch.getLoc(), rewriter.getIndexType(), gpu::Dimension::x);
  bool isMapped = block->total() > 1;
  replaceIds(rewriter, launch, *block, thread);
  if (!isMapped)
    return std::nullopt;
  function->setAttr(threadsAttr, rewriter.getI32IntegerAttr(block->total()));
  if (std::optional<SpecFault> fault = findOthersMemory(function))
    return fault;
  if (std::optional<SpecFault> fault = findUnmappedWrite(function, thread))
    return fault;
  lowerLinalg(rewriter, function);
  return std::nullopt;
}

std::optional<SpecFault> takeLaunch(RewriterBase &rewriter, func::FuncOp function) {
  OpBuilder::InsertionGuard guard(rewriter);
  if (std::optional<SpecFault> fault = placeSharedMemory(rewriter, function))
    return fault;
  SmallVector<gpu::LaunchOp> launches;
  function.walk([&](gpu::LaunchOp op) { launches.push_back(op); });
  if (launches.empty())
    return std::nullopt;
  if (launches.size() > 1)
    return faultAt(launches[1],
                   "beside another one: a dispatch is one kernel, so that its loops over blocks must be one "
                   "(transform.structured.fuse_into_containing_op)");
  return takeOneLaunch(rewriter, function, launches.front());
}

} // namespace kiln
