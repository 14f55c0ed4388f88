// Files that change while a tool uses them: it says so, and is not ended by a signal.
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <sys/stat.h>

#include "kiln/base/sanitized.h"
#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

namespace fs = std::filesystem;

// Longer than a tool needs to load a module, in a build with sanitizers too.
constexpr double kCpuSeconds = kSanitized ? 3 : 0.3;

class ChangedModule : public ::testing::Test {
protected:
  void truncate() const { fs::resize_file(module, 64 * 1024); }
  void overwrite() const {
    std::string zeros(fs::file_size(module), '\0');
    std::ofstream(module, std::ios::in | std::ios::binary).write(zeros.data(), std::streamsize(zeros.size()));
  }
  void replace() const { fs::rename(folder.write("new", constantModule()), module); }

  std::vector<std::function<void()>> changes() const {
    return {[this] { truncate(); }, [this] { overwrite(); }, [this] { replace(); }};
  }

  Folder folder;
  std::string module = folder.write("weights.vmfb", constantModule());
};

// Benchmarks call without an end, so the change is between two calls or within one.
TEST_F(ChangedModule, EndsABenchmarkWithAnErrorThatNamesTheFile) {
  for (const char *device : {"local-sync", "local-task"})
    for (const std::function<void()> &change : changes()) {
      folder.write("weights.vmfb", constantModule());
      ProcessOptions options;
      options.whenCpuSeconds = kCpuSeconds;
      options.meanwhile = change;
      ProcessResult result = runTool("kiln-benchmark-module",
                                     {"--module=" + module, std::string("--device=") + device,
                                      "--function=constant_copy", "--benchmark_min_time=100s"},
                                     options);
      EXPECT_EQ(result.exitCode, 1) << result.out << result.error;
      EXPECT_CONTAINS(result.out + result.error, module);
    }
}

// The input comes when the module is loaded and has changed.
TEST_F(ChangedModule, FailsTheCallOfKilnRunModule) {
  std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::function<void()> &change : changes()) {
    folder.write("weights.vmfb", constantModule());
    auto run = std::async(std::launch::async, [&] {
      return runTool("kiln-run-module",
                     {"--module=" + module, "--function=abs", "--input=4194304xf32=@" + pipe, "--output=@/dev/null"});
    });
    std::ofstream input(pipe, std::ios::binary); // opens when the tool opens it
    change();
    std::string zeros(size_t(16) << 20, '\0');
    input.write(zeros.data(), std::streamsize(zeros.size()));
    input.close();
    ProcessResult result = run.get();
    EXPECT_EQ(result.exitCode, 1) << result.out << result.error;
    EXPECT_CONTAINS(result.error, module);
    EXPECT_CONTAINS(result.error, "Load the module again");
  }
}

// The code that runs is not in the folder in which profilers find it.
TEST_F(ChangedModule, CodeThatRunsDoesNotDependOnTheFolderOfExecutables) {
  std::string executables = folder / "executables";
  std::string abs = folder.write("abs.vmfb", absModule());
  size_t count = 0;
  ProcessOptions options;
  options.whenCpuSeconds = kCpuSeconds;
  options.meanwhile = [&] {
    for (const fs::directory_entry &file : fs::directory_iterator(executables)) {
      fs::resize_file(file, 0);
      ++count;
    }
  };
  ProcessResult result = runTool("kiln-benchmark-module",
                                 {"--module=" + abs, "--device=local-sync", "--function=abs", "--input=f32=-2",
                                  "--benchmark_min_time=1.5s", "--executable_folder=" + executables},
                                 options);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(result.exitCode, 0) << result.out << result.error;
  EXPECT_CONTAINS(result.out, "BM_abs");
}

} // namespace
} // namespace kiln::testing
