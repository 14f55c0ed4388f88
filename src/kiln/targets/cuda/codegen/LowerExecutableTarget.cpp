#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDALOWEREXECUTABLETARGET
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaLowerExecutableTargetPass : public impl::CudaLowerExecutableTargetBase<CudaLowerExecutableTargetPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    buildPipeline().getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (!pipeline)
      pipeline = buildPipeline();
    if (failed(runPipeline(*pipeline, getOperation())))
      return signalPassFailure();
    Util::gatherRemarks(getOperation());
  }

  static OpPassManager buildPipeline() {
    OpPassManager passes(HAL::ExecutableVariantOp::getOperationName());
    passes.nest<ModuleOp>().nest<func::FuncOp>().addPass(createPrepareDispatch());
    passes.addPass(createDistributeDispatch());
    OpPassManager &kernels = passes.nest<ModuleOp>().nest<func::FuncOp>();
    kernels.addPass(createCudaMapToThreads());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createLoopInvariantCodeMotionPass());
    return passes;
  }

  // Kept from one variant to the next, because its passes prepare their patterns once.
  std::optional<OpPassManager> pipeline;
};

} // namespace
} // namespace kiln
