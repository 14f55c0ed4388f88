#include "kiln/measure/device/device_calibration.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kiln/base/clock.h"
#include "kiln/measure/device/device_peaks.h"

namespace kiln::measure {

Result<CalibratedDevice> describeDevice(const hal::DriverRegistry &registry, const std::string &uri) {
  KILN_ASSIGN_OR_RETURN(hal::DeviceUri parsed, hal::DeviceUri::parse(uri));
  KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(parsed.driver));
  KILN_ASSIGN_OR_RETURN(const hal::DeviceInfo info, driver->describe(parsed));
  CalibratedDevice facts;
  facts.name = info.name;
  for (const auto &[name, value] : info.properties)
    if (name == "driver")
      facts.driver = value;
    else if (name != "gpu" && name != "executable format")
      facts.properties.emplace_back(name, value);
  return facts;
}

// Of the driver's texts; 1 where it does not tell.
static uint32_t multiprocessorsOf(const CalibratedDevice &device) {
  uint32_t count = 1;
  for (const auto &[name, value] : device.properties)
    if (name == "multiprocessors")
      std::from_chars(value.data(), value.data() + value.size(), count);
  return std::max(count, 1U);
}

// sm_100 and newer have tensor cores of another kind, which nothing here measures: what mma.sync reaches is no ceiling.
static bool hasOtherTensorCores(const CalibratedDevice &device) {
  int generation = 0;
  for (const auto &[name, value] : device.properties)
    if (name == "architecture" && value.starts_with("sm_"))
      std::from_chars(value.data() + 3, value.data() + value.size(), generation);
  return generation >= 100;
}

Result<OpenedDevice> openDevice(const hal::DriverRegistry &registry, const std::string &uri) {
  OpenedDevice opened;
  KILN_ASSIGN_OR_RETURN(opened.device, registry.createDevice(uri));
  KILN_ASSIGN_OR_RETURN(opened.facts, describeDevice(registry, uri));
  opened.multiprocessors = multiprocessorsOf(opened.facts);
  opened.facts.simulated = opened.device->clock() && opened.device->clock()->isSimulated();
  return opened;
}

namespace {

// Work that is timed.
struct Window {
  const PeakWork *work;
  Ref<hal::TimedWork> timed;
  uint64_t rounds = 1;
  std::vector<double> speeds = {};

  Result<double> nanoseconds() const {
    KILN_ASSIGN_OR_RETURN(double took, timed->run());
    return std::max(took, 1.0);
  }
  Status setRounds(uint64_t count) {
    rounds = count;
    return work->setRounds(count);
  }
  // Chooses how many rounds take about as long as a window.
  Status fit(double wanted) {
    constexpr uint64_t kMost = uint64_t(1) << 31;
    KILN_RETURN_IF_ERROR(setRounds(1));
    while (rounds < kMost) {
      // The first run after a pause may find the clock low.
      double took = INFINITY;
      for (int i = 0; i < 3; ++i) {
        KILN_ASSIGN_OR_RETURN(double now, nanoseconds());
        took = std::min(took, now);
      }
      if (took >= wanted * 0.7)
        return okStatus();
      const double factor = std::clamp(wanted / took, 1.5, 16.0);
      KILN_RETURN_IF_ERROR(setRounds(std::min(kMost, uint64_t(std::ceil(double(rounds) * factor)))));
    }
    return okStatus();
  }
  Status measure() {
    KILN_ASSIGN_OR_RETURN(double took, nanoseconds());
    speeds.push_back(work->amountOfRound * double(rounds) / (took * 1e-9));
    return okStatus();
  }
};

// Of a launch that does nothing: its time from when the host asks for it until the host knows that it ended, and its
// part of a graph of many.
class Launches {
public:
  static Result<Launches> create(hal::Device &device, DevicePeaks &peaks) {
    KILN_ASSIGN_OR_RETURN(hal::Submission nothing, peaks.nothing());
    KILN_RETURN_IF_ERROR(runLaunch(device, nothing));
    const size_t count = device.clock()->isSimulated() ? 10 : 1000;
    KILN_ASSIGN_OR_RETURN(Ref<hal::TimedWork> graph,
                          device.clock()->prepare(std::vector<hal::Submission>(count, nothing)));
    return Launches(device, std::move(nothing), std::move(graph), count);
  }
  Status measure() {
    constexpr int kAwaited = 20;
    for (int i = 0; i < kAwaited; ++i) {
      const uint64_t begin = monotonicNanoseconds();
      KILN_RETURN_IF_ERROR(runLaunch(device, nothing));
      awaited.push_back(double(monotonicNanoseconds() - begin));
    }
    KILN_ASSIGN_OR_RETURN(double took, graph->run());
    inGraph.push_back(took / double(count));
    return okStatus();
  }
  std::vector<LaunchCost> costs() const {
    std::vector<LaunchCost> all = {costOf("awaited", awaited)};
    // One after the other is no graph.
    all.push_back(costOf(graph->isGraph() ? "in a graph" : "one after the other", inGraph));
    return all;
  }

private:
  Launches(hal::Device &device, hal::Submission nothing, Ref<hal::TimedWork> graph, size_t count)
      : device(device), nothing(std::move(nothing)), graph(std::move(graph)), count(count) {}

  static LaunchCost costOf(std::string how, std::vector<double> times) {
    std::ranges::sort(times);
    return {std::move(how), times.front(), times[times.size() / 2], unsigned(times.size())};
  }

  hal::Device &device;
  hal::Submission nothing;
  Ref<hal::TimedWork> graph;
  size_t count;
  std::vector<double> awaited, inGraph;
};

} // namespace

Result<Calibration> calibrateDevice(const OpenedDevice &opened, const CalibrationOptions &options) {
  const uint64_t begin = monotonicNanoseconds();
  auto elapsed = [&] { return double(monotonicNanoseconds() - begin) * 1e-9; };
  if (options.repetitions < 1 || !(options.windowSeconds > 0) || options.windowSeconds > 10)
    return invalidArgument("a calibration needs at least one repetition, of windows above 0 and up to 10 seconds");
  Calibration result;
  result.time = Calibration::timeNow();
  result.machine = Provenance::detect();
  result.device = opened.facts;
  hal::Device &device = *opened.device;
  KILN_ASSIGN_OR_RETURN(DevicePeaks peaks, DevicePeaks::create(device, opened.multiprocessors));
  KILN_ASSIGN_OR_RETURN(std::vector<PeakWork> works, peaks.works());
  if (hasOtherTensorCores(opened.facts))
    std::erase_if(works, [](const PeakWork &work) { return work.how.starts_with("tensorcore"); });
  std::vector<Window> windows;
  for (const PeakWork &work : works) {
    KILN_ASSIGN_OR_RETURN(Ref<hal::TimedWork> timed, device.clock()->prepare({work.launch}));
    windows.push_back({&work, std::move(timed)});
    // A simulator's clock goes on at the same rate, however long its work.
    KILN_RETURN_IF_ERROR(opened.facts.simulated ? windows.back().setRounds(1)
                                                : windows.back().fit(options.windowSeconds * 1e9));
  }
  KILN_ASSIGN_OR_RETURN(Launches launches, Launches::create(device, peaks));
  const unsigned repetitions = opened.facts.simulated ? 1 : options.repetitions;
  for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
    if (repetition >= 3 && elapsed() > options.secondsLimit)
      break;
    if (options.progress)
      options.progress(double(repetition) / repetitions);
    for (Window &window : windows)
      KILN_RETURN_IF_ERROR(window.measure());
    KILN_RETURN_IF_ERROR(launches.measure());
    if (options.isOver && options.isOver())
      break;
  }
  for (Window &window : windows) {
    const PeakWork &work = *window.work;
    const Speed speed = Speed::of(std::move(window.speeds));
    if (work.isArithmetic)
      result.arithmetic.push_back({work.what, work.how, 1, speed});
    else
      result.bandwidth.push_back({work.what, work.how, 1, work.bytes, speed});
  }
  result.launches = launches.costs();
  result.seconds = elapsed();
  return result;
}

} // namespace kiln::measure
