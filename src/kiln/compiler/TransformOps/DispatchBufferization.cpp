#include "kiln/compiler/TransformOps/DispatchBufferization.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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

// Gives each use but the first a copy of what makes the value.
static void multiply(RewriterBase &rewriter, Operation *op) {
  if (op->use_empty())
    return;
  rewriter.setInsertionPointAfter(op);
  for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getResult(0).getUses())))
    rewriter.modifyOpInPlace(use.getOwner(), [&] { use.set(rewriter.clone(*op)->getResult(0)); });
}

// Gives each operation but the first that updates the value a copy of it.
static void copyForFurtherInits(RewriterBase &rewriter, Value value) {
  SmallVector<OpOperand *> inits;
  for (OpOperand &use : value.getUses())
    if (auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner()); op && op.isDpsInit(&use))
      inits.push_back(&use);
  for (OpOperand *init : llvm::drop_begin(inits, std::min<size_t>(1, inits.size()))) {
    rewriter.setInsertionPoint(init->getOwner());
    Location loc = init->getOwner()->getLoc();
    Value empty = tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, value),
                                          getElementTypeOrSelf(value));
    Value copy = linalg::CopyOp::create(rewriter, loc, value, empty).getResult(0);
    rewriter.modifyOpInPlace(init->getOwner(), [&] { init->set(copy); });
  }
}

// Upstream puts a store's memory in the place of the empty tensor that the stored value was computed in. The analysis
// does not see that the store writes this memory, so nothing else may be computed in it.
LogicalResult eliminateEmptyTensors(RewriterBase &rewriter, Operation *root) {
  SmallVector<Operation *> cheap, others, empties;
  root->walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics())
      (isa<linalg::FillOp, linalg::CopyOp>(op) ? cheap : others).push_back(op);
  });
  for (Operation *op : cheap)
    multiply(rewriter, op);
  for (Operation *op : others)
    for (Value result : op->getResults())
      copyForFurtherInits(rewriter, result);
  root->walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (Operation *empty : empties)
    multiply(rewriter, empty);
  return bufferization::eliminateEmptyTensors(rewriter, root);
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
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](BaseMemRefType type) -> std::optional<Type> {
    if (!isa_and_nonnull<HAL::DescriptorTypeAttr>(type.getMemorySpace()))
      return std::nullopt;
    if (auto ranked = dyn_cast<MemRefType>(type))
      return MemRefType::get(ranked.getShape(), ranked.getElementType(), ranked.getLayout());
    return UnrankedMemRefType::get(type.getElementType(), /*memorySpace=*/Attribute());
  });
  convertValueTypes(function, converter);
}

void optimizeBuffers(RewriterBase &rewriter, Operation *root) {
  vector::transferOpflowOpt(rewriter, root);
  eraseSelfCopies(rewriter, root);
  memref::eraseDeadAllocAndStores(rewriter, root);
}

} // namespace kiln
