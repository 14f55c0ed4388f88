#include "kiln/measure/device/device_doctor.h"

#include <algorithm>

#include "kiln/base/clock.h"
#include "kiln/measure/device/device_calibration.h"
#include "kiln/measure/device/device_peaks.h"
#include "kiln/measure/machine/machine_json.h"

namespace kiln::measure {

// Of what it once was, beyond which a device's speed is worth a warning.
static constexpr double kTolerableLoss = 0.05;

static Health healthOf(hal::DeviceCondition::Effect effect) {
  switch (effect) {
  case hal::DeviceCondition::Effect::None: return Health::Good;
  case hal::DeviceCondition::Effect::Disturbs: return Health::Warning;
  case hal::DeviceCondition::Effect::Unknown: return Health::Unavailable;
  }
  return Health::Unavailable;
}

Finding judgeCalibration(const Result<Calibration> &calibration, const CalibratedDevice &device, const std::string &uri,
                         double operationsNow) {
  const std::string again = fmt::format("`kiln calibrate --device={}`", uri);
  if (device.simulated)
    return {"calibration", Health::Good, "of a simulated device there is none", ""};
  if (calibration.status().code() == StatusCode::NotFound)
    return {"calibration", Health::Unavailable, "it was not calibrated, so that no row is compared with its peaks",
            again + " does it"};
  if (!calibration.ok())
    return {"calibration", Health::Warning, std::string(calibration.status().message()), again + " writes it anew"};
  if (!calibration->device || !calibration->device->isLike(device))
    return {"calibration", Health::Warning,
            fmt::format("what is stored is of another device: {}",
                        calibration->device ? calibration->device->name : "the CPU"),
            again + " measures this one"};
  std::string text = "of " + calibration->time;
  if (calibration->device->driver != device.driver)
    text += fmt::format(" with another driver ({})", calibration->device->driver);
  std::optional<double> known;
  for (const ArithmeticRate &rate : calibration->arithmetic)
    if (rate.type == "f32" && rate.instructions == "simt_ffma")
      known = rate.operations.best;
  if (!known || operationsNow <= 0)
    return {"calibration", Health::Good, text, ""};
  const double share = operationsNow / *known;
  text += fmt::format("; f32 has {:.1f} % of the speed that it had then", share * 100);
  const bool slow = share < 1 - kTolerableLoss;
  return {"calibration", slow ? Health::Warning : Health::Good, text,
          slow ? "its clock is lower than it was; see what holds it down" : ""};
}

namespace {

// A device at work, with all that is found meanwhile.
class Watch {
public:
  Watch(const OpenedDevice &opened, hal::DeviceMonitor *monitor)
      : device(*opened.device), multiprocessors(opened.multiprocessors), monitor(monitor) {}

  Status run(double seconds, const std::function<bool()> &isOver) {
    KILN_ASSIGN_OR_RETURN(DevicePeaks peaks, DevicePeaks::create(device, multiprocessors));
    KILN_ASSIGN_OR_RETURN(const PeakWork work, peaks.steadyWork());
    KILN_ASSIGN_OR_RETURN(Ref<hal::TimedWork> timed, device.clock()->prepare({work.launch}));
    uint64_t rounds = 1024;
    const uint64_t begin = monotonicNanoseconds(), end = begin + uint64_t(seconds * 1e9);
    std::vector<double> samples;
    // Half a millisecond each, once the clock has risen.
    for (int i = 0; i < 8; ++i) {
      KILN_RETURN_IF_ERROR(work.setRounds(rounds));
      KILN_ASSIGN_OR_RETURN(const double took, timed->run());
      rounds = std::clamp<uint64_t>(uint64_t(double(rounds) * 5e5 / std::max(took, 1.0)), 1, uint64_t(1) << 31);
    }
    KILN_RETURN_IF_ERROR(work.setRounds(rounds));
    while ((monotonicNanoseconds() < end && !(isOver && isOver())) || samples.size() < 20) {
      KILN_ASSIGN_OR_RETURN(const double took, timed->run());
      samples.push_back(took * 1e-9);
      operations = std::max(operations, work.amountOfRound * double(rounds) / (took * 1e-9));
      if (monitor && samples.size() % 16 == 1)
        if (Result<DeviceState> now = monitor->read(); now.ok())
          state.add(*now);
    }
    noise = summarizeNoise(1, samples);
    return okStatus();
  }

  DeviceState state;
  double operations = 0; // the most in a second
  std::optional<Noise> noise;

private:
  hal::Device &device;
  const uint32_t multiprocessors;
  hal::DeviceMonitor *monitor;
};

} // namespace

static Finding judgeState(const DeviceState &state) {
  std::string text;
  if (state.lowMegahertz && state.highMegahertz)
    text = *state.lowMegahertz == *state.highMegahertz
               ? fmt::format("{:.0f} MHz", *state.highMegahertz)
               : fmt::format("{:.0f} to {:.0f} MHz", *state.lowMegahertz, *state.highMegahertz);
  if (state.watts)
    text += fmt::format("{}{:.0f} W", text.empty() ? "" : ", ", *state.watts);
  if (state.celsius)
    text += fmt::format("{}{:.0f} degrees", text.empty() ? "" : ", ", *state.celsius);
  if (!state.throttling.empty())
    text += fmt::format("{}held down by {}", text.empty() ? "" : ", ", state.throttling);
  if (text.empty())
    return {"at work", Health::Unavailable, "nothing tells of its clock", ""};
  const bool disturbed = state.moved() || !state.throttling.empty();
  return {"at work", disturbed ? Health::Warning : Health::Good, text,
          disturbed ? "its clock changes: compare interleaved runs only" : ""};
}

Result<DeviceDiagnosis> diagnoseDevice(const hal::DriverRegistry &registry, const std::string &uri,
                                       const DeviceDoctorOptions &options) {
  KILN_ASSIGN_OR_RETURN(hal::DeviceUri parsed, hal::DeviceUri::parse(uri));
  KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(parsed.driver));
  DeviceDiagnosis result;
  Result<std::unique_ptr<hal::DeviceMonitor>> monitor = driver->monitor(parsed);
  if (monitor.ok())
    for (hal::DeviceCondition &condition : (*monitor)->conditions())
      result.findings.push_back({std::move(condition.topic), healthOf(condition.effect), std::move(condition.text),
                                 std::move(condition.advice)});
  else
    result.findings.push_back({"clocks", Health::Unavailable, std::string(monitor.status().message()), ""});
  KILN_ASSIGN_OR_RETURN(const OpenedDevice opened, openDevice(registry, uri));
  result.device = opened.facts;
  Watch watch(opened, monitor.ok() ? monitor->get() : nullptr);
  if (opened.facts.simulated) {
    result.findings.push_back({"noise", Health::Unavailable, "its clock counts what is executed", ""});
  } else if (Status status = watch.run(options.seconds, options.isOver); status.code() == StatusCode::Unimplemented) {
    result.findings.push_back({"noise", Health::Unavailable, std::string(status.message()), ""});
    return result; // and none to calibrate it
  } else {
    KILN_RETURN_IF_ERROR(std::move(status));
    result.noise = watch.noise;
    result.findings.push_back(judgeNoise(*watch.noise, "f32 without tensor cores"));
    result.findings.push_back(judgeState(watch.state));
  }
  result.findings.push_back(judgeCalibration(options.calibration, opened.facts, uri, watch.operations));
  return result;
}

std::string DeviceDiagnosis::summary() const {
  return summaryOf("This device", findings, noise ? std::optional(noise->floor) : std::nullopt);
}

std::string DeviceDiagnosis::json() const {
  Json found = Json::array();
  for (const Finding &finding : findings)
    found.push_back(toJson(finding));
  Json object = {{"format", 1},
                 {"device", toJson(device)},
                 {"noise", noise ? toJson(*noise) : Json(nullptr)},
                 {"findings", std::move(found)},
                 {"trustworthy", trustworthy()},
                 {"summary", summary()}};
  // Names of processes may be no UTF-8.
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace kiln::measure
