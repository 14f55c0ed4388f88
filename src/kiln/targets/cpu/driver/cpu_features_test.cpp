#include "kiln/targets/cpu/driver/cpu_features.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace kiln::hal {
namespace {

#if defined(__x86_64__)

// The kernel's list of what this processor has, in its own names.
std::vector<std::string> kernelFlags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(CpuFeaturesTest, AgreesWithTheKernel) {
  std::vector<std::string> flags = kernelFlags();
  ASSERT_FALSE(flags.empty());
  struct Row {
    const char *llvm, *kernel;
  };
  for (Row row : {Row{"sse2", "sse2"},
                  Row{"sse3", "pni"},
                  Row{"pclmul", "pclmulqdq"},
                  Row{"ssse3", "ssse3"},
                  Row{"fma", "fma"},
                  Row{"cx16", "cx16"},
                  Row{"sse4.1", "sse4_1"},
                  Row{"sse4.2", "sse4_2"},
                  Row{"movbe", "movbe"},
                  Row{"popcnt", "popcnt"},
                  Row{"aes", "aes"},
                  Row{"avx", "avx"},
                  Row{"f16c", "f16c"},
                  Row{"rdrnd", "rdrand"},
                  Row{"lzcnt", "abm"},
                  Row{"sse4a", "sse4a"},
                  Row{"bmi", "bmi1"},
                  Row{"avx2", "avx2"},
                  Row{"bmi2", "bmi2"},
                  Row{"avx512f", "avx512f"},
                  Row{"avx512dq", "avx512dq"},
                  Row{"adx", "adx"},
                  Row{"avx512ifma", "avx512ifma"},
                  Row{"clflushopt", "clflushopt"},
                  Row{"clwb", "clwb"},
                  Row{"avx512cd", "avx512cd"},
                  Row{"sha", "sha_ni"},
                  Row{"avx512bw", "avx512bw"},
                  Row{"avx512vl", "avx512vl"},
                  Row{"avx512vbmi", "avx512vbmi"},
                  Row{"avx512vbmi2", "avx512_vbmi2"},
                  Row{"gfni", "gfni"},
                  Row{"vaes", "vaes"},
                  Row{"vpclmulqdq", "vpclmulqdq"},
                  Row{"avx512vnni", "avx512_vnni"},
                  Row{"avx512bitalg", "avx512_bitalg"},
                  Row{"avx512vpopcntdq", "avx512_vpopcntdq"},
                  Row{"rdpid", "rdpid"},
                  Row{"avx512vp2intersect", "avx512_vp2intersect"},
                  Row{"avx512fp16", "avx512_fp16"},
                  Row{"amx-tile", "amx_tile"},
                  Row{"amx-bf16", "amx_bf16"},
                  Row{"amx-int8", "amx_int8"},
                  Row{"avxvnni", "avx_vnni"},
                  Row{"avx512bf16", "avx512_bf16"},
                  Row{"xsaveopt", "xsaveopt"},
                  Row{"xsavec", "xsavec"}}) {
    bool expected = std::find(flags.begin(), flags.end(), row.kernel) != flags.end();
    EXPECT_EQ(hasCpuFeature(row.llvm), std::optional(expected)) << row.llvm;
  }
}

// The list is for people, who compare it with the kernel's: what only counts as there is not in it.
TEST(CpuFeaturesTest, ListsNothingThatTheMachineMayLack) {
  std::vector<std::string_view> listed = cpuFeaturesOfThisMachine();
  for (std::string_view name : {"kl", "widekl", "sgx", "pconfig", "uintr", "shstk", "ptwrite", "lwp"}) {
    EXPECT_EQ(hasCpuFeature(name), true) << name;
    EXPECT_EQ(std::ranges::find(listed, name), listed.end()) << name;
  }
  std::vector<std::string> flags = kernelFlags();
  // Where the kernel has the same name for it, it must have it.
  for (std::string_view name : listed)
    for (std::string_view same : {"avx", "avx2", "fma", "f16c", "aes", "adx", "gfni", "vaes", "movdiri", "serialize",
                                  "waitpkg", "cldemote", "clzero", "avx512f", "avx512bw", "xsavec", "rdpid", "tbm"})
      EXPECT_TRUE(name != same || std::ranges::find(flags, same) != flags.end()) << name;
}

TEST(CpuFeaturesTest, SaysWhatIsMissing) {
  // No machine has both: they belong to different makers.
  std::string missing;
  for (const char *name : {"sse4a", "amx-tile"})
    if (!*hasCpuFeature(name))
      missing = name;
  ASSERT_FALSE(missing.empty());
  EXPECT_EQ(checkCpuFeatures("znver5", "+sse2,+" + missing + ",-avx").message(),
            "module was compiled for CPU 'znver5', which needs " + missing +
                "; this machine lacks it. Recompile with --iree-llvmcpu-target-cpu=host or generic");
}

#endif

TEST(CpuFeaturesTest, AcceptsWhatThisMachineHas) {
  std::string all;
  for (std::string_view name : cpuFeaturesOfThisMachine())
    all += std::string(all.empty() ? "+" : ",+") + std::string(name);
  EXPECT_FALSE(all.empty());
  EXPECT_TRUE(checkCpuFeatures("host", all).ok()) << checkCpuFeatures("host", all).toString();
  EXPECT_TRUE(checkCpuFeatures("generic", "").ok());
}

TEST(CpuFeaturesTest, IgnoresUnknownNamesOnlyWhereTheyAreAbsent) {
  EXPECT_EQ(hasCpuFeature("no-such"), std::nullopt);
  EXPECT_TRUE(checkCpuFeatures("x", "-no-such,-other").ok());
  EXPECT_EQ(
      checkCpuFeatures("x", "+no-such,-other,+nor-this").toString(),
      "FAILED_PRECONDITION: module was compiled for CPU 'x', which needs no-such, nor-this; this runtime does not "
      "know whether the machine has it. Recompile with --iree-llvmcpu-target-cpu=host or generic");
  EXPECT_EQ(checkCpuFeatures("", "+no-such").message().substr(0, 45), "module was compiled for another CPU, which ne");
}

} // namespace
} // namespace kiln::hal
