#include "kiln/targets/cuda/codegen/CudaTarget.h"

#include "kiln/targets/cuda/codegen/CudaOptions.h"
#include "kiln/targets/cuda/codegen/NativeArchitecture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace kiln {

static constexpr StringLiteral kFallback = "fallback";

static constexpr StringRef architectures[] = {"sm_75",  "sm_80",  "sm_86",   "sm_87",  "sm_89",  "sm_90",
                                              "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a"};

static constexpr struct {
  StringRef product, architecture;
} products[] = {
    {"t4", "sm_75"},      {"rtx2080", "sm_75"}, {"a100", "sm_80"},     {"a30", "sm_80"},    {"a10", "sm_86"},
    {"a40", "sm_86"},     {"rtx3090", "sm_86"}, {"orin", "sm_87"},     {"l4", "sm_89"},     {"l40s", "sm_89"},
    {"rtx4090", "sm_89"}, {"h100", "sm_90a"},   {"h200", "sm_90a"},    {"gh200", "sm_90a"}, {"b200", "sm_100a"},
    {"b100", "sm_100a"},  {"gb200", "sm_100a"}, {"rtx5090", "sm_120"},
};

// The architecture that the value of a flag means; empty where it is none.
static std::string architectureOf(StringRef value) {
  std::string name = value.lower();
  for (const auto &known : products)
    if (known.product == name)
      name = known.architecture.str();
  return name == "native" || llvm::is_contained(architectures, name) ? name : "";
}

FailureOr<SmallVector<CudaTarget, 2>> CudaTarget::resolve(const CudaOptions &options, Location loc) {
  std::string name = architectureOf(options.architecture);
  bool isNative = name == "native";
  if (isNative) {
    llvm::Expected<std::string> native = findNativeArchitecture(architectures);
    if (!native)
      return emitError(loc) << "--kiln-hal-cuda-llvm-target-arch=native: " << llvm::toString(native.takeError())
                            << "; name an architecture, such as sm_80";
    name = *native;
  }
  if (name.empty())
    return emitError(loc) << "--kiln-hal-cuda-llvm-target-arch: '" << options.architecture
                          << "' is no GPU that this compiler generates code for; it knows "
                          << llvm::join(ArrayRef<StringRef>(architectures), ", ")
                          << ", products such as a100, l4, rtx4090 and h100, and native, which is this machine's";
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
  int number = 0;
  StringRef digits = StringRef(architecture).drop_front(strlen("sm_"));
  digits.consumeInteger(10, number);
  return number;
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
