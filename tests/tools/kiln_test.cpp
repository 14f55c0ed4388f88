#include "gtest/gtest.h"

#include <filesystem>

#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

TEST(KilnTest, VerbsAreTools) {
  Folder folder;
  std::string module = folder.write("abs.vmfb", absModule());
  for (const char *verb : {"run", "run-module", "kiln-run-module", "iree-run-module"})
    EXPECT_EQ(runTool("kiln", {verb, "--module=" + module, "--input=f32=-2"}).out,
              "EXEC @abs\nresult[0]: hal.buffer_view\nf32=2\n")
        << verb;
  EXPECT_CONTAINS(
      runTool("kiln", {"benchmark", "--module=" + module, "--function=abs", "--input=f32=1", "--benchmark_min_time=1x"})
          .out,
      "BM_abs");
  EXPECT_EQ(runTool("kiln", {"run", "--module=" + (folder / "none")}).exitCode, 1);
}

TEST(KilnTest, HelpAndVersion) {
  for (const char *argument : {"help", "--help", "-h"}) {
    ProcessResult help = runTool("kiln", {argument});
    EXPECT_EQ(help.exitCode, 0);
    EXPECT_CONTAINS(help.out, "\n  run ");
    EXPECT_CONTAINS(help.out, "\n  benchmark ");
  }
  EXPECT_CONTAINS(runTool("kiln", {"help", "run"}).out, "Usage: kiln-run-module");
  EXPECT_EQ(runTool("kiln", {"version"}).out.substr(0, 5), "kiln ");
  ProcessResult bare = runTool("kiln", {});
  EXPECT_EQ(bare.exitCode, 1);
  EXPECT_CONTAINS(bare.error, "Usage: kiln VERB");
}

TEST(KilnTest, UnknownVerbs) {
  ProcessResult near = runTool("kiln", {"benchmrak"});
  EXPECT_EQ(near.exitCode, 1);
  EXPECT_EQ(near.error, "kiln: error: unknown verb 'benchmrak'; did you mean 'benchmark'?\n");
  EXPECT_CONTAINS(runTool("kiln", {"benchmark-modul"}).error, "did you mean 'benchmark-module'?");
  EXPECT_CONTAINS(runTool("kiln", {"xyz"}).error, "`kiln help` lists the verbs");
}

// A copy of kiln alone has no tools beside it.
TEST(KilnTest, MissingTools) {
  Folder folder;
  std::filesystem::copy_file(toolPath("kiln"), folder / "kiln");
  ProcessResult result = runTool("../" + std::filesystem::relative(folder / "kiln", toolPath("..")).string(), {"run"});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_CONTAINS(result.error, "kiln-run-module' does not exist: this build has no kiln-run-module");
}

} // namespace
} // namespace kiln::testing
