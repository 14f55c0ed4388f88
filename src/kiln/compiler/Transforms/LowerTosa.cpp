#include "kiln/compiler/Interfaces/SoundPatterns.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToMLProgram/TosaToMLProgram.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERTOSAPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

// Upstream's own pipeline, without its validation, which asks for TOSA's profiles and levels, and with the lowerings
// that it leaves to others.
static void buildPipeline(OpPassManager &passes) {
  passes.addPass(createTosaToSCFPass());
  passes.addPass(createTosaToMLProgram());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(tosa::createTosaOptionalDecompositionsPass());
  functions.addPass(createSoundCanonicalizerPass());
  functions.addPass(tosa::createTosaInferShapesPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalgNamed());
  functions.addPass(createSoundCanonicalizerPass());
  functions.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  functions.addPass(tosa::createTosaMakeBroadcastablePass());
  functions.addPass(tosa::createTosaToLinalg());
  functions.addPass(createTosaToTensorPass());
  functions.addPass(createTosaToArithPass({.includeApplyRescale = true, .use32Bit = false}));
  functions.addPass(createSoundCanonicalizerPass());
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
    OpPassManager pipeline(ModuleOp::getOperationName());
    buildPipeline(pipeline);
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace kiln
