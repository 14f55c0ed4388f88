// Tools that get no more memory, threads, descriptors or room for files: an error that names it, and no half-written
// file.
#include "gtest/gtest.h"

#include <algorithm>
#include <sys/resource.h>

#include "kiln/base/sanitized.h"
#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

class Exhaustion : public ::testing::Test {
protected:
  void SetUp() override {
    if (kSanitized)
      GTEST_SKIP() << "a sanitizer needs memory and threads of its own";
  }

  // An error of which one of `names` is a part, on standard error or as the row of a benchmark, whose report is then
  // complete.
  void expectNamed(const ProcessResult &result, const std::vector<std::string> &names) {
    EXPECT_EQ(result.exitCode, 1) << result.error;
    std::string file = readFile(output);
    bool isReport = file.ends_with("]\n}\n");
    EXPECT_TRUE(file == "old" || isReport) << file;
    std::string text = isReport ? file : result.error;
    EXPECT_CONTAINS(text, isReport ? "error_message" : ": error: ");
    EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string &name) { return text.find(name) != text.npos; }))
        << text;
    EXPECT_EQ(folder.files().size(), 2u);
    folder.write("output", "old");
  }

  // Runs the tool with more and more of it until it succeeds.
  void expectNamedUntilEnough(const std::string &tool, const std::vector<std::string> &arguments, int resource,
                              uint64_t first, uint64_t step, const std::vector<std::string> &names) {
    int failures = 0;
    ProcessOptions options;
    for (uint64_t value = first;; value += step) {
      ASSERT_LT(value, first + 400 * step);
      options.limits = {{resource, value}};
      ProcessResult result = runTool(tool, arguments, options);
      // With less than this the system does not get as far as the tool.
      if (failures == 0 && runTool(tool, {"--version"}, options).exitCode != 0)
        continue;
      if (result.exitCode == 0)
        break;
      SCOPED_TRACE(tool + " with " + std::to_string(value));
      ++failures;
      expectNamed(result, names);
      if (HasFailure())
        return;
    }
    EXPECT_GT(failures, 0);
    EXPECT_NE(readFile(output), "old");
    folder.write("output", "old");
  }

  Folder folder;
  std::string sample = folder.write("sample.vmfb", sampleModule());
  std::string output = folder.write("output", "old");
};

TEST_F(Exhaustion, Memory) {
  for (const char *device : {"--device=local-sync", "--device=local-task"})
    expectNamedUntilEnough("kiln-run-module",
                           {"--module=" + sample, device, "--function=fill", "--input=3000000", "--output=@" + output},
                           RLIMIT_AS, 4 * kMebibyte, kMebibyte, {"memory"});
}

TEST_F(Exhaustion, MemoryOfBenchmarks) {
  expectNamedUntilEnough("kiln-benchmark-module",
                         {"--module=" + sample, "--device=local-sync", "--function=fill", "--input=3000000",
                          "--benchmark_min_time=1x", "--benchmark_out=" + output},
                         RLIMIT_AS, 4 * kMebibyte, kMebibyte, {"memory"});
}

TEST_F(Exhaustion, Descriptors) {
  expectNamedUntilEnough("kiln-run-module",
                         {"--module=" + sample, "--function=fill", "--input=3", "--output=@" + output}, RLIMIT_NOFILE,
                         3, 1, {"Too many open files; raise the limit of open files (ulimit -n)"});
  expectNamedUntilEnough("kiln-benchmark-module",
                         {"--module=" + sample, "--device=local-sync", "--function=fill", "--input=3",
                          "--benchmark_min_time=1x", "--benchmark_out=" + output},
                         RLIMIT_NOFILE, 3, 1, {"Too many open files; raise the limit of open files (ulimit -n)"});
}

TEST_F(Exhaustion, SizesOfFiles) {
  const std::string advice = "File too large; raise the limit of the size of files (ulimit -f)";
  expectNamedUntilEnough("kiln-run-module",
                         {"--module=" + sample, "--function=fill", "--input=3000", "--output=@" + output}, RLIMIT_FSIZE,
                         1000, 1000, {advice});
  // The limit holds for what the test reads the table from, too.
  expectNamedUntilEnough("kiln-benchmark-module",
                         {"--module=" + sample, "--device=local-sync", "--function=fill", "--input=3",
                          "--benchmark_min_time=1x", "--benchmark_format=csv", "--benchmark_out=" + output},
                         RLIMIT_FSIZE, 700, 100, {advice});
}

TEST_F(Exhaustion, Threads) {
  ProcessOptions options;
  // A thread asks for as much memory as a stack may have.
  options.limits = {{RLIMIT_STACK, uint64_t(8) << 30}, {RLIMIT_AS, uint64_t(4) << 30}};
  std::vector<std::string> arguments = {"--module=" + sample, "--device=local-task", "--function=fill", "--input=3"};
  ProcessResult result = runTool("kiln-run-module", arguments, options);
  if (result.exitCode == 126)
    GTEST_SKIP() << "stacks of any size are not allowed here";
  expectNamed(result, {"cannot start worker thread 0 of"});
  EXPECT_CONTAINS(result.error, "raise the limit of threads (ulimit -u");
  arguments.push_back("--benchmark_min_time=1x");
  expectNamed(runTool("kiln-benchmark-module", arguments, options), {"cannot start worker thread 0 of"});
  arguments[1] = "--device=local-sync";
  EXPECT_EQ(runTool("kiln-benchmark-module", arguments, options).exitCode, 0) << "nothing needs a thread";
  arguments.insert(arguments.end(), {"--batch_size=2", "--batch_concurrency=2"});
  result = runTool("kiln-benchmark-module", arguments, options);
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_CONTAINS(result.out, "cannot start thread 1 of 2 that call the function");
}

} // namespace
} // namespace kiln::testing
