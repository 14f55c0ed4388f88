#include "kiln/compiler/TransformOps/DispatchBufferization.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace kiln {

static OneShotBufferizationOptions bufferizationOptions() {
  OneShotBufferizationOptions options;
  options.allocationFn = [](OpBuilder &builder, Location loc, MemRefType type, ValueRange sizes, unsigned alignment) {
    return FailureOr<Value>(
        memref::AllocOp::create(builder, loc, type, sizes, builder.getI64IntegerAttr(alignment)).getResult());
  };
  options.memCpyFn = [](OpBuilder &builder, Location loc, Value from, Value to) {
    memref::CopyOp::create(builder, loc, from, to);
    return success();
  };
  options.unknownTypeConverterFn = [](TensorType type, Attribute space, const BufferizationOptions &) {
    return getMemRefTypeWithStaticIdentityLayout(type, space);
  };
  return options;
}

// What is computed in place ends in a copy of a buffer onto itself. Both sides are the same value, once equal subviews
// are one.
static void eraseSelfCopies(RewriterBase &rewriter, Operation *function) {
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, function);
  function->walk([&](memref::CopyOp copy) {
    if (copy.getSource() == copy.getTarget())
      rewriter.eraseOp(copy);
  });
  // Views that only such copies used.
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != function && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}

LogicalResult bufferizeDispatch(RewriterBase &rewriter, Operation *root) {
  SmallVector<FunctionOpInterface> functions;
  if (auto function = dyn_cast<FunctionOpInterface>(root))
    functions.push_back(function);
  else
    root->walk([&](FunctionOpInterface function) { functions.push_back(function); });

  OneShotBufferizationOptions options = bufferizationOptions();
  for (FunctionOpInterface function : functions) {
    BufferizationState state;
    if (function.isExternal())
      continue;
    if (failed(runOneShotBufferize(function, options, state)))
      return failure();
    eraseSelfCopies(rewriter, function);
  }
  return success();
}

void eraseHALDescriptorTypes(FunctionOpInterface function) {
  auto convert = [](Value value) {
    auto type = dyn_cast<BaseMemRefType>(value.getType());
    if (!type || !isa_and_nonnull<HAL::DescriptorTypeAttr>(type.getMemorySpace()))
      return;
    if (auto ranked = dyn_cast<MemRefType>(type))
      value.setType(MemRefType::get(ranked.getShape(), ranked.getElementType(), ranked.getLayout()));
    else
      value.setType(UnrankedMemRefType::get(type.getElementType(), /*memorySpace=*/Attribute()));
  };
  function->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), convert);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), convert);
  });
}

void optimizeBuffers(RewriterBase &rewriter, Operation *root) {
  vector::transferOpflowOpt(rewriter, root);
  eraseSelfCopies(rewriter, root);
  memref::eraseDeadAllocAndStores(rewriter, root);
}

} // namespace kiln
