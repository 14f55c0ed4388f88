#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <utility>

#include "kiln/base/sanitized.h"
#include "kiln/tools/benchmark_report.h"
#include "tests/tools/sample_modules.h"
#include "tests/tools/tool_process.h"

namespace kiln::testing {
namespace {

using Arguments = std::vector<std::string>;

class BenchmarkModuleTest : public ::testing::Test {
protected:
  ProcessResult run(Arguments arguments, const ProcessOptions &options = {}) {
    arguments.insert(arguments.begin(), "--device=local-sync");
    if (std::ranges::none_of(arguments, [](const std::string &a) { return a.starts_with("--module="); }))
      arguments.insert(arguments.begin(), "--module=" + bench);
    if (std::ranges::none_of(arguments, [](const std::string &a) { return a.starts_with("--benchmark_min_time"); }))
      arguments.push_back("--benchmark_min_time=0.01");
    return runTool("kiln-benchmark-module", arguments, options);
  }

  // Longer than any of these tools needs to begin to measure, in a build with sanitizers too.
  static constexpr double kCpuSeconds = kSanitized ? 5 : 0.5;
  // Where they go on for ever, and would not end by themselves.
  static constexpr double kLong = 30;

  // In the call that has no end, after the rows before.
  static ProcessOptions interruptedInForever() {
    ProcessOptions options;
    options.whenPrinted = "BM_spin/";
    options.whenCpuSeconds = kCpuSeconds;
    return options;
  }

  // Ctrl-C. The JSON report that was kept.
  std::string keptReport(Arguments arguments, const ProcessOptions &options) {
    std::string report = folder / "kept.json";
    arguments.push_back("--benchmark_out=" + report);
    ProcessResult result = run(arguments, options);
    EXPECT_EQ(result.exitCode, 130) << result.error;
    EXPECT_LT(result.secondsAfterInterrupt, kLong);
    std::string text = readFile(report);
    EXPECT_TRUE(text.ends_with("]\n}\n")) << text;
    EXPECT_LACKS(text, "error_message");
    EXPECT_CONTAINS(result.out, "BM_spin/");
    return text;
  }

  // Each number that stands behind `"key": ` in a JSON report.
  static std::vector<double> numbers(const std::string &json, const std::string &key) {
    std::vector<double> found;
    std::string quoted = "\"" + key + "\": ";
    for (size_t at = json.find(quoted); at != std::string::npos; at = json.find(quoted, at + 1))
      found.push_back(std::strtod(json.c_str() + at + quoted.size(), nullptr));
    return found;
  }

  // The least of five processor times of a call, in nanoseconds: what others do on the machine is in real times.
  double leastTime(Arguments arguments) {
    for (const char *more : {"--benchmark_format=json", "--benchmark_repetitions=5", "--time_unit=ns"})
      arguments.push_back(more);
    ProcessResult result = run(arguments);
    std::vector<double> times = numbers(result.out, "cpu_time");
    EXPECT_GE(times.size(), 5u) << result.out << result.error;
    times.resize(5); // aggregates follow
    return *std::ranges::min_element(times);
  }

  Folder folder;
  std::string bench = folder.write("bench.vmfb", benchModule());
};

TEST_F(BenchmarkModuleTest, RowsOfFunctionsWithoutArgumentsAndOfMarkedOnes) {
  ProcessResult result = run({"--input=4xf32=1"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_CONTAINS(result.out, "Benchmark ");
  EXPECT_CONTAINS(result.out, "UserCounters...");
  EXPECT_CONTAINS(result.out, "BM_spin/process_time/real_time ");
  EXPECT_CONTAINS(result.out, "BM_allocate/process_time/real_time ");
  EXPECT_CONTAINS(result.out, "BM_marked/process_time/real_time ");
  EXPECT_CONTAINS(result.out, "items_per_second=");
  EXPECT_LACKS(result.out, "BM_takes");
  // ms for entry functions, us for dispatches.
  size_t spin = result.out.find("BM_spin/"), dispatch = result.out.find("BM_dispatch/");
  EXPECT_CONTAINS(result.out.substr(spin, result.out.find('\n', spin) - spin), " ms ");
  EXPECT_CONTAINS(result.out.substr(dispatch, result.out.find('\n', dispatch) - dispatch), " us ");
}

TEST_F(BenchmarkModuleTest, OneFunctionWithInputs) {
  ProcessResult result = run({"--function=@takes", "--input=4xf32=1", "--time_unit=us"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_CONTAINS(result.out, "BM_takes/process_time/real_time ");
  EXPECT_CONTAINS(result.out, " us ");
  EXPECT_LACKS(result.out, "BM_spin");
}

TEST_F(BenchmarkModuleTest, DocumentedAbs) {
  std::string module = folder.write("abs.vmfb", absModule());
  ProcessResult result =
      runTool("compat/iree-benchmark-module", {"--device=local-task", "--module=" + module, "--function=abs",
                                               "--input=f32=-2", "--benchmark_min_time=0.01"});
  EXPECT_EQ(result.exitCode, 0) << result.error;
  EXPECT_CONTAINS(result.out, "BM_abs/process_time/real_time ");
}

TEST_F(BenchmarkModuleTest, NumbersThatMakeNoSenseAreRefused) {
  for (const char *flag : {"--benchmark_repetitions=-1", "--benchmark_repetitions=0", "--benchmark_min_time=nan",
                           "--benchmark_min_time=-1", "--benchmark_min_time=0", "--benchmark_min_time=0x"}) {
    ProcessResult result = run({"--function=allocate", flag});
    EXPECT_EQ(result.exitCode, 1) << flag;
    EXPECT_CONTAINS(result.error, std::string(flag) + ": write ");
  }
}

// Calls are counted by what they allocate: 1024 bytes each. One call warms up.
TEST_F(BenchmarkModuleTest, EveryCallOfABatchIsMade) {
  for (const char *concurrency : {"1", "3"}) {
    for (int batch : {3, 5, 10}) {
      ProcessResult result =
          run({"--function=allocate", "--benchmark_min_time=30x", "--batch_size=" + std::to_string(batch),
               std::string("--batch_concurrency=") + concurrency, "--print_statistics", "--benchmark_format=json"});
      EXPECT_EQ(result.exitCode, 0) << result.error;
      EXPECT_EQ(numbers(result.out, "iterations"), std::vector<double>{30});
      int calls = 30 + std::stoi(concurrency);
      std::string allocated = std::to_string(1024 * calls) + "B allocated";
      EXPECT_CONTAINS(result.error, allocated);
    }
  }
}

TEST_F(BenchmarkModuleTest, TimeOfACallDoesNotDependOnTheBatch) {
  double one = leastTime({"--function=spin", "--batch_size=1"});
  double many = leastTime({"--function=spin", "--batch_size=64"});
  EXPECT_GT(one, 1000); // the loop has 2000 rounds: it was not skipped
  // A batch that is forgotten somewhere makes it 64 times as much, or as little; a busy machine does not.
  EXPECT_LT(many, 8 * one);
  EXPECT_GT(many, one / 8);
}

TEST_F(BenchmarkModuleTest, ItemsPerSecondAreCallsOrDispatches) {
  auto itemsPerCall = [&](const std::string &module) {
    ProcessResult result = run(
        {"--module=" + module, "--function=dispatch", "--benchmark_format=json", "--time_unit=ns", "--batch_size=4"});
    EXPECT_EQ(result.exitCode, 0) << result.error;
    std::vector<double> times = numbers(result.out, "real_time"), rates = numbers(result.out, "items_per_second");
    if (times.size() != 1 || rates.size() != 1) {
      ADD_FAILURE() << result.out;
      return 0.0;
    }
    return rates[0] * times[0] * 1e-9;
  };
  EXPECT_NEAR(itemsPerCall(bench), 1, 0.001);
  EXPECT_NEAR(itemsPerCall(folder.write("repeat.vmfb", benchModule("10"))), 10, 0.01);
  ProcessResult bad = run({"--module=" + folder.write("bad.vmfb", benchModule("x")), "--function=dispatch"});
  EXPECT_EQ(bad.exitCode, 1);
  EXPECT_CONTAINS(bad.error, "kiln.dispatch_repeat_count is 'x'");
}

TEST_F(BenchmarkModuleTest, FailuresAreRows) {
  ProcessResult result = run({"--module=" + folder.write("failing.vmfb", failingModule())});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_CONTAINS(result.out, "BM_good/process_time/real_time ");
  EXPECT_CONTAINS(result.out, "BM_fails/process_time/real_time ERROR OCCURRED: 'went wrong");
  // @marked takes an input, and gets none.
  ProcessResult marked = run({});
  EXPECT_EQ(marked.exitCode, 1);
  EXPECT_CONTAINS(marked.out, "BM_spin/process_time/real_time ");
  EXPECT_CONTAINS(marked.out, "ERROR OCCURRED: '@marked takes 1 input, and 0 are given");
  ProcessResult shape = run({"--function=takes", "--input=5xf32"});
  EXPECT_EQ(shape.exitCode, 1);
  EXPECT_CONTAINS(shape.out, "expected 4xf32, got 5xf32");
}

TEST_F(BenchmarkModuleTest, NothingToRun) {
  ProcessResult result = run({"--module=" + folder.write("abs.vmfb", absModule())});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_CONTAINS(result.error, "no function of the module can be called without inputs; choose one with --function");
  EXPECT_CONTAINS(result.error, "@abs");
  // The only function is what inputs are for.
  ProcessResult only = run({"--module=" + folder.write("abs.vmfb", absModule()), "--input=f32=-2"});
  EXPECT_EQ(only.exitCode, 0) << only.error;
  EXPECT_CONTAINS(only.out, "BM_abs/process_time/real_time ");
  ProcessResult filtered = run({"--benchmark_filter=none_of_them"});
  EXPECT_EQ(filtered.exitCode, 1);
}

TEST_F(BenchmarkModuleTest, LibraryFlags) {
  ProcessResult repeated = run({"--function=spin", "--benchmark_repetitions=3"});
  EXPECT_CONTAINS(repeated.out, "BM_spin/process_time/real_time_median ");
  std::string report = folder / "report.json";
  ProcessResult written = run({"--function=spin", "--benchmark_out=" + report, "--benchmark_out_format=json"});
  EXPECT_EQ(written.exitCode, 0);
  EXPECT_EQ(numbers(readFile(report), "items_per_second").size(), 1u);
  EXPECT_CONTAINS(run({"--benchmark_list_tests"}).out, "BM_spin/process_time/real_time\n");
  EXPECT_CONTAINS(run({"--function=spin", "--benchmark_min_time=0.01s"}).out, "BM_spin/process_time/real_time ");
  EXPECT_CONTAINS(run({"--function=spin", "--benchmark_time_unit=us"}).out, " us ");
}

TEST_F(BenchmarkModuleTest, InterruptedItKeepsTheRowsBefore) {
  std::string module = "--module=" + folder.write("endless.vmfb", endlessModule());
  std::string kept = keptReport({module, "--benchmark_repetitions=2"}, interruptedInForever());
  EXPECT_EQ(numbers(kept, "repetition_index"), (std::vector<double>{0, 1})) << kept;
  EXPECT_LACKS(kept, "BM_forever");
}

TEST_F(BenchmarkModuleTest, InterruptedItKeepsTheRepetitionsBefore) {
  ProcessOptions options;
  options.whenCpuSeconds = 2 * kCpuSeconds;
  std::string kept =
      keptReport({"--function=spin", "--benchmark_repetitions=400", "--benchmark_min_time=0.1"}, options);
  size_t made = numbers(kept, "repetition_index").size();
  ASSERT_GE(made, 2u) << kept;
  std::vector<double> times = numbers(kept, "real_time");
  ASSERT_GT(times.size(), made);
  double sum = std::accumulate(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(made), 0.0);
  EXPECT_NEAR(times[made], sum / double(made), 1e-3 * times[made]) << "the mean is of those that were made: " << kept;
  EXPECT_CONTAINS(kept, "\"aggregate_name\": \"median\"");
}

TEST_F(BenchmarkModuleTest, WhatInterruptedItIsSaid) {
  std::string module = "--module=" + folder.write("endless.vmfb", endlessModule());
  ProcessResult interrupted = run({module}, interruptedInForever());
  EXPECT_EQ(interrupted.exitCode, 130);
  EXPECT_TRUE(std::regex_search(interrupted.error,
                                std::regex("kiln-benchmark-module: error: interrupted after [0-9.]+ s while measuring "
                                           "forever; what was measured before is in the report\n")))
      << interrupted.error;
  ProcessResult late = run({module, "--timeout=4"}); // long beside the rows before
  EXPECT_EQ(late.exitCode, 124);
  EXPECT_CONTAINS(late.out, "BM_spin/");
  EXPECT_CONTAINS(late.error, "error: --timeout=4: ended after ");
  EXPECT_CONTAINS(late.error, " s while measuring forever; what was measured before is in the report");
}

TEST_F(BenchmarkModuleTest, InterruptedInABatchItEnds) {
  std::string module = "--module=" + folder.write("endless.vmfb", endlessModule());
  ProcessOptions options;
  options.whenCpuSeconds = 2 * kCpuSeconds;
  ProcessResult result = run({module, "--batch_size=1000000000", "--batch_concurrency=2"}, options);
  EXPECT_EQ(result.exitCode, 130) << result.error;
  EXPECT_LT(result.secondsAfterInterrupt, kLong);
}

TEST_F(BenchmarkModuleTest, OfRepetitionsThatWereMadeItIsSaidHowMany) {
  ProcessResult result = run({"--function=spin", "--benchmark_repetitions=1000", "--benchmark_min_time=0.1",
                              "--benchmark_out=" + (folder / "report.json"), "--timeout=2"});
  EXPECT_EQ(result.exitCode, 124) << result.error;
  std::string report = readFile(folder / "report.json");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(report, found, std::regex("\"repetitions\": ([0-9]+)"))) << report;
  int made = std::stoi(found[1]);
  EXPECT_GE(made, 2);
  EXPECT_LT(made, 1000);
  std::regex mean(fmt::format("\"aggregate_name\": \"mean\",[^}}]*\"iterations\": {},", made));
  EXPECT_TRUE(std::regex_search(report, mean)) << report;
}

TEST_F(BenchmarkModuleTest, ReportsThatCannotBeWritten) {
  ProcessResult device = run({"--function=spin", "--benchmark_out=/dev/full"});
  EXPECT_EQ(device.exitCode, 1);
  EXPECT_CONTAINS(device.error, "error: cannot write '/dev/full': No space left on device");
  ProcessResult missing = run({"--function=spin", "--benchmark_out=" + (folder / "none/x.json")});
  EXPECT_EQ(missing.exitCode, 1);
  EXPECT_CONTAINS(missing.error, "the folder '" + (folder / "none") + "' does not exist");
  EXPECT_EQ(missing.out, ""); // told before anything is measured
  ProcessOptions full;
  full.outputPath = "/dev/full";
  ProcessResult console =
      runTool("kiln-benchmark-module", {"--module=" + bench, "--function=spin", "--benchmark_min_time=0.01"}, full);
  EXPECT_EQ(console.exitCode, 1);
  EXPECT_CONTAINS(console.error, "cannot write to standard output: No space left on device");
  EXPECT_CONTAINS(run({"--benchmark_format=xml"}).error, "'xml' is not one of console|json|csv");
}

TEST_F(BenchmarkModuleTest, TheBuildTypeIsThatOfThisBuild) {
#ifdef NDEBUG
  constexpr bool isDebug = false;
#else
  constexpr bool isDebug = true;
#endif
  std::string report = folder / "report.csv";
  ProcessResult console =
      run({"--function=spin", "--benchmark_out=" + report, "--benchmark_out_format=csv", "--benchmark_min_time=1x"});
  EXPECT_CONTAINS(console.error, "Run on (");
  for (const std::string &text : {console.error, readFile(report)})
    EXPECT_EQ(text.find("***WARNING*** Kiln was built as DEBUG") != text.npos, isDebug) << text;
  EXPECT_LACKS(console.error + readFile(report), "Library was built as DEBUG");
  EXPECT_CONTAINS(readFile(report), "\"BM_spin/iterations:1/process_time/real_time\",1,");
  std::string json = run({"--function=spin", "--benchmark_format=json", "--benchmark_min_time=1x"}).out;
  EXPECT_CONTAINS(json, isDebug ? "\"library_build_type\": \"debug\"" : "\"library_build_type\": \"release\"");
}

TEST(BenchmarkReport, RoundingUpToAPowerOfTenShowsNoFourthDigit) {
  for (auto [time, text] : {std::pair(0.0999996, "0.100"),
                            {0.000099996, "0.000100"},
                            {0.0000999, "0.0000999"},
                            {0.0001, "0.000100"},
                            {0.01004, "0.0100"},
                            {0.00999, "0.00999"}})
    EXPECT_EQ(fmt::format("{:.{}f}", time, decimalsOfThreeDigits(time)), text);
  EXPECT_EQ(decimalsOfThreeDigits(1e-300), 15);
}

// A call of some microseconds in a column of milliseconds. On a busy machine a mean may be of some milliseconds, which
// the library shows as it does.
TEST_F(BenchmarkModuleTest, ShortTimesHaveThreeDigits) {
  for (const char *color : {"false", "true"}) {
    ProcessResult result = run({"--module=" + folder.write("good.vmfb", failingModule()), "--function=good",
                                "--benchmark_repetitions=3", std::string("--benchmark_color=") + color});
    EXPECT_EQ(result.exitCode, 0) << result.error;
    const std::string time = R"((?:0\.0*[1-9][0-9]{2}|[1-9][0-9]*(?:\.[0-9]+)?))";
    std::regex times(fmt::format("real_time(?:_mean|_median)? *(?:\x1b\\[[0-9;]*m)* +{0} ms +{0} ms ", time));
    auto first = std::sregex_iterator(result.out.begin(), result.out.end(), times);
    EXPECT_EQ(std::distance(first, std::sregex_iterator()), 5) << result.out;
    EXPECT_CONTAINS(result.out, "_cv");
  }
}

// A document has this spelling.
TEST_F(BenchmarkModuleTest, MisspeltLibraryFlagsOnlyWarn) {
  ProcessResult result = run({"--function=spin", "--benchmark_repitions=50"});
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_CONTAINS(result.error,
                  "warning: unknown flag '--benchmark_repitions'; did you mean '--benchmark_repetitions'?");
  EXPECT_EQ(run({"--function=spin", "--batch_sise=2"}).exitCode, 1);
}

TEST_F(BenchmarkModuleTest, WrongBatches) {
  EXPECT_CONTAINS(run({"--batch_size=0"}).error, "a batch has at least one call");
  EXPECT_CONTAINS(run({"--batch_concurrency=0"}).error, "at least one thread");
  EXPECT_CONTAINS(run({"--batch_concurrency=4", "--batch_size=2"}).error, "at least as many calls as threads");
}

} // namespace
} // namespace kiln::testing
