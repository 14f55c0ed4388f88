#include "kiln/tools/benchmark_report.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <streambuf>
#include <string_view>
#include <unistd.h>

#include <benchmark/benchmark.h>

#include "kiln/base/file.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/interrupts.h"

namespace kiln {

namespace {

#ifdef NDEBUG
constexpr std::string_view kBuildType = "release";
#else
constexpr std::string_view kBuildType = "debug";
#endif

// Replaces the value of "library_build_type" in the context of a JSON report.
std::string withBuildType(std::string text) {
  constexpr std::string_view key = "\"library_build_type\": \"";
  size_t start = text.find(key);
  if (start == std::string::npos)
    return text;
  start += key.size();
  return text.replace(start, text.find('"', start) - start, kBuildType);
}

// The library warns where it was itself built without NDEBUG, as packages of distributions are, optimized all the same;
// what is measured is Kiln's code.
std::string withWarning(std::string text) {
  constexpr std::string_view warning = "***WARNING*** Library was built as DEBUG";
  if (size_t start = text.find(warning); start != std::string::npos)
    text.erase(start, std::min(text.find('\n', start), text.size() - 1) + 1 - start);
  if (kBuildType == "debug")
    text += "***WARNING*** Kiln was built as DEBUG. Timings may be affected.\n";
  return text;
}

// A column of the table as the library writes it where the time is below 1, which is where its decimals get few.
std::string timeColumn(double time, const char *unit, int decimals) {
  return fmt::format("{:10.{}f} {:<4}", time, decimals, unit);
}

// Gives a time that is too small for three decimals as many as show three digits.
void widen(std::string &row, size_t at, double time, const char *unit) {
  if (at == std::string::npos || !(time > 0) || time >= 0.1)
    return;
  row.replace(at, timeColumn(time, unit, 3).size(), timeColumn(time, unit, decimalsOfThreeDigits(time)));
}

// Held by whoever writes a report: where the benchmarks are interrupted in a long call, another thread ends it.
std::recursive_mutex reporting;

// One of the library's reporters, which writes its table, JSON or CSV to `stream`. What is said besides goes to
// standard error, or into the file too.
template <typename Base> class Reporter : public Base {
public:
  template <typename... Arguments>
  Reporter(std::ostream &stream, bool isFile, Arguments... arguments)
      : Base(arguments...), stream(stream), isFile(isFile) {
    this->SetOutputStream(&stream);
  }

  bool ReportContext(const benchmark::BenchmarkReporter::Context &context) override {
    std::lock_guard lock(reporting);
    isBegun = true;
    std::ostream &error = isFile ? stream : this->GetErrorStream();
    std::ostringstream out, notes;
    this->SetOutputStream(&out);
    this->SetErrorStream(&notes);
    bool goesOn = Base::ReportContext(context);
    this->SetOutputStream(&stream);
    this->SetErrorStream(&error);
    error << withWarning(notes.str());
    stream << withBuildType(out.str());
    return goesOn;
  }

  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run> &runs) override {
    std::lock_guard lock(reporting);
    std::vector<benchmark::BenchmarkReporter::Run> whole;
    for (const benchmark::BenchmarkReporter::Run &run : runs)
      if (!(run.error_occurred && run.error_message == kInterrupted))
        whole.push_back(run);
    if (whole.empty())
      return;
    // What is said of all repetitions comes after them, and would say that all that were asked for were made.
    bool areAggregates = whole.front().run_type == benchmark::BenchmarkReporter::Run::RT_Aggregate;
    if (!areAggregates)
      repetitions = whole.size() < runs.size() ? std::optional(int64_t(whole.size())) : std::nullopt;
    for (benchmark::BenchmarkReporter::Run &run : whole)
      if (repetitions) {
        run.repetitions = *repetitions;
        if (!areAggregates)
          continue;
        // Times are told divided by the iterations, which are the repetitions that were asked for.
        double share = double(*repetitions) / double(std::max<int64_t>(run.iterations, 1));
        if (run.aggregate_unit == benchmark::StatisticUnit::kTime) {
          run.real_accumulated_time *= share;
          run.cpu_accumulated_time *= share;
        }
        run.iterations = *repetitions;
      }
    Base::ReportRuns(whole);
  }

  void Finalize() override {
    std::lock_guard lock(reporting);
    if (std::exchange(isBegun, false))
      Base::Finalize();
  }

private:
  std::ostream &stream;
  const bool isFile;
  bool isBegun = false;               // and not ended yet
  std::optional<int64_t> repetitions; // that were made, of a benchmark that was interrupted
};

class ConsoleReporter final : public Reporter<benchmark::ConsoleReporter> {
public:
  using Reporter::Reporter;

protected:
  void PrintRunData(const Run &run) override {
    std::ostream &stream = GetOutputStream();
    std::ostringstream out;
    SetOutputStream(&out);
    benchmark::ConsoleReporter::PrintRunData(run);
    SetOutputStream(&stream);
    std::string row = out.str();
    bool isTime = run.run_type != Run::RT_Aggregate || run.aggregate_unit == benchmark::StatisticUnit::kTime;
    if (isTime && !run.error_occurred) {
      const char *unit = benchmark::GetTimeUnitString(run.time_unit);
      double real = run.GetAdjustedRealTime(), cpu = run.GetAdjustedCPUTime();
      // CPU first: the columns before it stay where they are. Where both times look the same, it is the second one.
      widen(row, row.rfind(timeColumn(cpu, unit, 3)), cpu, unit);
      widen(row, row.find(timeColumn(real, unit, 3)), real, unit);
    }
    stream << row;
  }
};

std::unique_ptr<benchmark::BenchmarkReporter> createReporter(const std::string &format, std::ostream &stream,
                                                             bool isFile, int consoleOptions) {
  if (format == "json")
    return std::make_unique<Reporter<benchmark::JSONReporter>>(stream, isFile);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // the library means to drop CSV one day
  if (format == "csv")
    return std::make_unique<Reporter<benchmark::CSVReporter>>(stream, isFile);
#pragma GCC diagnostic pop
  return std::make_unique<ConsoleReporter>(stream, isFile, benchmark::ConsoleReporter::OutputOptions(consoleOptions));
}

// Standard output as a stream that remembers why a write failed, for flushStandardOutput to tell.
class StandardOutput final : public std::streambuf {
protected:
  int overflow(int c) override {
    char character = char(c);
    if (c != traits_type::eof())
      print({&character, 1});
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char *text, std::streamsize size) override {
    print({text, size_t(size)});
    return size;
  }
  int sync() override { return flushStandardOutput().ok() ? 0 : -1; }
};

// The value of the last flag of that name, or of the environment variable that stands for it. A flag without a value
// has "".
std::optional<std::string> valueOf(std::string_view name, std::span<const std::string> flags) {
  for (size_t i = flags.size(); i-- > 0;) {
    std::string_view flag = std::string_view(flags[i]).substr(2); // after the dashes
    if (flag.starts_with(name) && (flag.size() == name.size() || flag[name.size()] == '='))
      return std::string(flag.substr(std::min(name.size() + 1, flag.size())));
  }
  std::string variable(name);
  std::ranges::transform(variable, variable.begin(), [](char c) { return char(std::toupper(c)); });
  if (const char *value = std::getenv(variable.c_str()))
    return value;
  return std::nullopt;
}

bool isTrue(std::string_view value) {
  constexpr std::string_view no[] = {"0", "n", "no", "N", "NO", "f", "false", "F", "FALSE", "off", "OFF"};
  return std::ranges::find(no, value) == std::end(no);
}

bool terminalHasColors() {
  const char *terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && terminal && *terminal && std::string_view(terminal) != "dumb";
}

Status readFormat(std::string_view name, std::span<const std::string> flags, std::string &format) {
  if (std::optional<std::string> value = valueOf(name, flags))
    format = *std::move(value);
  if (format != "console" && format != "json" && format != "csv")
    return invalidArgument("--{}={}: '{}' is not one of console|json|csv", name, format, format);
  return okStatus();
}

} // namespace

Result<ReportFlags> takeReportFlags(std::vector<std::string> &libraryFlags) {
  ReportFlags flags;
  KILN_RETURN_IF_ERROR(readFormat("benchmark_format", libraryFlags, flags.format));
  KILN_RETURN_IF_ERROR(readFormat("benchmark_out_format", libraryFlags, flags.fileFormat));
  flags.file = valueOf("benchmark_out", libraryFlags).value_or("");
  std::string color = valueOf("benchmark_color", libraryFlags).value_or("auto");
  flags.color = color == "auto" ? terminalHasColors() : isTrue(color);
  flags.tabular = isTrue(valueOf("benchmark_counters_tabular", libraryFlags).value_or("false"));
  // The library calls a second reporter only if it may open a file for it, and would not see that file fill up.
  if (!flags.file.empty())
    libraryFlags.emplace_back("--benchmark_out=/dev/null");
  return flags;
}

namespace {

struct Reports {
  static Result<std::shared_ptr<Reports>> open(const ReportFlags &flags) {
    using Console = benchmark::ConsoleReporter;
    auto reports = std::make_shared<Reports>();
    int options = (flags.color ? Console::OO_Color : 0) | (flags.tabular ? Console::OO_Tabular : 0);
    reports->display = createReporter(flags.format, reports->out, /*isFile=*/false, options);
    if (flags.file.empty())
      return reports;
    // Early: a benchmark of minutes must not end in a misspelt folder.
    KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(flags.file));
    reports->file.emplace(std::move(file));
    reports->second = createReporter(flags.fileFormat, reports->text, /*isFile=*/true, Console::OO_None);
    return reports;
  }

  // Once; ends what the library has not.
  Status finish() {
    std::lock_guard lock(reporting);
    if (std::exchange(isFinished, true))
      return okStatus();
    display->Finalize();
    Status shown = flushStandardOutput();
    if (!file)
      return shown;
    second->Finalize();
    // A list of what would run is no report.
    if (std::string report = text.str(); !report.empty()) {
      KILN_RETURN_IF_ERROR(file->write(report));
      KILN_RETURN_IF_ERROR(file->commit());
    }
    return shown;
  }

  StandardOutput buffer;
  std::ostream out{&buffer};
  std::ostringstream text;
  std::optional<OutputFile> file;
  std::unique_ptr<benchmark::BenchmarkReporter> display, second;
  bool isFinished = false;
};

} // namespace

// The library opens files one at a time, and ends the process with a message of its own where it cannot.
static Status checkDescriptors() {
  FileDescriptor spare(::dup(STDERR_FILENO));
  return spare || errno == EBADF ? okStatus() : errnoStatus(errno, "cannot open what Google Benchmark reads");
}

Result<size_t> runAndReport(const ReportFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<Reports> reports, Reports::open(flags));
  catchInterrupts([reports] {
    (void)reports->finish();
    reportInterrupted("kiln-benchmark-module");
  });
  KILN_RETURN_IF_ERROR(checkDescriptors());
  size_t ran = benchmark::RunSpecifiedBenchmarks(reports->display.get(), reports->second.get());
  KILN_RETURN_IF_ERROR(reports->finish());
  return ran;
}

} // namespace kiln
