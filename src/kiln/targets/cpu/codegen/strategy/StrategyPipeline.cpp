// The strategy's part in CpuPasses.h: pipelines, dialects, registration.
#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/targets/cpu/codegen/CpuOptions.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {

static SelectLoweringOptions selectionOptions(const CpuOptions &options) {
  SelectLoweringOptions selection;
  selection.tuningDatabase = options.tuningDatabase;
  selection.tuningThreads = options.tuningThreads;
  selection.tuningKeys = options.tuningKeys;
  return selection;
}

void addCpuConfigurationPasses(OpPassManager &variantPasses, const CpuOptions &options) {
  variantPasses.addPass(createSelectLowering(selectionOptions(options)));
}

static LowerExecutableTargetOptions loweringOptions(const CpuOptions &options) {
  LowerExecutableTargetOptions lowering;
  lowering.spec = options.transformDialectSpec;
  return lowering;
}

void addCpuLoweringPasses(OpPassManager &variantPasses, const CpuOptions &options) {
  variantPasses.addPass(createLowerExecutableTarget(loweringOptions(options)));
}

void registerCpuStrategyDialects(DialectRegistry &registry) {
  registerCodegenDialects(registry);
}

void registerCpuStrategyPasses(const CpuOptions &options) {
  registerPass([&options] { return createSelectLowering(selectionOptions(options)); });
  registerPass([&options] { return createLowerExecutableTarget(loweringOptions(options)); });
  registerPass([] { return createEmitKernels(); });
}

} // namespace kiln
