#include "kiln/compiler/Interfaces/SoundPatterns.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToMLProgram/TosaToMLProgram.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERTOSAPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

// Upstream's own pipeline, without its validation, which asks for TOSA's profiles and levels, and with the lowerings
// that it leaves to others. Of other dialects nothing is rewritten: extents that are claimed are not checked yet.
static void buildPipeline(OpPassManager &passes) {
  passes.addPass(createConvertDynamicElementwisePass());
  passes.addPass(createTosaToSCFPass());
  passes.addPass(createTosaToMLProgram());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaOptionalDecompositionsPass());
  functions.addPass(createSoundCanonicalizerPass("tosa"));
  functions.addPass(tosa::createTosaInferShapesPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(createSoundCanonicalizerPass("tosa"));
  functions.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  functions.addPass(createTosaToArithPass({.includeApplyRescale = true, .use32Bit = false}));
  functions.addPass(createSoundCanonicalizerPass("tosa"));
}

// The first row, or column, once more before all others.
static Value repeatFirst(OpBuilder &builder, Location loc, Value image, int64_t dim) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, image);
  SmallVector<OpFoldResult> zeros(sizes.size(), builder.getIndexAttr(0)), ones(sizes.size(), builder.getIndexAttr(1));
  sizes[dim] = builder.getIndexAttr(1);
  Value first = tensor::ExtractSliceOp::create(builder, loc, image, zeros, sizes, ones);
  return tensor::ConcatOp::create(builder, loc, dim, ValueRange{first, image});
}

// Upstream's lowering of integers rounds places before the first row towards it (MLIR 22): they get one to lie in.
static void startInside(tosa::ResizeOp op) {
  SmallVector<int64_t> offsets, scales;
  if (!isa<IntegerType>(op.getInput().getType().getElementType()) ||
      !tosa::getConstShapeValues(op.getOffset().getDefiningOp(), offsets) ||
      !tosa::getConstShapeValues(op.getScale().getDefiningOp(), scales))
    return;
  OpBuilder builder(op);
  for (int64_t axis : {0, 1}) {
    if (offsets[axis] >= 0)
      continue;
    offsets[axis] += scales[2 * axis];
    op.getInputMutable().assign(repeatFirst(builder, op.getLoc(), op.getInput(), axis + 1));
  }
  auto type = cast<tosa::shapeType>(op.getOffset().getType());
  op.getOffsetMutable().assign(
      tosa::ConstShapeOp::create(builder, op.getLoc(), type, builder.getIndexTensorAttr(offsets)).getResult());
}

// Lowerings of Fourier transforms compute with the index dialect.
static void replaceIndexOp(Operation *op) {
  OpBuilder builder(op);
  auto replace = [&]<typename Op>(Op) {
    op->replaceAllUsesWith(Op::create(builder, op->getLoc(), op->getResultTypes(), op->getOperands()));
    op->erase();
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](index::AddOp) { replace(arith::AddIOp()); })
      .Case([&](index::SubOp) { replace(arith::SubIOp()); })
      .Case([&](index::MulOp) { replace(arith::MulIOp()); })
      .Case([&](index::DivUOp) { replace(arith::DivUIOp()); })
      .Case([&](index::RemUOp) { replace(arith::RemUIOp()); })
      .Case([&](index::CastUOp) { replace(arith::IndexCastUIOp()); })
      .Case([&](index::CastSOp) { replace(arith::IndexCastOp()); });
}

namespace {
class LowerTosaPass : public impl::LowerTosaPassBase<LowerTosaPass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    buildPipeline(pipeline);
    pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    bool hasTosa = getOperation()
                       .walk([](Operation *op) {
                         return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                                     : WalkResult::advance();
                       })
                       .wasInterrupted();
    if (!hasTosa)
      return;
    getOperation().walk([](tosa::ResizeOp op) { startInside(op); });
    OpPassManager pipeline(ModuleOp::getOperationName());
    buildPipeline(pipeline);
    if (failed(runPipeline(pipeline, getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> indexOps;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<index::IndexDialect>(op->getDialect()))
        indexOps.push_back(op);
    });
    llvm::for_each(indexOps, replaceIndexOp);
  }
};
} // namespace
} // namespace kiln
