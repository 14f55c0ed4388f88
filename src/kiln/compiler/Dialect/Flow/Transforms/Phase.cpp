#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/SoundPatterns.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln::Flow {

void buildFlowPhase(OpPassManager &passes, const CompilerContext &context) {
  passes.addPass(createLowerNarrowTypesPass());
  passes.addPass(createCarryExtentsPass());
  passes.addPass(createNormalizeOpsPass());
  passes.addPass(createChannelsLastPass(context));
  passes.addPass(createWinogradPass(context));
  passes.addPass(createGatherWindowsPass(context));
  passes.addPass(createCSEPass());
  passes.addPass(createJoinProductsPass(context));
  passes.addPass(createSplitColumnsPass(context));
  passes.addPass(createSplitBatchesPass(context));
  passes.addPass(createHoistReductionsPass());
  passes.addPass(createMarkSoftmaxPass());
  passes.addPass(createFuseElementwisePass(context));
  passes.addPass(createCSEPass());
  passes.addPass(createSplitReductionsPass(context));
  passes.addPass(createCSEPass());
  passes.addPass(createMergeReductionsPass(context));
  passes.addPass(createFormDispatchesPass(context));
  passes.addPass(createConvertTensorOpsPass());
  passes.addPass(createOutlineDispatchesPass());
  passes.nest<Util::FuncOp>().addPass(createLowerAffinePass());
  passes.addPass(createSoundCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createPackConstantsPass(context));
  passes.addPass(createHoistConstantsPass(context));
  passes.addPass(createDumpDispatchBenchmarksPass(context));
}

void registerFlowPasses(const CompilerContext &context) {
  registerPass([] { return createLowerNarrowTypesPass(); });
  registerPass([] { return createCarryExtentsPass(); });
  registerPass([] { return createNormalizeOpsPass(); });
  registerPass([&context] { return createChannelsLastPass(context); });
  registerPass([&context] { return createGatherWindowsPass(context); });
  registerPass([&context] { return createJoinProductsPass(context); });
  registerPass([&context] { return createSplitBatchesPass(context); });
  registerPass([&context] { return createWinogradPass(context); });
  registerPass([&context] { return createSplitColumnsPass(context); });
  registerPass([&context] { return createFuseElementwisePass(context); });
  registerPass([&context] { return createSplitReductionsPass(context); });
  registerPass([&context] { return createMergeReductionsPass(context); });
  registerPass([&context] { return createFormDispatchesPass(context); });
  registerPass([] { return createConvertTensorOpsPass(); });
  registerPass([] { return createOutlineDispatchesPass(); });
  registerPass([] { return createHoistReductionsPass(); });
  registerPass([] { return createMarkSoftmaxPass(); });
  registerPass([&context] { return createPackConstantsPass(context); });
  registerPass([&context] { return createHoistConstantsPass(context); });
  registerPass([&context] { return createDumpDispatchBenchmarksPass(context); });
}

} // namespace kiln::Flow
