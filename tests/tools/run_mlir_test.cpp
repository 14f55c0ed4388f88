#include "gtest/gtest.h"

#include <filesystem>

#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

namespace fs = std::filesystem;

// kiln-run-mlir beside a kiln-compile that is a script: it writes down its arguments and input, and does what the test
// says.
class RunMlirTest : public ::testing::Test {
protected:
  void SetUp() override {
    fs::copy_file(toolPath("kiln-run-mlir"), folder / "kiln-run-mlir");
    module = folder.write("abs.vmfb", absModule());
  }

  ProcessResult run(const std::string &compiler, const std::vector<std::string> &arguments, std::string input = "",
                    const std::string &first = "") {
    std::string script =
        folder.write("kiln-compile", "#!/bin/sh\n" + first + "\nprintf '%s\\n' \"$@\" > " + (folder / "arguments") +
                                         "\ncat > " + (folder / "input") + "\n" + compiler + "\n");
    fs::permissions(script, fs::perms::owner_all);
    ProcessOptions options;
    options.input = std::move(input);
    return runTool(fs::relative(folder / "kiln-run-mlir", toolPath("")), arguments, options);
  }
  std::string compilerArguments() { return readFile(folder / "arguments"); }

  Folder folder;
  std::string module;
};

TEST_F(RunMlirTest, CompilesAndRuns) {
  ProcessResult result = run("cat " + module, {"abs.mlir", "--function=abs", "--input=f32=-2"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(result.out, "EXEC @abs\nresult[0]: hal.buffer_view\nf32=2\n");
  EXPECT_EQ(compilerArguments(), "abs.mlir\n--kiln-hal-target-backends=llvm-cpu\n");
  EXPECT_EQ(run("cat " + module, {"abs.mlir", "--input=f32=-2", "--expected_output=f32=3"}).exitCode, 1);
}

TEST_F(RunMlirTest, StandardInputIsTheProgram) {
  ProcessResult result = run("cat " + module, {"--input=f32=-2"}, "func.func @abs");
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(compilerArguments().substr(0, 2), "-\n");
  EXPECT_EQ(readFile(folder / "input"), "func.func @abs");
}

TEST_F(RunMlirTest, FlagsOfTheCompiler) {
  ProcessResult result = run("cat " + module, {"--Xcompiler,iree-llvmcpu-target-cpu=generic", "--Xcompiler,--x=a,b",
                                               "--iree-hal-target-backends=llvm-cpu", "abs.mlir", "--input=f32=-2"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_EQ(compilerArguments(),
            "abs.mlir\n--iree-llvmcpu-target-cpu=generic\n--x=a,b\n--kiln-hal-target-backends=llvm-cpu\n");
}

TEST_F(RunMlirTest, ACompilationThatTakesTooLongIsEnded) {
  std::string ended = folder / "ended";
  // The script takes some milliseconds to its trap, and 4 seconds are enough for that on a busy machine, too.
  ProcessResult result = run("sleep 60 & wait", {"abs.mlir", "--timeout=4"}, "",
                             "trap 'touch " + ended + "; kill $! 2> /dev/null; exit 1' TERM");
  EXPECT_EQ(result.exitCode, 124);
  EXPECT_CONTAINS(result.error, "kiln-run-mlir: error: --timeout=4: ended after ");
  EXPECT_CONTAINS(result.error, " s while compiling 'abs.mlir'; nothing was written\n");
  EXPECT_TRUE(fs::exists(ended));
}

TEST_F(RunMlirTest, Failures) {
  ProcessResult failed = run("echo 'abs.mlir:1:1: error: no' >&2; exit 1", {"abs.mlir"});
  EXPECT_EQ(failed.exitCode, 1);
  EXPECT_EQ(failed.out, "");
  EXPECT_EQ(failed.error, "abs.mlir:1:1: error: no\nkiln-run-mlir: error: kiln-compile failed with exit code 1\n");
  ProcessResult killed = run("kill -9 $$", {"abs.mlir"});
  EXPECT_EQ(killed.exitCode, 1);
  EXPECT_CONTAINS(killed.error, "kiln-compile was ended by Killed");
  EXPECT_CONTAINS(run("true", {"abs.mlir"}).error, "wrote no module to standard output");
  ProcessResult damaged = run("head -c 5000 " + module, {"abs.mlir"});
  EXPECT_EQ(damaged.exitCode, 1);
  EXPECT_CONTAINS(damaged.error, "abs.mlir");
  EXPECT_CONTAINS(run("true", {"a.mlir", "b.mlir"}).error, "one file is compiled, and 2 are named");
  fs::remove(folder / "kiln-compile");
  EXPECT_CONTAINS(runTool(fs::relative(folder / "kiln-run-mlir", toolPath("")), {"abs.mlir"}).error,
                  "this build has no kiln-compile");
}

} // namespace
} // namespace kiln::testing
