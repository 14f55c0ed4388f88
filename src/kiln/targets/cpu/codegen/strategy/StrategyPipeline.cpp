// The strategy's part in CpuPasses.h: pipelines, dialects, registration.
#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/targets/cpu/codegen/CpuOptions.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {

static SelectLoweringOptions selectionOptions(const TuningOptions &tuning) {
  SelectLoweringOptions selection;
  selection.tuningDatabase = tuning.database;
  selection.tuningThreads = tuning.threads;
  selection.tuningKeys = tuning.keys;
  return selection;
}

void addCpuConfigurationPasses(OpPassManager &variantPasses, const TuningOptions &tuning) {
  variantPasses.addPass(createSelectLowering(selectionOptions(tuning)));
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

void registerCpuStrategyPasses(const CpuOptions &options, const TuningOptions &tuning) {
  registerPass([&tuning] { return createSelectLowering(selectionOptions(tuning)); });
  registerPass([&options] { return createLowerExecutableTarget(loweringOptions(options)); });
  registerPass([] { return createEmitKernels(); });
}

} // namespace kiln
