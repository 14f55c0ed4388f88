// kiln-calibrate: measures how fast this machine can be, and stores it for reports to compare with.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <unistd.h>

#include "kiln/measure/device/device_calibration.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/calibration_file.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/device_lists.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"

using namespace kiln;
using measure::Calibration;

namespace {

struct Options {
  std::vector<std::string> threads;
  std::string device, output;
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

std::string tableText(std::string_view head, const std::vector<Row> &rows, const std::vector<unsigned> &counts,
                      bool ofDevice) {
  const size_t width = ofDevice ? 34 : 27;
  std::string text = fmt::format("{:<{}}", head, width);
  for (unsigned count : counts)
    text += fmt::format("{:>13}", ofDevice ? "the device" : fmt::format("{} thread{}", count, count == 1 ? "" : "s"));
  text += "\n";
  for (const Row &row : rows) {
    text += fmt::format("{:<{}}", row.label, width);
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

std::string deviceText(const measure::CalibratedDevice &device) {
  std::string text = device.name + (device.driver.empty() ? "" : ", " + device.driver) + "\n";
  for (const auto &[name, value] : device.properties)
    text += fmt::format("{:<34}{}\n", name, value);
  if (device.simulated)
    text +=
        "\nThis GPU is simulated: its clock counts what is executed, these are numbers of the\nsimulator, and nothing "
        "is compared with them.\n";
  return text;
}

std::string launchText(const std::vector<measure::LaunchCost> &launches) {
  std::string text = fmt::format("\n{:<34}{:>13}{:>13}\n", "a launch, microseconds", "best", "median");
  for (const measure::LaunchCost &cost : launches)
    text +=
        fmt::format("{:<34}{:>13.2f}{:>13.2f}\n", cost.how, cost.bestNanoseconds * 1e-3, cost.medianNanoseconds * 1e-3);
  return text;
}

std::string calibrationText(const Calibration &calibration) {
  std::vector<unsigned> counts = shownCounts(calibration);
  const bool ofDevice = calibration.device.has_value();
  std::string text = ofDevice ? deviceText(*calibration.device) : machineText(calibration.machine);
  text += "\nThe best of many short windows; behind it, how far the median stays below it.\n\n";
  text += tableText(
      "10^9 operations/s",
      rowsOf(
          calibration.arithmetic,
          [](const measure::ArithmeticRate &rate) { return fmt::format("{:<6}{}", rate.type, rate.instructions); },
          [](const measure::ArithmeticRate &rate) { return rate.operations; }),
      counts, ofDevice);
  text += "\n";
  text +=
      tableText("10^9 bytes/s",
                rowsOf(
                    calibration.bandwidth,
                    [](const measure::Bandwidth &entry) { return fmt::format("{:<8}{}", entry.level, entry.transfer); },
                    [](const measure::Bandwidth &entry) { return entry.bytes; }),
                counts, ofDevice);
  if (ofDevice)
    text += launchText(calibration.launches);
  text += fmt::format("\nMeasured at {} in {:.1f} s.\n", calibration.time, calibration.seconds);
  return text;
}

//===--- Steps ----------------------------------------------------------------------------------------------------===//

// Where a calibration is stored, or shown from. Empty: nowhere.
Result<std::string> outputPath(const Options &options, const measure::CalibratedDevice *device) {
  if (!options.output.empty())
    return options.output;
  // Nobody is to take a simulator's numbers for those of a device.
  if (device && device->simulated)
    return std::string();
  std::string path = calibrationPath(device);
  if (path.empty())
    return failedPrecondition("neither XDG_CACHE_HOME nor HOME is an absolute path; say where with --output=FILE");
  return path;
}

Result<Calibration> load(const std::string &path, const Options &options) {
  const std::string command = "kiln calibrate" + (options.device.empty() ? "" : " --device=" + options.device);
  if (path.empty())
    return failedPrecondition("what is measured on {} is not stored, as it is simulated; run `{}`", options.device,
                              command);
  Result<Calibration> calibration = readCalibrationFile(path);
  if (calibration.status().code() == StatusCode::NotFound)
    return notFound("there is no calibration in '{}' yet; run `{}`", path, command);
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
  wanted.isOver = [] {
    setStep("while measuring; what was measured before is shown, and not stored");
    return isInterrupted();
  };
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

// Empties the path where nothing is stored.
Result<Calibration> measureAndStore(const Options &options, const measure::OpenedDevice *device, std::string &path) {
  KILN_ASSIGN_OR_RETURN(measure::CalibrationOptions wanted, measureOptions(options));
  KILN_ASSIGN_OR_RETURN(Calibration calibration,
                        device ? measure::calibrateDevice(*device, wanted) : Calibration::run(wanted));
  if (wanted.progress)
    std::fputs("\r                \r", stderr);
  // Reports compare with what is stored: nothing that was cut short.
  if (isInterrupted())
    path.clear();
  if (!path.empty() && path != "-") {
    KILN_RETURN_IF_ERROR(writeCalibrationFile(path, calibration));
    setStep("after all was measured and stored");
  }
  return calibration;
}

Status run(const Options &options) {
  std::optional<measure::OpenedDevice> device;
  if (!options.device.empty()) {
    if (!options.threads.empty())
      return invalidArgument("--threads is of the CPU; a device is measured as a whole");
    hal::DriverRegistry registry;
    hal::registerDrivers(registry);
    Result<measure::OpenedDevice> opened = measure::openDevice(registry, options.device);
    if (!opened.ok())
      return opened.status().code() == StatusCode::NotFound
                 ? notFound("--device: {}{}", opened.status().message(), deviceHint(registry, options.device))
                 : std::move(opened).status().withContext("--device");
    device = *std::move(opened);
  }
  KILN_ASSIGN_OR_RETURN(std::string path, outputPath(options, device ? &device->facts : nullptr));
  Result<Calibration> calibration =
      options.show ? load(path, options) : measureAndStore(options, device ? &*device : nullptr, path);
  KILN_RETURN_IF_ERROR(calibration.status());
  std::string text = options.json || path == "-" ? calibration->json() : calibrationText(*calibration);
  if (!options.json && path != "-")
    text += path.empty() ? "Not stored.\n" : fmt::format("{} {}\n", options.show ? "Read from" : "Stored in", path);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flushStandardOutput();
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-calibrate");
  Options options;
  FlagParser parser(
      "kiln-calibrate",
      "Measures how fast this machine can be: multiplications and additions per second by type and "
      "instructions, and bytes per second of each cache and of memory, by threads. With --device the same "
      "of a GPU, and what a launch costs. Reports compare "
      "with it. Takes less than a minute; the machine should be quiet.");
  parser.group("What to measure");
  parser.add({"device", "NAME", "A device, such as cuda or cuda://1, in place of the CPU."}, options.device);
  parser.add(
      {"threads", "N", "Measure with this many threads. By default 1, 2, 4 and so on, and as many as there are CPUs."},
      options.threads);
  parser.add({"seconds", "N", "Repeat no longer than this, however much the machine is disturbed."}, options.seconds);
  parser.add({"quick", "", "A few repetitions only: some seconds, and less exact."}, options.quick);
  parser.group("Output");
  parser.add(
      {"output", "FILE",
       "Where to store it; - prints it. The default is ~/.cache/kiln/calibration.json, and of a device a file with "
       "its name beside that."},
      options.output);
  parser.add({"json", "", "Print JSON, not tables."}, options.json);
  parser.add({"show", "", "Measure nothing; print what is stored."}, options.show);
  parser.example("kiln-calibrate");
  parser.example("kiln-calibrate --device=cuda");
  parser.example("kiln-calibrate --show --json");
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  catchInterrupts([] { reportInterrupted("kiln-calibrate"); });
  setStep("before all was measured once; nothing was stored");
  Status status = run(options);
  if (!status.ok())
    return reportEnd(parser.tool(), status);
  return isInterrupted() ? reportInterrupted(parser.tool()) : 0;
}
