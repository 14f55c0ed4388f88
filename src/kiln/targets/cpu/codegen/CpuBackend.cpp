#include "kiln/targets/cpu/codegen/CpuBackend.h"

#include "kiln/compiler/Codegen/TuningLookup.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"
#include "kiln/targets/cpu/codegen/Serialization.h"

using namespace mlir;

namespace kiln {

StringRef CpuBackend::description() const {
  return "x86-64 and AArch64 CPUs, through LLVM";
}

ArrayRef<StringRef> CpuBackend::devices() const {
  static constexpr StringRef names[] = {"local", "local-sync", "local-task"};
  return names;
}

void CpuBackend::bindOptions(OptionBinder &binder) {
  binder.group("llvm-cpu target");
  binder.flag("kiln-llvmcpu-target-triple", &options.targetTriple, "<triple>",
              "What to generate code for, x86_64-linux or aarch64-linux; this machine's architecture if not given");
  binder.flag("kiln-llvmcpu-target-cpu", &options.targetCpu, "<name>",
              "CPU to generate code for: host (the CPU of this machine, with what it really has), generic (any CPU of "
              "the architecture), or a name that LLVM knows, such as znver4");
  binder.flag("kiln-llvmcpu-target-cpu-features", &options.targetFeatures, "<list>",
              "CPU features to use (+avx512f) or not to use (-fma) beyond those of the CPU, separated by commas");
  binder.flag("kiln-llvmcpu-reassociate-fp-reductions", &options.reassociate,
              "Sum and multiply floats in parts; with =false one after the other, as the program's loops have them");
  binder.flag("kiln-llvmcpu-debug-symbols", &options.debugInfo,
              "Put line tables into kernels, so that debuggers and profilers lead back to lines of the MLIR source");
  binder.flag("kiln-codegen-llvmcpu-use-transform-dialect", &options.transformDialectSpec, "<file>",
              "Transform-dialect file that tiles, vectorizes and bufferizes the dispatches instead of the built-in "
              "strategies");
}

void CpuBackend::registerDialects(DialectRegistry &registry) const {
  registerCpuTranslationDialects(registry);
  registerCpuStrategyDialects(registry);
}

void CpuBackend::registerPasses() const {
  registerCpuTranslationPasses();
  registerCpuStrategyPasses(options, tuning());
}

FailureOr<SmallVector<HAL::ExecutableTargetAttr>> CpuBackend::getTargets(MLIRContext *context, Location loc) const {
  FailureOr<CpuTarget> target = CpuTarget::resolve(options, loc);
  // A database that cannot be read is told here once; the passes that read it run for each executable.
  if (failed(target) || failed(checkTuning(tuning(), target->tuningName(), loc)))
    return failure();
  return SmallVector<HAL::ExecutableTargetAttr>{target->toAttr(context)};
}

LogicalResult CpuBackend::checkFiles(MLIRContext *context) const {
  return success(options.transformDialectSpec.empty() ||
                 succeeded(TransformSpec::load(context, options.transformDialectSpec)));
}

void CpuBackend::buildConfigurationPipeline(OpPassManager &variantPasses) const {
  addCpuConfigurationPasses(variantPasses, tuning());
}

void CpuBackend::buildLoweringPipeline(OpPassManager &variantPasses) const {
  addCpuLoweringPasses(variantPasses, options);
}

void CpuBackend::buildTranslationPipeline(OpPassManager &variantPasses) const {
  addCpuTranslationPasses(variantPasses);
}

// Rows in registers, for each of which an element of the other input is loaded and converted once.
DispatchLimits CpuBackend::dispatchLimits(Location loc) const {
  DispatchLimits limits;
  // As wide as the register tile of products, of two vectors. That there is no such CPU is told when code is generated.
  ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &) { return success(); });
  if (FailureOr<CpuTarget> target = CpuTarget::resolve(options, loc); succeeded(target))
    limits.panelBytes = 2 * target->nativeVectorBits / 8;
  limits.channelsLast = limits.laysOutPadding = true;
  // So that a core's own cache has the 16 rows or so that a product wants.
  limits.keptRowBytes = int64_t(1) << 17;
  limits.reassociates = options.reassociate;
  limits.mostUses = 16;
  if (!options.reassociate)
    limits.split.mostParts = 1;
  return limits;
}

LogicalResult CpuBackend::serialize(HAL::ExecutableVariantOp variant, const SerializationOptions &serialization,
                                    SmallVectorImpl<char> &bytes) const {
  return serializeCpuVariant(variant, serialization, options.debugInfo, bytes);
}

void registerCpuBackend(TargetBackendRegistry &registry) {
  registry.add(std::make_unique<CpuBackend>());
}

} // namespace kiln
