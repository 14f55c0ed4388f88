#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

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
  if (!context.options.configurationSpec.empty())
    passes.nest<ExecutableOp>().nest<ExecutableVariantOp>().addPass(createConfigureBySpecPass(context));
  passes.nest<ExecutableOp>().nest<ExecutableVariantOp>().addPass(createConfigureExecutablePass(context));
  addDump(passes, dump.configurations, dump.files, "configured_");
}

void buildExecutableTargetsPhase(OpPassManager &passes, const CompilerContext &context) {
  buildConfigurationPipeline(passes, context);
  passes.nest<ExecutableOp>().nest<ExecutableVariantOp>().addPass(createTranslateExecutablePass(context));
}

template <typename Op> static void addHostPasses(OpPassManager &passes) {
  passes.addNestedPass<Op>(createCanonicalizerPass());
  passes.addNestedPass<Op>(createCSEPass());
}

void buildHALPhase(OpPassManager &passes, const CompilerContext &context) {
  passes.addPass(createLinkExecutablesPass(context));
  passes.addPass(createConvertToHALPass(context));
  // Of the host program alone; LLVM does it for executables.
  addHostPasses<Util::FuncOp>(passes);
  addHostPasses<Util::InitializerOp>(passes);
}

void registerHALPasses(const CompilerContext &context) {
  registerPass([&context] { return createMaterializeExecutablesPass(context); });
  registerPass([] { return createDumpExecutablesPass(); });
  registerPass([&context] { return createConfigureBySpecPass(context); });
  registerPass([&context] { return createConfigureExecutablePass(context); });
  registerPass([&context] { return createTranslateExecutablePass(context); });
  registerPass([&context] { return createLinkExecutablesPass(context); });
  registerPass([&context] { return createConvertToHALPass(context); });
  registerPass([&context] { return createSerializeExecutablesPass(context); });
}

} // namespace kiln::HAL
