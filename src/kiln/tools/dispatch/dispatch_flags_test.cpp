// What is refused of the flags before anything is done, and what they select.
#include "kiln/targets/cuda/architectures.h"
#include "kiln/tools/dispatch/dispatch_flags.h"

#include "fmt/ranges.h"

#include "kiln/families/families.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/sweep/known_providers.h"

#include <functional>
#include <gtest/gtest.h>

namespace kiln {
namespace {

// The message of an error; empty where there is none.
std::string refusal(const Status &status) {
  return std::string(status.message());
}

DispatchFlags withFlags(const std::function<void(DispatchFlags &)> &set) {
  DispatchFlags flags;
  set(flags);
  return flags;
}

TEST(DispatchFlags, WhatCannotBeMeasuredIsRefused) {
  struct Case {
    DispatchFlags flags;
    const char *message;
  };
  Case cases[] = {
      {withFlags([](DispatchFlags &flags) { flags.repetitions = 2'000'000; }),
       "--benchmark-repetitions=2000000: write 1000000 at most"},
      {withFlags([](DispatchFlags &flags) { flags.compilerVariants = {"a=", "b=", "a=-x"}; }),
       "--compiler-variant=a=-x: there is a variant 'a' already; give this one another name"},
      {withFlags([](DispatchFlags &flags) { flags.tags = "a:1,b:2,a:2"; }),
       "--tags=a:1,b:2,a:2: 'a' is named twice, and a table has one column of a name; write each key once"},
      {withFlags([](DispatchFlags &flags) { flags.tags = "threads:2"; }),
       "--tags=threads:2: every table has a column 'threads' already; give the tag another name"},
      {withFlags([](DispatchFlags &flags) { flags.append = true; }),
       "--append adds rows to a CSV file; name it, as in --output=table.csv"},
      {withFlags([](DispatchFlags &flags) {
         flags.append = true;
         flags.outputs = {"table.json", "table.html"};
       }),
       "--append adds rows to a CSV file; name it, as in --output=table.csv"},
  };
  for (auto &[flags, message] : cases) {
    Status status = flags.check();
    EXPECT_EQ(refusal(status.ok() ? checkAppend(flags) : status), message);
  }
  EXPECT_EQ(refusal(withFlags([](DispatchFlags &flags) {
                      flags.repetitions = 1'000'000;
                      flags.compilerVariants = {"a=", "b="};
                      flags.tags = "a:1,b:1";
                    }).check()),
            "");
}

TEST(DispatchFlags, ADeviceSaysWhatIsCompiledForIt) {
  auto compiledFor = [](const char *device, const char *architecture) {
    DispatchFlags flags;
    flags.device = device;
    flags.cudaArchitecture = architecture;
    flags.compiles = true;
    Status status = flags.check();
    return status.ok() ? fmt::format("{}", fmt::join(flags.allCompilerFlags(), " ")) : std::string(status.message());
  };
  EXPECT_EQ(compiledFor("", ""), "--kiln-hal-target-backends=llvm-cpu");
  EXPECT_EQ(compiledFor("discrete", ""), "--kiln-hal-target-backends=llvm-cpu");
  EXPECT_EQ(compiledFor("cuda-sim://7", ""),
            "--kiln-hal-target-backends=cuda --kiln-hal-cuda-llvm-target-arch=sm_90a --kiln-cuda-fallback-arch=none");
  EXPECT_EQ(compiledFor("cuda://1", "sm_80"),
            "--kiln-hal-target-backends=cuda --kiln-hal-cuda-llvm-target-arch=sm_80 --kiln-cuda-fallback-arch=none")
      << "no GPU is needed where the architecture is named";
  EXPECT_EQ(compiledFor("cuda://1", "h200"), compiledFor("cuda://1", "sm_90a"));
  EXPECT_NE(compiledFor("vulkan", "").find("no driver 'vulkan' in this build"), std::string::npos);
}

TEST(DispatchFlags, AFileIsWrittenOnce) {
  EXPECT_EQ(refusal(checkOutputs({"a.csv", "b.csv", "a.csv"}, ".")),
            "--output=a.csv: the file is named twice; write it once");
}

TEST(DispatchFlags, AProviderTakesPartOnce) {
  DispatchFlags flags;
  flags.providers = {"reference", "mkl,reference"};
  EXPECT_EQ(refusal(findProviders(flags).status()),
            "--providers: 'reference' is named twice; a provider takes part once");
}

class Selection : public ::testing::Test {
protected:
  Selection() {
    families::registerFamilies(families);
    flags.operationKind = "matmul";
    flags.types = "f32";
  }
  Result<std::vector<Operation>> select(const std::string &m, const std::string &n, const std::string &k) {
    for (const auto &[name, text] : {std::pair("m", m), std::pair("n", n), std::pair("k", k)})
      flags.problemSizes[name].text = text;
    return selectOperations(families, flags);
  }
  measure::FamilyRegistry families;
  DispatchFlags flags;
};

TEST_F(Selection, WhatIsNamedTwiceIsOneProblem) {
  flags.types = "f32,f32";
  Result<std::vector<Operation>> operations = select("8,8", "8", "4:8:4,8");
  ASSERT_TRUE(operations.ok()) << operations.status().toString();
  ASSERT_EQ(operations->size(), 2U);
  EXPECT_EQ((*operations)[0].problem->name(), "matmul_8x8x4_f32t_f32t_f32t");
  EXPECT_EQ((*operations)[1].problem->name(), "matmul_8x8x8_f32t_f32t_f32t");
}

TEST_F(Selection, OnAGpuConfigurationsAreTheArchitectures) {
  auto classesOf = [&](const char *architecture, bool mmaSync, bool wmma = false) {
    flags.device = "cuda-sim";
    flags.cudaArchitecture = architecture;
    flags.selects = true;
    flags.usesMmaSync = mmaSync;
    flags.usesWmma = wmma;
    EXPECT_TRUE(flags.check().ok());
    Result<std::vector<Operation>> operations = select("64", "64", "64");
    EXPECT_TRUE(operations.ok() && filterOperations(*operations, flags).ok());
    std::set<std::string> classes;
    for (const std::string &name : operations->at(0).configurations)
      classes.insert(TileConfig::parse(name).ok() ? TileConfig::parse(name)->instructions : name);
    return classes;
  };
  using Classes = std::set<std::string>;
  flags.types = "f16";
  EXPECT_EQ(classesOf("", false), (Classes{"simt_ffma", "tensorcore_mmasync", "tensorcore_wgmma", "tensorcore_wmma"}));
  EXPECT_EQ(classesOf("sm_80", false), (Classes{"simt_ffma", "tensorcore_mmasync", "tensorcore_wmma"}));
  EXPECT_EQ(classesOf("sm_80", true), Classes{"tensorcore_mmasync"});
  EXPECT_EQ(classesOf("sm_80", false, true), Classes{"tensorcore_wmma"});
  EXPECT_EQ(classesOf("sm_90a", true, true), (Classes{"tensorcore_mmasync", "tensorcore_wmma"}));
  EXPECT_EQ(classesOf("A100", false, true), Classes{"tensorcore_wmma"});
  EXPECT_EQ(flags.labDevice.architecture, "sm_80");
  EXPECT_EQ(classesOf("sm_75", false), Classes{"tile_config_default"});
  flags.usesMmaSync = flags.usesWmma = true;
  EXPECT_EQ(refusal(flags.check()), "sm_75 has no kernels of tensorcore_mmasync or tensorcore_wmma, which a flag asks "
                                    "for; they copy asynchronously, which sm_80 and newer do");
  flags.usesMmaSync = flags.usesWmma = false;
  flags.cudaArchitecture = "a1000";
  EXPECT_EQ(refusal(flags.check()),
            "--cuda-arch=a1000: write sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100, "
            "sm_100a, sm_120, sm_120a, a product (" +
                cudaProductNames() + "), or native");
  // What has no configuration of mma.sync has nothing to give.
  flags.cudaArchitecture = "sm_80";
  flags.types = "i8";
  ASSERT_TRUE(flags.check().ok());
  Result<std::vector<Operation>> operations = select("64", "64", "64");
  ASSERT_TRUE(operations.ok());
  flags.usesMmaSync = true;
  EXPECT_NE(refusal(filterOperations(*operations, flags))
                .find("none of the problems has a configuration of tensorcore_mmasync, "),
            std::string::npos);
  flags.usesMmaSync = false;
  flags.usesWmma = true; // of which it has some
  operations = select("64", "64", "64");
  ASSERT_TRUE(operations.ok());
  EXPECT_TRUE(filterOperations(*operations, flags).ok());
}

// As a report shows it: the problem need not be among those that the sizes ask for.
TEST_F(Selection, ADispatchOfAnyProblemIsThatProblem) {
  for (const char *dispatch :
       {"matmul_24x40x56_f32t_f32t_f32t", "matmul_24x40x56_f32t_f32t_f32t_tile_config_12x40_56x1_fma_12x32"}) {
    flags.dispatches = dispatch;
    Result<std::vector<Operation>> operations = select("8", "8", "8");
    ASSERT_TRUE(operations.ok()) << operations.status().toString();
    EXPECT_EQ(operations->back().problem->name(), "matmul_24x40x56_f32t_f32t_f32t") << dispatch;
  }
}

TEST_F(Selection, SizesThatAreNoSizesAreRefused) {
  EXPECT_EQ(refusal(select("18446744073709551614:18446744073709551615:1", "1", "1").status()),
            "--problem-m: '18446744073709551614' is too large; write sizes up to 2147483648");
  EXPECT_EQ(refusal(select("1:2147483648:18446744073709551615", "1", "1").status()),
            "--problem-m: '18446744073709551615' is too large; write sizes up to 2147483648");
  flags.problemShapes = "8,4x4294967296";
  EXPECT_EQ(refusal(select("", "", "").status()),
            "--problem-shape: '4x4294967296' is too large; write sizes up to 2147483648");
}

TEST_F(Selection, MoreProblemsThanAnybodyMeasuresAreRefused) {
  EXPECT_EQ(refusal(select("1:9999:1", "1:9999:1", "1:9999:1").status()),
            "the sizes and types make 999700029999 problems, as each combination is one; ask for 100000 at most, with "
            "fewer values or a larger increment");
  EXPECT_EQ(select("1:100:1", "1", "1:10:1").status().code(), StatusCode::Ok);
}

} // namespace
} // namespace kiln
