#include "kiln/base/flags.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "gtest/gtest.h"

#include "kiln/base/testing/test_folder.h"

namespace kiln {
namespace {

using Arguments = std::vector<std::string>;

TEST(FlagsTest, CanonicalName) {
  EXPECT_EQ(canonicalName("iree-hal-target-backends"), "kiln-hal-target-backends");
  EXPECT_EQ(canonicalName("iree_x"), "kiln_x");
  EXPECT_EQ(canonicalName("kiln-x"), "kiln-x");
  EXPECT_EQ(canonicalName("ireel"), "ireel");
  EXPECT_EQ(canonicalName("x-iree-y"), "x-iree-y");
  EXPECT_EQ(canonicalName("iree"), "iree");
  EXPECT_EQ(canonicalName(""), "");
}

TEST(FlagsTest, CanonicalPipelineRenamesPassesOnly) {
  EXPECT_EQ(canonicalPipeline("builtin.module(hal.executable(hal.executable.variant(iree-llvmcpu-lower)))"),
            "builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower)))");
  EXPECT_EQ(canonicalPipeline("iree-a,iree-b, iree-c"), "kiln-a,kiln-b, kiln-c");
  EXPECT_EQ(canonicalPipeline("builtin.module( iree-a )"), "builtin.module( kiln-a )");
}

TEST(FlagsTest, CanonicalPipelineLeavesOptionValues) {
  EXPECT_EQ(canonicalPipeline("iree-a{path=iree-x,iree-y pipeline=f(iree-z)},iree-b"),
            "kiln-a{path=iree-x,iree-y pipeline=f(iree-z)},kiln-b");
  EXPECT_EQ(canonicalPipeline("a{x={iree-1},iree-2},iree-b"), "a{x={iree-1},iree-2},kiln-b");
  EXPECT_EQ(canonicalPipeline("pre-iree-a"), "pre-iree-a");
  EXPECT_EQ(canonicalPipeline("a}iree-b,iree-c"), "a}iree-b,kiln-c");
  EXPECT_EQ(canonicalPipeline(""), "");
}

TEST(FlagsTest, CanonicalArgumentsRewritesNamesNeverValues) {
  Arguments in = {"--iree-hal-target-backends=llvm-cpu",
                  "-iree-x",
                  "--iree_y=iree-z",
                  "iree-input.mlir",
                  "--module=iree-a.vmfb",
                  "--dump-to=--iree-b"};
  Arguments out = {"--kiln-hal-target-backends=llvm-cpu",
                   "-kiln-x",
                   "--kiln_y=iree-z",
                   "iree-input.mlir",
                   "--module=iree-a.vmfb",
                   "--dump-to=--iree-b"};
  EXPECT_EQ(canonicalArguments(in), out);
  EXPECT_EQ(canonicalArguments(out), out);
}

TEST(FlagsTest, CanonicalArgumentsRewritesPipelineValues) {
  EXPECT_EQ(canonicalArguments(Arguments{"--pass-pipeline=builtin.module(iree-a)"}),
            Arguments{"--pass-pipeline=builtin.module(kiln-a)"});
  EXPECT_EQ(canonicalArguments(Arguments{"--iree-preprocessing-pass-pipeline=builtin.module(iree-a{f=iree-b})"}),
            Arguments{"--kiln-preprocessing-pass-pipeline=builtin.module(kiln-a{f=iree-b})"});
  EXPECT_EQ(canonicalArguments(Arguments{"-pass-pipeline", "iree-a", "iree-b"}),
            (Arguments{"-pass-pipeline", "kiln-a", "iree-b"}));
  EXPECT_EQ(canonicalArguments(Arguments{"--mlir-print-ir-after=iree-a"}), Arguments{"--mlir-print-ir-after=kiln-a"});
  // A bare pipeline flag has no value; what follows is another argument.
  EXPECT_EQ(canonicalArguments(Arguments{"--iree-flow-transformation-pipeline", "iree-a.mlir"}),
            (Arguments{"--kiln-flow-transformation-pipeline", "iree-a.mlir"}));
}

TEST(FlagsTest, CanonicalArgumentsLeavesOutputPathsAndPositionals) {
  EXPECT_EQ(canonicalArguments(Arguments{"-o", "--iree-x", "--iree-y"}), (Arguments{"-o", "--iree-x", "--kiln-y"}));
  EXPECT_EQ(canonicalArguments(Arguments{"--", "--iree-x"}), (Arguments{"--", "--iree-x"}));
  EXPECT_EQ(canonicalArguments(Arguments{"-", "--pass-pipeline"}), (Arguments{"-", "--pass-pipeline"}));
}

class FlagFileTest : public testing::Test {
protected:
  std::string write(const std::string &name, const std::string &text) {
    std::string path = folder.file(name);
    FILE *file = std::fopen(path.c_str(), "wb");
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
    return path;
  }

  TestFolder folder;
};

TEST_F(FlagFileTest, ExpandsLines) {
  std::string path = write("f", "# a comment\n\n  --input=4xf32=[1 2 3 4]  \r\n--function=x\n--last");
  auto result = expandFlagFiles(Arguments{"a", "--flagfile=" + path, "b"});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  EXPECT_EQ(*result, (Arguments{"a", "--input=4xf32=[1 2 3 4]", "--function=x", "--last", "b"}));
  EXPECT_EQ(*expandFlagFiles(Arguments{"-flagfile", path, "b"}),
            (Arguments{"--input=4xf32=[1 2 3 4]", "--function=x", "--last", "b"}));
}

TEST_F(FlagFileTest, ExpandsFilesOfFilesTwice) {
  std::string inner = write("inner", "--x\n");
  std::string outer = write("outer", "--flagfile=" + inner + "\n--y\n--flagfile=" + inner + "\n");
  auto result = expandFlagFiles(Arguments{"--flagfile=" + outer});
  ASSERT_TRUE(result.ok()) << result.status().toString();
  EXPECT_EQ(*result, (Arguments{"--x", "--y", "--x"}));
}

TEST_F(FlagFileTest, RejectsCyclesAndMissingFiles) {
  std::string path = folder.file("loop");
  write("loop", "--flagfile=" + path + "\n");
  EXPECT_EQ(expandFlagFiles(Arguments{"--flagfile=" + path}).status().message(),
            "the flag file '" + path + "' includes itself");
  Status missing = expandFlagFiles(Arguments{"--flagfile=" + folder.file("none")}).status();
  EXPECT_EQ(missing.code(), StatusCode::NotFound);
  EXPECT_NE(missing.message().find("/none"), std::string::npos);
  EXPECT_EQ(expandFlagFiles(Arguments{"--flagfile=" + folder.path}).status().code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(expandFlagFiles(Arguments{"--flagfile"}).ok());
  EXPECT_EQ(*expandFlagFiles(Arguments{"--", "--flagfile=/none"}), (Arguments{"--", "--flagfile=/none"}));
}

TEST(FlagsTest, NearestName) {
  Arguments known = {"input", "output", "benchmark_repetitions", "list_devices", "kiln-hal-target-backends"};
  EXPECT_EQ(nearestName("inptu", known), "input");
  EXPECT_EQ(nearestName("list-device", known), "list_devices");
  EXPECT_EQ(nearestName("benchmark_repitions", known), "benchmark_repetitions");
  EXPECT_EQ(nearestName("kiln-hal-target-backend", known), "kiln-hal-target-backends");
  EXPECT_EQ(nearestName("zzzzz", known), "");
  EXPECT_EQ(nearestName("", known), "");
}

TEST(FlagsTest, UnknownFlagMessage) {
  Arguments known = {"input", "kiln-hal-target-backends"};
  EXPECT_EQ(unknownFlagMessage("--inptu=4xf32", known), "unknown flag '--inptu'; did you mean '--input'?");
  EXPECT_EQ(unknownFlagMessage("-iree-hal-target-backend=x", known),
            "unknown flag '-iree-hal-target-backend'; did you mean '--iree-hal-target-backends'?");
  EXPECT_EQ(unknownFlagMessage("--kiln-hal-target-backend", known),
            "unknown flag '--kiln-hal-target-backend'; did you mean '--kiln-hal-target-backends'?");
  EXPECT_EQ(unknownFlagMessage("--zzz", known), "unknown flag '--zzz'; --help lists the flags");
}

} // namespace
} // namespace kiln
