#include "kiln/targets/cpu/driver/cpu_features.h"

#include <algorithm>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace kiln::hal {

namespace {

#if defined(__x86_64__)

enum Register : uint8_t { Eax, Ebx, Ecx, Edx };
// What the operating system must save for the feature to be usable; bits of XCR0.
enum State : uint32_t { NoState = 0, Avx = 0x6, Avx512 = 0xE6, Amx = 0x60000 };

struct Feature {
  const char *name;
  uint32_t leaf; // 0: no kernel can notice it
  uint32_t subleaf;
  Register reg;
  uint8_t bit;
  State state = NoState;
};

constexpr uint32_t kExtended = 0x80000001;
constexpr Feature kFeatures[] = {
    {"64bit", kExtended, 0, Edx, 29},
    {"cx8", 1, 0, Edx, 8},
    {"cmov", 1, 0, Edx, 15},
    {"mmx", 1, 0, Edx, 23},
    {"fxsr", 1, 0, Edx, 24},
    {"sse", 1, 0, Edx, 25},
    {"sse2", 1, 0, Edx, 26},
    {"x87", 1, 0, Edx, 0},
    {"sse3", 1, 0, Ecx, 0},
    {"pclmul", 1, 0, Ecx, 1},
    {"ssse3", 1, 0, Ecx, 9},
    {"fma", 1, 0, Ecx, 12, Avx},
    {"cx16", 1, 0, Ecx, 13},
    {"sse4.1", 1, 0, Ecx, 19},
    {"sse4.2", 1, 0, Ecx, 20},
    {"crc32", 1, 0, Ecx, 20},
    {"movbe", 1, 0, Ecx, 22},
    {"popcnt", 1, 0, Ecx, 23},
    {"aes", 1, 0, Ecx, 25},
    {"xsave", 1, 0, Ecx, 26},
    {"avx", 1, 0, Ecx, 28, Avx},
    {"f16c", 1, 0, Ecx, 29, Avx},
    {"rdrnd", 1, 0, Ecx, 30},
    {"sahf", kExtended, 0, Ecx, 0},
    {"lzcnt", kExtended, 0, Ecx, 5},
    {"sse4a", kExtended, 0, Ecx, 6},
    {"prfchw", kExtended, 0, Ecx, 8},
    {"xop", kExtended, 0, Ecx, 11, Avx},
    {"fma4", kExtended, 0, Ecx, 16, Avx},
    {"tbm", kExtended, 0, Ecx, 21},
    {"bmi", 7, 0, Ebx, 3},
    {"avx2", 7, 0, Ebx, 5, Avx},
    {"bmi2", 7, 0, Ebx, 8},
    {"rtm", 7, 0, Ebx, 11},
    {"avx512f", 7, 0, Ebx, 16, Avx512},
    {"avx512dq", 7, 0, Ebx, 17, Avx512},
    {"rdseed", 7, 0, Ebx, 18},
    {"adx", 7, 0, Ebx, 19},
    {"avx512ifma", 7, 0, Ebx, 21, Avx512},
    {"clflushopt", 7, 0, Ebx, 23},
    {"clwb", 7, 0, Ebx, 24},
    {"avx512cd", 7, 0, Ebx, 28, Avx512},
    {"sha", 7, 0, Ebx, 29},
    {"avx512bw", 7, 0, Ebx, 30, Avx512},
    {"avx512vl", 7, 0, Ebx, 31, Avx512},
    {"avx512vbmi", 7, 0, Ecx, 1, Avx512},
    {"waitpkg", 7, 0, Ecx, 5},
    {"avx512vbmi2", 7, 0, Ecx, 6, Avx512},
    {"gfni", 7, 0, Ecx, 8},
    {"vaes", 7, 0, Ecx, 9, Avx},
    {"vpclmulqdq", 7, 0, Ecx, 10, Avx},
    {"avx512vnni", 7, 0, Ecx, 11, Avx512},
    {"avx512bitalg", 7, 0, Ecx, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, Avx512},
    {"rdpid", 7, 0, Ecx, 22},
    {"movdiri", 7, 0, Ecx, 27},
    {"movdir64b", 7, 0, Ecx, 28},
    {"avx512vp2intersect", 7, 0, Edx, 8, Avx512},
    {"serialize", 7, 0, Edx, 14},
    {"tsxldtrk", 7, 0, Edx, 16},
    {"amx-bf16", 7, 0, Edx, 22, Amx},
    {"avx512fp16", 7, 0, Edx, 23, Avx512},
    {"amx-tile", 7, 0, Edx, 24, Amx},
    {"amx-int8", 7, 0, Edx, 25, Amx},
    {"sha512", 7, 1, Eax, 0},
    {"sm3", 7, 1, Eax, 1},
    {"sm4", 7, 1, Eax, 2},
    {"raoint", 7, 1, Eax, 3},
    {"avxvnni", 7, 1, Eax, 4, Avx},
    {"avx512bf16", 7, 1, Eax, 5, Avx512},
    {"cmpccxadd", 7, 1, Eax, 7},
    {"amx-fp16", 7, 1, Eax, 21, Amx},
    {"avxifma", 7, 1, Eax, 23, Avx},
    {"movrs", 7, 1, Eax, 31},
    {"avxvnniint8", 7, 1, Edx, 4, Avx},
    {"avxneconvert", 7, 1, Edx, 5, Avx},
    {"amx-complex", 7, 1, Edx, 8, Amx},
    {"avxvnniint16", 7, 1, Edx, 10, Avx},
    {"avx10.1", 7, 1, Edx, 19, Avx512},
    {"avx10.1-256", 7, 1, Edx, 19, Avx512},
    {"avx10.1-512", 7, 1, Edx, 19, Avx512},
    {"xsaveopt", 0xD, 1, Eax, 0},
    {"xsavec", 0xD, 1, Eax, 1},
    {"amx-transpose", 0x1E, 1, Eax, 5, Amx},
    {"amx-tf32", 0x1E, 1, Eax, 6, Amx},
    {"amx-avx512", 0x1E, 1, Eax, 7, Amx},
    {"amx-movrs", 0x1E, 1, Eax, 8, Amx},
    {"amx-fp8", 0x1E, 1, Eax, 4, Amx},
    {"evex512", 7, 0, Ebx, 16, Avx512},
    // For operating systems, or hints: code that a compiler makes of a kernel does not hold them.
    {"cldemote", 0, 0, Eax, 0},
    {"clzero", 0, 0, Eax, 0},
    {"enqcmd", 0, 0, Eax, 0},
    {"fsgsbase", 0, 0, Eax, 0},
    {"hreset", 0, 0, Eax, 0},
    {"invpcid", 0, 0, Eax, 0},
    {"kl", 0, 0, Eax, 0},
    {"lwp", 0, 0, Eax, 0},
    {"mwaitx", 0, 0, Eax, 0},
    {"pconfig", 0, 0, Eax, 0},
    {"prefetchi", 0, 0, Eax, 0},
    {"pku", 0, 0, Eax, 0},
    {"ptwrite", 0, 0, Eax, 0},
    {"rdpru", 0, 0, Eax, 0},
    {"sgx", 0, 0, Eax, 0},
    {"shstk", 0, 0, Eax, 0},
    {"uintr", 0, 0, Eax, 0},
    {"usermsr", 0, 0, Eax, 0},
    {"wbnoinvd", 0, 0, Eax, 0},
    {"widekl", 0, 0, Eax, 0},
    {"xsaves", 0, 0, Eax, 0},
};

// What the processor says of itself, read once for many questions: in a virtual machine each read leaves it.
class Machine {
public:
  Machine() {
    uint32_t registers[4];
    if (read(1, 0, registers) && (registers[Ecx] >> 27 & 1)) {
      // The operating system has enabled xgetbv.
      uint32_t high;
      asm volatile("xgetbv" : "=a"(savedState), "=d"(high) : "c"(0));
    }
  }

  // Kernels may use the feature.
  bool has(const Feature &feature) { return feature.leaf == 0 || reports(feature); }

  bool reports(const Feature &feature) {
    if (feature.leaf == 0)
      return false;
    uint32_t registers[4];
    return read(feature.leaf, feature.subleaf, registers) && (registers[feature.reg] >> feature.bit & 1) &&
           (savedState & feature.state) == uint32_t(feature.state);
  }

private:
  struct Leaf {
    uint32_t leaf, subleaf;
    bool valid;
    uint32_t registers[4];
  };

  bool read(uint32_t leaf, uint32_t subleaf, uint32_t *registers) {
    auto known = std::find_if(leaves.begin(), leaves.end(),
                              [&](const Leaf &other) { return other.leaf == leaf && other.subleaf == subleaf; });
    if (known == leaves.end()) {
      Leaf fresh{leaf, subleaf, false, {}};
      uint32_t *r = fresh.registers;
      fresh.valid = __get_cpuid_count(leaf, subleaf, &r[Eax], &r[Ebx], &r[Ecx], &r[Edx]);
      known = leaves.insert(leaves.end(), fresh);
    }
    std::copy_n(known->registers, 4, registers);
    return known->valid;
  }

  std::vector<Leaf> leaves;
  uint32_t savedState = 0; // XCR0
};

#elif defined(__aarch64__)

struct Feature {
  const char *name;
  unsigned long type; // AT_HWCAP or AT_HWCAP2; 0: every machine of the architecture has it
  uint8_t bit;
};

constexpr Feature kFeatures[] = {
    {"fp-armv8", AT_HWCAP, 0},   {"neon", AT_HWCAP, 1},     {"aes", AT_HWCAP, 3},
    {"sha2", AT_HWCAP, 6},       {"crc", AT_HWCAP, 7},      {"lse", AT_HWCAP, 8},
    {"fullfp16", AT_HWCAP, 10},  {"rdm", AT_HWCAP, 12},     {"jsconv", AT_HWCAP, 13},
    {"complxnum", AT_HWCAP, 14}, {"rcpc", AT_HWCAP, 15},    {"sha3", AT_HWCAP, 17},
    {"sm4", AT_HWCAP, 19},       {"dotprod", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},
    {"fp16fml", AT_HWCAP, 23},   {"sve2", AT_HWCAP2, 1},    {"i8mm", AT_HWCAP2, 13},
    {"bf16", AT_HWCAP2, 14},     {"sme", AT_HWCAP2, 23},    {"v8a", 0, 0},
};

class Machine {
public:
  bool has(const Feature &feature) { return feature.type == 0 || (getauxval(feature.type) >> feature.bit & 1); }
  bool reports(const Feature &feature) { return has(feature); }
};

#else

struct Feature {
  const char *name;
};
constexpr std::span<const Feature> kFeatures;
class Machine {
public:
  bool has(const Feature &) { return false; }
  bool reports(const Feature &) { return false; }
};

#endif

std::optional<bool> hasFeature(Machine &machine, std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (name == feature.name)
      return machine.has(feature);
  return std::nullopt;
}

} // namespace

std::optional<bool> hasCpuFeature(std::string_view name) {
  Machine machine;
  return hasFeature(machine, name);
}

std::vector<std::string_view> cpuFeaturesOfThisMachine() {
  Machine machine;
  std::vector<std::string_view> names;
  for (const Feature &feature : kFeatures)
    if (machine.reports(feature))
      names.push_back(feature.name);
  return names;
}

static void append(std::string &list, std::string_view name) {
  if (!list.empty())
    list += ", ";
  list += name;
}

Status checkCpuFeatures(std::string_view cpu, std::string_view features) {
  Machine machine;
  std::string missing, unknown;
  while (!features.empty()) {
    size_t comma = features.find(',');
    std::string_view entry = features.substr(0, comma);
    features = comma == std::string_view::npos ? "" : features.substr(comma + 1);
    if (entry.empty() || entry[0] == '-')
      continue;
    std::string_view name = entry.substr(entry[0] == '+');
    std::optional<bool> available = hasFeature(machine, name);
    if (!available)
      append(unknown, name);
    else if (!*available)
      append(missing, name);
  }
  std::string target = cpu.empty() ? "another CPU" : fmt::format("CPU '{}'", cpu);
  constexpr const char *kAdvice = "Recompile with --iree-llvmcpu-target-cpu=host or generic";
  if (!missing.empty())
    return failedPrecondition("module was compiled for {}, which needs {}; this machine lacks {}. {}", target, missing,
                              missing.find(',') == std::string::npos ? "it" : "them", kAdvice);
  if (!unknown.empty())
    return failedPrecondition("module was compiled for {}, which needs {}; this runtime does not know whether the "
                              "machine has it. {}",
                              target, unknown, kAdvice);
  return okStatus();
}

} // namespace kiln::hal
