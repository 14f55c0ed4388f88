#include "kiln/targets/cuda/codegen/CudaBackend.h"

#include "kiln/compiler/Codegen/TuningLookup.h"
#include "kiln/compiler/Interfaces/OptionBinder.h"
#include "kiln/compiler/TransformOps/TransformSpec.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"
#include "kiln/targets/cuda/codegen/Serialization.h"

using namespace mlir;

namespace kiln {

ArrayRef<StringRef> CudaBackend::devices() const {
  static constexpr StringRef names[] = {"cuda"};
  return names;
}

void CudaBackend::bindOptions(OptionBinder &binder) {
  binder.group("cuda target");
  StringRef description =
      "GPU to generate code for: sm_75 to sm_120, a product such as a100, l4, rtx4090 or h100, or native, "
      "the first GPU of this machine. "
      "Code for sm_80 runs on all newer ones; code for sm_90a runs on H100 and H200 alone, and a module has that of "
      "--kiln-cuda-fallback-arch beside it";
  binder.flag("kiln-hal-cuda-llvm-target-arch", &options.architecture, "<architecture>", description);
  binder.flag("kiln-cuda-target", &options.architecture, "<architecture>",
              "The same as --kiln-hal-cuda-llvm-target-arch");
  binder.flag(
      "kiln-cuda-fallback-arch", &options.fallbackArchitecture, "<architecture>",
      "What a module for sm_90a, sm_100a or sm_120a, named as such or by a product, holds for other GPUs; none: "
      "nothing. native and a transform-dialect file go without");
  binder.flag("kiln-cuda-ptxas", &options.ptxas, "<program>",
              "NVIDIA's assembler, a file or a name in PATH, such as ptxas: the module holds machine code beside the "
              "PTX, which "
              "takes no time to load where the architecture is that of the GPU, and --kiln-remarks tells what the "
              "assembler says of spilled registers and lost speed");
  binder.flag("kiln-cuda-debug-symbols", &options.debugSymbols,
              "Name the lines of the MLIR source in kernels, as -lineinfo does for CUDA's own compiler, so that "
              "profilers, compute-sanitizer and the simulator lead back to them. The instructions stay the same; the "
              "module becomes a little larger, and holds the path of the source");
  binder.flag("kiln-codegen-llvmgpu-use-transform-dialect", &options.transformDialectSpec, "<file>",
              "A transform-dialect file that replaces the strategies");
  binder.flag("kiln-codegen-llvmgpu-enable-transform-dialect-jit", &options.transformDialectStrategies,
              "Has no effect: no strategy of this compiler is a transform-dialect program");
}

void CudaBackend::registerDialects(DialectRegistry &registry) const {
  registerCudaDialects(registry);
}

void CudaBackend::registerPasses() const {
  registerCudaPasses(tuning());
}

FailureOr<SmallVector<HAL::ExecutableTargetAttr>> CudaBackend::getTargets(MLIRContext *context, Location loc) const {
  if (options.transformDialectStrategies)
    emitWarning(loc)
        << "--kiln-codegen-llvmgpu-enable-transform-dialect-jit has no effect: no strategy of this compiler "
           "is a transform-dialect program";
  FailureOr<SmallVector<CudaTarget, 2>> targets = CudaTarget::resolve(options, loc);
  if (failed(targets) || failed(checkTuning(tuning(), targets->front().tuningName(), loc)))
    return failure();
  return llvm::map_to_vector(*targets, [&](const CudaTarget &target) { return target.toAttr(context); });
}

LogicalResult CudaBackend::checkFiles(MLIRContext *context) const {
  return success(options.transformDialectSpec.empty() ||
                 succeeded(TransformSpec::load(context, options.transformDialectSpec)));
}

void CudaBackend::buildConfigurationPipeline(OpPassManager &variantPasses) const {
  variantPasses.addPass(createCudaSelectLowering(cudaSelectionOptions(tuning())));
}

void CudaBackend::buildLoweringPipeline(OpPassManager &variantPasses) const {
  CudaLowerExecutableTargetOptions lowering;
  lowering.spec = options.transformDialectSpec;
  variantPasses.addPass(createCudaLowerExecutableTarget(lowering));
}

void CudaBackend::buildTranslationPipeline(OpPassManager &variantPasses) const {
  addCudaTranslationPasses(variantPasses);
}

// Several blocks for each multiprocessor of a large device, which has 132 of them, with 64 kB each. A block has 32
// columns.
DispatchLimits CudaBackend::dispatchLimits(Location) const {
  DispatchLimits limits;
  limits.split.fewResults = 100;
  limits.split.mostParts = 512;
  limits.split.shortestPart = int64_t(1) << 14;
  limits.split.neighbours = 32;
  limits.channelsLast = true;
  limits.mostWindowBytes = int64_t(1) << 30;
  return limits;
}

LogicalResult CudaBackend::serialize(HAL::ExecutableVariantOp variant, const SerializationOptions &serialization,
                                     SmallVectorImpl<char> &bytes) const {
  return serializeCudaVariant(variant, serialization, options, bytes);
}

void registerCudaBackend(TargetBackendRegistry &registry) {
  registry.add(std::make_unique<CudaBackend>());
}

} // namespace kiln
