// kiln-benchmark-module: times calls of a module's functions with Google Benchmark.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include <benchmark/benchmark.h>

#include "kiln/runtime/module/module.h"
#include "kiln/tools/benchmark_calls.h"
#include "kiln/tools/benchmark_report.h"
#include "kiln/tools/call_arguments.h"
#include "kiln/tools/declaration.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/runtime_flags.h"

using namespace kiln;

namespace {

struct BenchmarkFlags {
  RuntimeFlags runtime;
  uint64_t batchSize = 1;
  uint32_t batchConcurrency = 1;
  std::string timeUnit = "auto";
  std::vector<std::string> library; // Google Benchmark's own

  void add(FlagParser &parser) {
    runtime.addProgramFlags(parser, /*withModules=*/true);
    parser.group("Measurement");
    parser.add(
        {"batch_size", "N",
         "How many calls are made between two looks at the clock. All of them are made and counted: Time stays the "
         "time of one call."},
        batchSize);
    parser.add(
        {"batch_concurrency", "N",
         "How many threads share the calls of a batch, each with a session of its own. Time is then the time of a "
         "batch divided by its calls."},
        batchConcurrency);
    parser.addChoice({"time_unit", "auto|ms|us|ns", "Of the columns. auto is us for dispatch functions, else ms."},
                     timeUnit);
    runtime.addDeviceFlags(parser);
    parser.group("Google Benchmark");
    parser.passThrough(
        {{"benchmark_list_tests", "", "Lists what would run."},
         {"benchmark_filter", "REGEX", "Runs only benchmarks whose names match; -REGEX those that do not."},
         {"benchmark_min_time", "SECONDS", "Least time of a repetition; Nx for N calls. Default: 0.5."},
         {"benchmark_min_warmup_time", "SECONDS", "How long to warm up. Default: 0."},
         {"benchmark_repetitions", "N", "Measures N times, and adds mean, median and deviation. Default: 1."},
         {"benchmark_enable_random_interleaving", "", "Repetitions of all benchmarks in random order."},
         {"benchmark_report_aggregates_only", "", "Leaves single repetitions out of all reports."},
         {"benchmark_display_aggregates_only", "", "Leaves them out of the console."},
         {"benchmark_format", "console|json|csv", "What is printed. Default: console."},
         {"benchmark_out", "FILE", "Writes a report to a file too."},
         {"benchmark_out_format", "json|console|csv", "Its format. Default: json."},
         {"benchmark_color", "auto|true|false", "Colours on the console. Default: auto, on a terminal."},
         {"benchmark_counters_tabular", "", "Counters as columns."},
         {"benchmark_context", "KEY=VALUE,...", "Added to the report."},
         {"benchmark_perf_counters", "NAME,...", "Hardware counters, where the library has them."},
         {"benchmark_time_unit", "ms|us|ns|s", "Like --time_unit."},
         {"v", "N", "How much the library says of what it does. Default: 0."}},
        "benchmark_", library);
    parser.example("kiln-benchmark-module --module=matmul.vmfb --function=matmul "
                   "--input=512x512xf32=@a.bin --input=@b.npy --benchmark_repetitions=9");
  }
};

// One row of the report.
struct Row {
  std::string name;     // of the function
  std::string function; // as it is looked up: with its module where --function says so
  bool isDispatch = false;
  CallArguments arguments;
  uint64_t itemsPerCall = 1;
  std::unique_ptr<CallBatch> calls; // made at the first run
  Status status;                    // the first failure
};

// How often the module's dispatches repeat themselves within a call.
Result<uint64_t> dispatchRepeatCount(const vm::Module &module) {
  for (const vm::AttributeInfo &attribute : module.attributes()) {
    if (attribute.key != "kiln.dispatch_repeat_count")
      continue;
    uint64_t count = 0;
    auto [end, error] = std::from_chars(attribute.value.data(), attribute.value.data() + attribute.value.size(), count);
    if (error != std::errc() || end != attribute.value.data() + attribute.value.size() || count == 0)
      return dataLoss("the module's kiln.dispatch_repeat_count is '{}', which is no number above 0", attribute.value);
    return count;
  }
  return uint64_t(1);
}

// Whether a function runs without --function asking for it.
bool runsUnasked(const vm::Function &function) {
  // A dumped dispatch also answers to its program's function; that second name is for those who ask for it.
  if (!function.attribute("kiln.alias").empty())
    return false;
  return function.argumentCount() == 0 || !function.attribute("kiln.benchmark").empty();
}

Result<std::vector<Row>> chooseRows(const Program &program, const RuntimeFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<vm::Session> session, program.createSession());
  std::vector<vm::Function> functions;
  if (!flags.function.empty()) {
    KILN_ASSIGN_OR_RETURN(vm::Function function, findFunction(*session, flags.function));
    functions.push_back(function);
  } else {
    functions = session->exports();
    std::string takingArguments;
    for (const vm::Function &function : functions)
      takingArguments += "\n  " + describeFunction(function);
    // The only function is what inputs are meant for.
    if (functions.size() != 1 || flags.inputs.empty())
      std::erase_if(functions, [](const vm::Function &function) { return !runsUnasked(function); });
    if (functions.empty())
      return invalidArgument("no function of the module can be called without inputs; choose one with --function, and "
                             "give it --input flags:{}",
                             takingArguments.empty() ? " it exports none" : takingArguments);
  }
  KILN_ASSIGN_OR_RETURN(uint64_t itemsPerCall, dispatchRepeatCount(program.mainModule()));
  std::vector<Row> rows;
  for (const vm::Function &function : functions) {
    Row row;
    row.name = function.name();
    row.function = flags.function.empty() ? row.name : flags.function.substr(flags.function.starts_with('@'));
    row.isDispatch = function.attribute("kiln.benchmark") == "dispatch";
    row.itemsPerCall = itemsPerCall;
    // Without --function, inputs are for those that take some.
    std::span<const std::string> inputs = flags.inputs;
    if (flags.function.empty() && function.argumentCount() == 0)
      inputs = {};
    Result<CallArguments> arguments = readArguments(function, inputs, program.device());
    if (arguments.ok())
      row.arguments = *std::move(arguments);
    else if (flags.function.empty())
      row.status = arguments.status(); // the others can still be measured
    else
      return std::move(arguments).status();
    rows.push_back(std::move(row));
  }
  return rows;
}

// The function that Google Benchmark calls, several times for each row: first to find how many calls fill the time.
Status measure(benchmark::State &state, const Program &program, const BenchmarkFlags &flags, Row &row) {
  KILN_RETURN_IF_ERROR(row.status);
  if (!row.calls) {
    KILN_ASSIGN_OR_RETURN(row.calls,
                          CallBatch::create(program, row.function, row.arguments.values, flags.batchConcurrency));
    // The first call maps pages and records command buffers; a long-running function would be measured by it alone.
    KILN_RETURN_IF_ERROR(explainCall(row.calls->run(flags.batchConcurrency), row.arguments));
  }
  // The library counts a batch as as many iterations as it has calls, and all of them are made.
  while (state.KeepRunningBatch(flags.batchSize))
    KILN_RETURN_IF_ERROR(row.calls->run(flags.batchSize));
  state.SetItemsProcessed(state.iterations() * row.itemsPerCall);
  return okStatus();
}

// Ends a repetition that was interrupted. The library ends the process where repetitions have unequal counts of calls,
// so that what is left of them counts as made; reports leave the repetition out.
void skipInterrupted(benchmark::State &state, uint64_t batchSize) {
  uint64_t calls = (state.max_iterations + batchSize - 1) / batchSize * batchSize;
  if (uint64_t left = calls - uint64_t(state.iterations()))
    (void)state.KeepRunningBatch(benchmark::IterationCount(left));
  state.SkipWithError(kInterrupted);
}

benchmark::TimeUnit timeUnit(const BenchmarkFlags &flags, const Row &row) {
  if (flags.timeUnit == "ns")
    return benchmark::kNanosecond;
  if (flags.timeUnit == "us")
    return benchmark::kMicrosecond;
  if (flags.timeUnit == "s")
    return benchmark::kSecond;
  return flags.timeUnit == "auto" && row.isDispatch ? benchmark::kMicrosecond : benchmark::kMillisecond;
}

// "--benchmark_min_time=5x": that many calls, which this version of the library does not know; "=0.5s" is 0.5. Taken
// out of, or changed in, the library's flags.
uint64_t takeFixedIterations(std::vector<std::string> &flags) {
  constexpr std::string_view name = "--benchmark_min_time=";
  uint64_t iterations = 0;
  std::erase_if(flags, [&](std::string &flag) {
    if (!flag.starts_with(name))
      return false;
    if (flag.ends_with('s'))
      flag.pop_back();
    if (!flag.ends_with('x'))
      return false;
    auto [end, error] = std::from_chars(flag.data() + name.size(), flag.data() + flag.size() - 1, iterations);
    return error == std::errc() && end == flag.data() + flag.size() - 1 && iterations > 0;
  });
  return iterations;
}

bool isCount(std::string_view text) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 1'000'000;
}

bool isTimeOrCalls(std::string_view text) {
  if (text.ends_with('x'))
    return isCount(text.substr(0, text.size() - 1));
  if (text.ends_with('s'))
    text.remove_suffix(1);
  double seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size() && seconds > 0 && seconds < 1e6;
}

Status checkFlags(BenchmarkFlags &flags) {
  if (flags.batchSize == 0)
    return invalidArgument("--batch_size=0: a batch has at least one call");
  if (flags.batchConcurrency == 0)
    return invalidArgument("--batch_concurrency=0: at least one thread calls");
  if (flags.batchConcurrency > flags.batchSize)
    return invalidArgument(
        "--batch_concurrency={} with --batch_size={}: a batch needs at least as many calls as threads",
        flags.batchConcurrency, flags.batchSize);
  // The library takes numbers as they come, and ends the process, runs for ever or shows nothing where they make no
  // sense.
  for (const std::string &flag : flags.library) {
    std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    std::string text = flag.substr(std::min(name.size() + 1, flag.size()));
    if (name == "--benchmark_repetitions" && !isCount(text))
      return invalidArgument("{}: write how many repetitions, 1 or more", flag);
    if (name == "--benchmark_min_time" && !isTimeOrCalls(text))
      return invalidArgument("{}: write seconds above 0, as in 0.5s, or a number of calls, as in 100x", flag);
  }
  std::erase_if(flags.library, [&](const std::string &flag) {
    constexpr std::string_view name = "--benchmark_time_unit=";
    if (flag.starts_with(name))
      flags.timeUnit = flag.substr(name.size());
    return flag.starts_with(name);
  });
  return okStatus();
}

Result<bool> run(BenchmarkFlags &flags) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  KILN_RETURN_IF_ERROR(flags.runtime.startTimeout());
  KILN_RETURN_IF_ERROR(checkFlags(flags));
  uint64_t iterations = takeFixedIterations(flags.library);
  KILN_ASSIGN_OR_RETURN(ReportFlags report, takeReportFlags(flags.library));

  KILN_ASSIGN_OR_RETURN(Program program, Program::open(flags.runtime));
  KILN_ASSIGN_OR_RETURN(std::vector<Row> rows, chooseRows(program, flags.runtime));

  std::string name = "kiln-benchmark-module";
  std::vector<char *> argv = {name.data()};
  for (std::string &flag : flags.library)
    argv.push_back(flag.data());
  int argc = int(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1)
    return invalidArgument("Google Benchmark does not accept {}", argv[1]);

  for (Row &row : rows) {
    auto *registered = benchmark::RegisterBenchmark(("BM_" + row.name).c_str(), [&](benchmark::State &state) {
      if (!isInterrupted()) {
        setStep(fmt::format("while measuring {}; what was measured before is in the report", row.name));
        row.status = measure(state, program, flags, row);
      }
      if (isInterrupted())
        skipInterrupted(state, flags.batchSize);
      else if (!row.status.ok())
        state.SkipWithError(std::string(row.status.message()).c_str());
    });
    registered->MeasureProcessCPUTime()->UseRealTime()->Unit(timeUnit(flags, row));
    if (iterations)
      registered->Iterations(int64_t(iterations));
  }
  KILN_ASSIGN_OR_RETURN(size_t ran, runAndReport(report));
  benchmark::Shutdown();
  if (isInterrupted())
    return false;

  bool succeeded = ran > 0 && std::ranges::all_of(rows, [](const Row &row) { return row.status.ok(); });
  if (ran == 0)
    reportFailure("kiln-benchmark-module", notFound("--benchmark_filter matches none of the benchmarks"));
  rows.clear();
  if (flags.runtime.printStatistics)
    program.printStatistics();
  KILN_RETURN_IF_ERROR(program.verifyMemory());
  return succeeded;
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-benchmark-module");
  catchInterrupts([] { reportInterrupted("kiln-benchmark-module"); });
  FlagParser parser(
      "kiln-benchmark-module",
      "Times calls of a module's functions, allocating and freeing results included. Without --function it "
      "times each exported function that takes no arguments or is marked as a benchmark, or with inputs the "
      "only one. Each row has the time of one call, and items_per_second: calls per second, or dispatches per second "
      "where the module "
      "was compiled with a dispatch repeat count.");
  BenchmarkFlags flags;
  flags.add(parser);
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  flags.runtime.printNotes(parser.tool());
  Result<bool> succeeded = run(flags);
  if (!succeeded.ok())
    return reportEnd(parser.tool(), succeeded.status());
  if (isInterrupted())
    return reportInterrupted(parser.tool());
  return *succeeded ? 0 : 1;
}
