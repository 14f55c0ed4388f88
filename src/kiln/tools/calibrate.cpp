// kiln-calibrate: measures how fast this machine can be, and stores it for reports to compare with.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <unistd.h>

#include "kiln/base/file.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/tools/cache_path.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"

using namespace kiln;
using measure::Calibration;

namespace {

struct Options {
  std::vector<std::string> threads;
  std::string output;
  uint32_t seconds = 30;
  bool quick = false;
  bool json = false;
  bool show = false;
};

//===--- Tables ---------------------------------------------------------------------------------------------------===//

// The numbers of threads that get a column: at most four, the ends among them.
std::vector<unsigned> shownCounts(const Calibration &calibration) {
  std::set<unsigned> all;
  for (const measure::ArithmeticRate &rate : calibration.arithmetic)
    all.insert(rate.threads);
  for (const measure::Bandwidth &entry : calibration.bandwidth)
    all.insert(entry.threads);
  std::vector<unsigned> counts(all.begin(), all.end());
  constexpr size_t columns = 4;
  if (counts.size() <= columns)
    return counts;
  std::vector<unsigned> shown;
  for (size_t i = 0; i < columns; ++i)
    shown.push_back(counts[i * (counts.size() - 1) / (columns - 1)]);
  return shown;
}

// A row's label, and its speed by number of threads.
struct Row {
  std::string label;
  std::map<unsigned, measure::Speed> speeds;
};

std::string tableText(std::string_view head, const std::vector<Row> &rows, const std::vector<unsigned> &counts) {
  std::string text = fmt::format("{:<27}", head);
  for (unsigned count : counts)
    text += fmt::format("{:>13}", fmt::format("{} thread{}", count, count == 1 ? "" : "s"));
  text += "\n";
  for (const Row &row : rows) {
    text += fmt::format("{:<27}", row.label);
    for (unsigned count : counts) {
      auto found = row.speeds.find(count);
      text += found == row.speeds.end()
                  ? fmt::format("{:>13}", "-")
                  : fmt::format("{:>8.1f} {:>3.0f}%", found->second.best * 1e-9, found->second.spread() * 100);
    }
    text += "\n";
  }
  return text;
}

template <typename Entry, typename Label, typename SpeedOf>
std::vector<Row> rowsOf(const std::vector<Entry> &entries, Label label, SpeedOf speed) {
  std::vector<Row> rows;
  for (const Entry &entry : entries) {
    std::string name = label(entry);
    auto row = std::ranges::find(rows, name, &Row::label);
    if (row == rows.end())
      row = rows.insert(row, Row{name, {}});
    row->speeds[entry.threads] = speed(entry);
  }
  return rows;
}

std::string machineText(const measure::Provenance &machine) {
  std::string caches;
  for (const measure::Cache &cache : machine.caches)
    if (cache.type != "Instruction")
      caches += fmt::format("{}{} {} KiB", caches.empty() ? "" : ", ", cache.name(), cache.bytes / 1024);
  return fmt::format("{}\n{} cores, {} logical CPUs, {} of them for this process\n{}\n", machine.cpu.text(),
                     machine.cores, machine.logicalCpus, machine.allowedCpus.size(),
                     caches.empty() ? "the system does not tell of caches" : caches);
}

std::string calibrationText(const Calibration &calibration) {
  std::vector<unsigned> counts = shownCounts(calibration);
  std::string text = machineText(calibration.machine);
  text += "\nThe best of many short windows; behind it, how far the median stays below it.\n\n";
  text += tableText(
      "10^9 operations/s",
      rowsOf(
          calibration.arithmetic,
          [](const measure::ArithmeticRate &rate) { return fmt::format("{:<6}{}", rate.type, rate.instructions); },
          [](const measure::ArithmeticRate &rate) { return rate.operations; }),
      counts);
  text += "\n";
  text +=
      tableText("10^9 bytes/s",
                rowsOf(
                    calibration.bandwidth,
                    [](const measure::Bandwidth &entry) { return fmt::format("{:<8}{}", entry.level, entry.transfer); },
                    [](const measure::Bandwidth &entry) { return entry.bytes; }),
                counts);
  text += fmt::format("\nMeasured at {} in {:.1f} s.\n", calibration.time, calibration.seconds);
  return text;
}

//===--- Steps ----------------------------------------------------------------------------------------------------===//

Result<std::string> outputPath(const Options &options) {
  if (!options.output.empty())
    return options.output;
  std::string path = userCachePath("calibration.json");
  if (path.empty())
    return failedPrecondition("neither XDG_CACHE_HOME nor HOME is an absolute path; say where with --output=FILE");
  return path;
}

Result<Calibration> load(const std::string &path) {
  Result<Ref<FileContents>> file = FileContents::open(path);
  if (!file.ok() && file.status().code() == StatusCode::NotFound)
    return notFound("there is no calibration in '{}' yet; run `kiln calibrate`", path);
  KILN_RETURN_IF_ERROR(file.status());
  Result<Calibration> calibration = Calibration::parse((*file)->text());
  if (!calibration.ok())
    return std::move(calibration).status().withContext(fmt::format("'{}'", path));
  return calibration;
}

Result<measure::CalibrationOptions> measureOptions(const Options &options) {
  measure::CalibrationOptions wanted;
  for (const std::string &text : options.threads) {
    unsigned count = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count == 0)
      return invalidArgument("--threads={} is no number of threads", text);
    wanted.threads.push_back(count);
  }
  wanted.secondsLimit = options.seconds;
  if (options.quick) {
    wanted.repetitions = 5;
    wanted.secondsLimit = std::min(wanted.secondsLimit, 3.0);
  }
  if (::isatty(STDERR_FILENO) && !options.json)
    wanted.progress = [](double done) {
      std::fprintf(stderr, "\rmeasuring: %3.0f %%", done * 100);
      std::fflush(stderr);
    };
  return wanted;
}

Result<Calibration> measureAndStore(const Options &options, const std::string &path) {
  KILN_ASSIGN_OR_RETURN(measure::CalibrationOptions wanted, measureOptions(options));
  KILN_ASSIGN_OR_RETURN(Calibration calibration, Calibration::run(wanted));
  if (wanted.progress)
    std::fputs("\r                \r", stderr);
  if (path == "-")
    return calibration;
  if (std::string folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return errnoStatus(error.value(), fmt::format("cannot create '{}'", folder));
  }
  KILN_RETURN_IF_ERROR(writeFile(path, calibration.json()));
  return calibration;
}

Status run(const Options &options) {
  KILN_ASSIGN_OR_RETURN(std::string path, outputPath(options));
  Result<Calibration> calibration = options.show ? load(path) : measureAndStore(options, path);
  KILN_RETURN_IF_ERROR(calibration.status());
  std::string text = options.json || path == "-" ? calibration->json() : calibrationText(*calibration);
  if (!options.json && path != "-")
    text += fmt::format("{} {}\n", options.show ? "Read from" : "Stored in", path);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flushStandardOutput();
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-calibrate");
  Options options;
  FlagParser parser("kiln-calibrate",
                    "Measures how fast this machine can be: multiplications and additions per second by type and "
                    "instructions, and bytes per second of each cache and of memory, by threads. Reports compare "
                    "with it. Takes less than a minute; the machine should be quiet.");
  parser.group("What to measure");
  parser.add(
      {"threads", "N", "Measure with this many threads. By default 1, 2, 4 and so on, and as many as there are CPUs."},
      options.threads);
  parser.add({"seconds", "N", "Repeat no longer than this, however much the machine is disturbed."}, options.seconds);
  parser.add({"quick", "", "A few repetitions only: some seconds, and less exact."}, options.quick);
  parser.group("Output");
  parser.add({"output", "FILE", "Where to store it; - prints it. The default is ~/.cache/kiln/calibration.json."},
             options.output);
  parser.add({"json", "", "Print JSON, not tables."}, options.json);
  parser.add({"show", "", "Measure nothing; print what is stored."}, options.show);
  parser.example("kiln-calibrate");
  parser.example("kiln-calibrate --show --json");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  Status status = run(options);
  return status.ok() ? 0 : reportFailure(parser.tool(), status);
}
