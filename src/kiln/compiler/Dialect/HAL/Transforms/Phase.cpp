#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln::HAL {

static void addDump(OpPassManager &passes, StringRef path, StringRef all, StringRef prefix) {
  DumpExecutablesPassOptions options;
  options.path = (path.empty() ? all : path).str();
  options.prefix = prefix.str();
  if (!options.path.empty())
    passes.addPass(createDumpExecutablesPass(options));
}

void buildExecutableSourcesPhase(OpPassManager &passes, const CompilerContext &context) {
  const DumpOptions &dump = context.options.dump;
  passes.addPass(createMaterializeExecutablesPass(context));
  addDump(passes, dump.sources, dump.files, "");
}

void buildConfigurationPipeline(OpPassManager &passes, const CompilerContext &context) {
  const DumpOptions &dump = context.options.dump;
  passes.nest<ExecutableOp>().nest<ExecutableVariantOp>().addPass(createConfigureExecutablePass(context));
  addDump(passes, dump.configurations, dump.files, "configured_");
}

void buildExecutableTargetsPhase(OpPassManager &passes, const CompilerContext &context) {
  buildConfigurationPipeline(passes, context);
  passes.nest<ExecutableOp>().nest<ExecutableVariantOp>().addPass(createTranslateExecutablePass(context));
}

void buildHALPhase(OpPassManager &passes, const CompilerContext &context) {
  passes.addPass(createLinkExecutablesPass(context));
  passes.addPass(createConvertToHALPass(context));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

void registerHALPasses(const CompilerContext &context) {
  registerPass([&context] { return createMaterializeExecutablesPass(context); });
  registerPass([] { return createDumpExecutablesPass(); });
  registerPass([&context] { return createConfigureExecutablePass(context); });
  registerPass([&context] { return createTranslateExecutablePass(context); });
  registerPass([&context] { return createLinkExecutablesPass(context); });
  registerPass([&context] { return createConvertToHALPass(context); });
  registerPass([&context] { return createSerializeExecutablesPass(context); });
}

} // namespace kiln::HAL
