#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "kiln/targets/cpu/codegen/CpuOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <set>

using namespace mlir;
using llvm::StringMap;
using llvm::StringRef;

namespace kiln {

// Per architecture: the baseline that every machine has, and the features that LLVM may turn a kernel into.
static constexpr StringRef x86Features[] = {
    "amx-bf16",   "amx-fp16",     "amx-int8",     "amx-tile",     "avx",         "avx10.1",    "avx10.2",
    "avx2",       "avx512bf16",   "avx512bitalg", "avx512bw",     "avx512cd",    "avx512dq",   "avx512f",
    "avx512fp16", "avx512ifma",   "avx512vbmi",   "avx512vbmi2",  "avx512vl",    "avx512vnni", "avx512vpopcntdq",
    "avxifma",    "avxneconvert", "avxvnni",      "avxvnniint16", "avxvnniint8", "bmi",        "bmi2",
    "f16c",       "fma",          "gfni",         "lzcnt",        "movbe",       "popcnt",     "sse3",
    "sse4.1",     "sse4.2",       "sse4a",        "ssse3",
};
static constexpr StringRef aarch64Features[] = {"bf16", "dotprod", "fp16fml", "fullfp16", "i8mm", "lse", "rdm"};

static ArrayRef<StringRef> usableFeatures(const llvm::Triple &triple) {
  return triple.isX86() ? ArrayRef<StringRef>(x86Features) : ArrayRef<StringRef>(aarch64Features);
}

// " Did you mean 'a', 'b' or 'c'?", or nothing where no name is near.
static std::string nearNames(StringRef given, ArrayRef<StringRef> names) {
  std::multimap<unsigned, StringRef> byDistance;
  unsigned limit = std::max<size_t>(2, given.size() / 3);
  for (StringRef name : names) {
    unsigned distance = given.edit_distance_insensitive(name, /*AllowReplacements=*/true, limit);
    if (distance <= limit)
      byDistance.emplace(distance, name);
    else if (given.size() >= 3 && (name.contains_insensitive(given) || given.contains_insensitive(name)))
      byDistance.emplace(limit + 1, name);
  }
  std::string text;
  size_t count = std::min<size_t>(byDistance.size(), 4), i = 0;
  for (auto [distance, name] : byDistance) {
    if (i == count)
      break;
    text += (i == 0 ? " Did you mean '" : i + 1 == count ? " or '" : ", '") + name.str() + "'";
    ++i;
  }
  return text.empty() ? text : text + "?";
}

//===--- Resolving ------------------------------------------------------------------------------------------------===//

static LogicalResult addFeaturesOfCpu(const llvm::Triple &triple, StringRef cpu, StringMap<bool> &features,
                                      Location loc) {
  SmallVector<StringRef> known{"host", "generic"};
  if (triple.isX86()) {
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) != llvm::X86::CK_None) {
      SmallVector<StringRef> enabled;
      llvm::X86::getFeaturesForCPU(cpu, enabled);
      for (StringRef feature : enabled)
        features[feature] = true;
      return success();
    }
  } else {
    llvm::AArch64::fillValidCPUArchList(known);
    if (std::optional<llvm::AArch64::CpuInfo> info = llvm::AArch64::parseCpu(cpu)) {
      std::vector<StringRef> enabled;
      llvm::AArch64::getExtensionFeatures(info->getImpliedExtensions(), enabled);
      for (StringRef feature : enabled)
        if (feature.consume_front("+"))
          features[feature] = true;
      return success();
    }
  }
  return emitError(loc) << "--kiln-llvmcpu-target-cpu: '" << cpu << "' is no " << triple.getArchName()
                        << " CPU that this compiler knows." << nearNames(cpu, known);
}

static LogicalResult applyFeatureOption(const llvm::Triple &triple, StringRef option, StringMap<bool> &features,
                                        Location loc) {
  SmallVector<StringRef> entries;
  option.split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    StringRef name = entry.trim();
    bool enable = name.consume_front("+");
    if (!enable && !name.consume_front("-"))
      return emitError(loc) << "--kiln-llvmcpu-target-cpu-features: '" << name
                            << "' must start with + (use it) or - (do not use it)";
    if (!llvm::is_contained(usableFeatures(triple), name))
      return emitError(loc) << "--kiln-llvmcpu-target-cpu-features: '" << name << "' is no feature of "
                            << triple.getArchName() << " that code generation uses."
                            << nearNames(name, usableFeatures(triple));
    if (triple.isX86())
      llvm::X86::updateImpliedFeatures(name, enable, features);
    features[name] = enable;
  }
  return success();
}

FailureOr<CpuTarget> CpuTarget::resolve(const CpuOptions &options, Location loc) {
  llvm::Triple host(llvm::sys::getProcessTriple());
  llvm::Triple triple = host;
  if (!options.targetTriple.empty()) {
    triple = llvm::Triple(llvm::Triple::normalize(options.targetTriple));
    if (triple.getOS() == llvm::Triple::UnknownOS)
      triple.setOS(llvm::Triple::Linux);
  }
  if (triple.getArch() != llvm::Triple::x86_64 && triple.getArch() != llvm::Triple::aarch64)
    return emitError(loc)
           << "--kiln-llvmcpu-target-triple: this compiler generates code for x86_64 and aarch64, not for '"
           << (options.targetTriple.empty() ? triple.str() : options.targetTriple) << "'";
  if (!triple.isOSLinux())
    return emitError(loc) << "--kiln-llvmcpu-target-triple: '" << options.targetTriple
                          << "' is no Linux target; kernels are Linux shared objects";
  // Nothing in a kernel depends on the distribution that the triple of this process may name.
  triple.setVendor(llvm::Triple::UnknownVendor);
  triple.setEnvironment(llvm::Triple::GNU);

  CpuTarget target;
  target.triple = triple.str();
  target.dataLayout = triple.computeDataLayout();
  StringMap<bool> features;
  if (options.targetCpu == "host") {
    if (triple.getArch() != host.getArch())
      return emitError(loc) << "--kiln-llvmcpu-target-cpu=host: this machine is " << host.getArchName()
                            << ", but the target is " << triple.getArchName() << "; name a CPU, or use generic";
    target.cpu = llvm::sys::getHostCPUName().str();
    features = llvm::sys::getHostCPUFeatures();
  } else if (options.targetCpu == "generic") {
    target.cpu = "generic";
  } else {
    target.cpu = options.targetCpu;
    if (failed(addFeaturesOfCpu(triple, target.cpu, features, loc)))
      return failure();
  }
  if (failed(applyFeatureOption(triple, options.targetFeatures, features, loc)))
    return failure();

  for (StringRef feature : usableFeatures(triple))
    if (features.lookup(feature))
      target.features += (target.features.empty() ? "+" : ",+") + feature.str();
  target.nativeVectorBits = target.has("avx512f") ? 512 : target.has("avx") ? 256 : 128;
  target.reassociates = options.reassociate;
  return target;
}

//===--- Queries --------------------------------------------------------------------------------------------------===//

bool CpuTarget::has(StringRef feature) const {
  StringRef rest = features;
  while (!rest.empty()) {
    auto [entry, tail] = rest.split(',');
    if (entry.consume_front("+") && entry == feature)
      return true;
    rest = tail;
  }
  return false;
}

StringRef CpuTarget::baselineCpu() const {
  return llvm::Triple(triple).isX86() ? "x86-64" : "generic";
}

std::string CpuTarget::format() const {
  return "elf-" + llvm::Triple(triple).getArchName().str();
}

HAL::ExecutableTargetAttr CpuTarget::toAttr(MLIRContext *context) const {
  Builder builder(context);
  auto entry = [&](StringRef key, StringRef value) { return builder.getNamedAttr(key, builder.getStringAttr(value)); };
  SmallVector<NamedAttribute> entries{
      entry("cpu", cpu), entry("cpu_features", features), entry("data_layout", dataLayout),
      builder.getNamedAttr("native_vector_bits", builder.getI64IntegerAttr(nativeVectorBits)),
      entry("target_triple", triple)};
  if (!reassociates)
    entries.push_back(builder.getNamedAttr("sums_in_order", builder.getUnitAttr()));
  return HAL::ExecutableTargetAttr::get(context, builder.getStringAttr("llvm-cpu"), builder.getStringAttr(format()),
                                        builder.getDictionaryAttr(entries));
}

CpuTarget CpuTarget::fromAttr(HAL::ExecutableTargetAttr attr) {
  CpuTarget target;
  target.triple = attr.getString("target_triple").str();
  if (target.triple.empty()) // A target that was written by hand.
    target.triple =
        attr.getFormat().getValue().ends_with("aarch64") ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
  target.cpu = attr.getString("cpu").str();
  if (target.cpu.empty())
    target.cpu = "generic";
  target.features = attr.getString("cpu_features").str();
  target.dataLayout = attr.getString("data_layout").str();
  if (target.dataLayout.empty())
    target.dataLayout = llvm::Triple(target.triple).computeDataLayout();
  if (auto bits = attr.getConfiguration().getAs<IntegerAttr>("native_vector_bits"))
    target.nativeVectorBits = bits.getInt();
  else
    target.nativeVectorBits = target.has("avx512f") ? 512 : target.has("avx") ? 256 : 128;
  target.reassociates = !attr.getConfiguration().contains("sums_in_order");
  return target;
}

std::string CpuTarget::tuningName() const {
  std::string text = "llvm-cpu " + llvm::Triple(triple).getArchName().str() + " " + cpu;
  return features.empty() ? text : text + " " + features;
}

CpuTarget CpuTarget::of(Operation *op) {
  if (auto variant = isa<HAL::ExecutableVariantOp>(op) ? cast<HAL::ExecutableVariantOp>(op)
                                                       : op->getParentOfType<HAL::ExecutableVariantOp>())
    return fromAttr(variant.getTarget());
  CpuTarget target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = "generic";
  target.dataLayout = llvm::Triple(target.triple).computeDataLayout();
  return target;
}

} // namespace kiln
