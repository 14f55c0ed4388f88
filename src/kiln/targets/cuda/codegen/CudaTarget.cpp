#include "kiln/targets/cuda/codegen/CudaTarget.h"

#include "kiln/targets/cuda/architectures.h"
#include "kiln/targets/cuda/codegen/CudaOptions.h"
#include "kiln/targets/cuda/codegen/NativeArchitecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

static constexpr StringLiteral kFallback = "fallback";

// The architecture that the value of a flag means; empty where it is none.
static std::string architectureOf(StringRef value) {
  return value.equals_insensitive("native") ? "native" : cudaArchitectureOf(value);
}

FailureOr<SmallVector<CudaTarget, 2>> CudaTarget::resolve(const CudaOptions &options, Location loc) {
  const SmallVector<StringRef> known(std::begin(kCudaArchitectures), std::end(kCudaArchitectures));
  std::string name = architectureOf(options.architecture);
  bool isNative = name == "native";
  if (isNative) {
    llvm::Expected<std::string> native = findNativeArchitecture(known);
    if (!native)
      return emitError(loc) << "--kiln-hal-cuda-llvm-target-arch=native: " << llvm::toString(native.takeError())
                            << "; name an architecture, such as sm_80";
    name = *native;
  }
  if (name.empty())
    return emitError(loc) << "--kiln-hal-cuda-llvm-target-arch: '" << options.architecture
                          << "' is no GPU that this compiler generates code for; it knows " << llvm::join(known, ", ")
                          << ", the products " << cudaProductNames() << ", and native, which is this machine's";
  SmallVector<CudaTarget, 2> targets(1);
  targets[0].architecture = name;
  if (targets[0].runsElsewhere() || isNative || !options.transformDialectSpec.empty() ||
      options.fallbackArchitecture == "none")
    return targets;
  CudaTarget &fallback = targets.emplace_back();
  fallback.architecture = architectureOf(options.fallbackArchitecture);
  fallback.isFallback = true;
  if (fallback.architecture.empty() || !fallback.runsElsewhere())
    return emitError(loc) << "--kiln-cuda-fallback-arch: '" << options.fallbackArchitecture
                          << "' is none whose code runs on newer GPUs too, such as sm_75, sm_80 or sm_90; none leaves "
                             "the code for "
                          << name << " alone";
  return targets;
}

int CudaTarget::generation() const {
  return cudaGenerationOf(architecture);
}

int64_t CudaTarget::sharedLimit() const {
  switch (generation()) {
  case 75: return 64 * 1024;
  case 80:
  case 87: return 163 * 1024;
  case 90:
  case 100: return 227 * 1024;
  default: return 99 * 1024;
  }
}

int64_t CudaTarget::multiprocessors() const {
  switch (generation()) {
  case 75: return 40;
  case 80: return 108;
  case 90: return 132;
  case 100: return 148;
  default: return 84;
  }
}

CudaTarget CudaTarget::of(Operation *op) {
  auto variant = dyn_cast<HAL::ExecutableVariantOp>(op);
  if (!variant)
    variant = op->getParentOfType<HAL::ExecutableVariantOp>();
  CudaTarget target;
  if (variant) {
    target.architecture = variant.getTarget().getString("cpu").str();
    target.isFallback = variant.getTarget().getConfiguration().contains(kFallback);
  }
  if (target.architecture.empty())
    target.architecture = CudaOptions().architecture;
  return target;
}

HAL::ExecutableTargetAttr CudaTarget::toAttr(MLIRContext *context) const {
  Builder builder(context);
  NamedAttrList entries;
  entries.set("cpu", builder.getStringAttr(architecture));
  if (isFallback)
    entries.set(kFallback, builder.getUnitAttr());
  return HAL::ExecutableTargetAttr::get(context, builder.getStringAttr("cuda"), builder.getStringAttr("ptx"),
                                        entries.getDictionary(context));
}

std::string CudaTarget::dataLayout() {
  return llvm::Triple(triple).computeDataLayout();
}

} // namespace kiln
