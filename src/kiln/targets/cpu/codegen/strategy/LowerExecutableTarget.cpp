#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/TransformOps/DispatchBufferization.h"
#include "kiln/compiler/TransformOps/KilnTransformOps.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"
#include "kiln/targets/cpu/codegen/strategy/Strategy.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_LOWEREXECUTABLETARGET
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h.inc"

namespace {
class LowerExecutableTargetPass : public impl::LowerExecutableTargetBase<LowerExecutableTargetPass> {
public:
  using LowerExecutableTargetBase::LowerExecutableTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect, gpu::GPUDialect,
                    HAL::HALDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                    tensor::TensorDialect, Util::UtilDialect, vector::VectorDialect>();
    if (!spec.empty())
      registerTransformExtension(registry);
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
    if (failed(loaded ? loaded->applyInsteadOfStrategy(getOperation()) : verifyLowerings()))
      return signalPassFailure();
    if (loaded && !leavesKernels())
      return;
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
      passes.addPass(createDistributeDispatch());
    }
    OpPassManager &kernels = passes.nest<ModuleOp>().nest<func::FuncOp>();
    kernels.addPass(createEmitKernels());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createLoopInvariantCodeMotionPass());
    return passes;
  }

  // Whether a spec has left operations on memory that are not loops yet, or memory of i1.
  bool leavesKernels() {
    WalkResult result = getOperation().walk([](Operation *op) {
      bool isKernel = isa<linalg::LinalgOp, memref::CopyOp>(op) || llvm::any_of(op->getResultTypes(), [](Type type) {
                        auto memory = dyn_cast<MemRefType>(type);
                        return memory && memory.getElementType().isInteger(1);
                      });
      return isKernel ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  LogicalResult verifyLowerings() {
    WalkResult result = getOperation().walk([](func::FuncOp function) {
      auto lowering = function->getAttrOfType<HAL::LoweringAttr>("lowering");
      return lowering ? WalkResult(verifyLowering(function, lowering)) : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  std::shared_ptr<const TransformSpec> loaded; // shared with the copies that run in other threads
  // Kept from one variant to the next, because its passes prepare their patterns once.
  std::optional<OpPassManager> pipeline;
};
} // namespace
} // namespace kiln
