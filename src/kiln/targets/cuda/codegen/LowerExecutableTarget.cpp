#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTransformOps.h"
#include "kiln/targets/cuda/codegen/SpecLaunch.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDALOWEREXECUTABLETARGET
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaLowerExecutableTargetPass : public impl::CudaLowerExecutableTargetBase<CudaLowerExecutableTargetPass> {
public:
  using CudaLowerExecutableTargetBase::CudaLowerExecutableTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    buildPipeline(/*withDistribution=*/true).getDependentDialects(registry);
    if (!spec.empty())
      registerCudaTransformExtension(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    if (spec.empty())
      return success();
    FailureOr<std::shared_ptr<const TransformSpec>> parsed = TransformSpec::load(context, spec);
    if (failed(parsed))
      return failure();
    loaded = std::move(*parsed);
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto finish = [&](func::FuncOp function) { return takeLaunch(rewriter, function); };
    if (loaded && failed(loaded->applyInsteadOfStrategy(getOperation(), finish)))
      return signalPassFailure();
    if (!pipeline)
      pipeline = buildPipeline(!loaded);
    if (failed(runPipeline(*pipeline, getOperation())))
      return signalPassFailure();
    Util::gatherRemarks(getOperation());
  }

private:
  static OpPassManager buildPipeline(bool withDistribution) {
    OpPassManager passes(HAL::ExecutableVariantOp::getOperationName());
    if (withDistribution) {
      passes.nest<ModuleOp>().nest<func::FuncOp>().addPass(createPrepareDispatch());
      passes.addPass(createCudaEmitContractions());
      passes.addPass(createDistributeDispatch());
    }
    OpPassManager &kernels = passes.nest<ModuleOp>().nest<func::FuncOp>();
    if (!withDistribution)
      kernels.addPass(createCudaLowerVectors());
    kernels.addPass(createCudaMapToThreads());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createLoopInvariantCodeMotionPass());
    return passes;
  }

  std::shared_ptr<const TransformSpec> loaded; // shared with the copies that run in other threads
  // Kept from one variant to the next, because its passes prepare their patterns once.
  std::optional<OpPassManager> pipeline;
};

} // namespace
} // namespace kiln
