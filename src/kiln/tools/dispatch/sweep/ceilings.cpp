#include "kiln/tools/dispatch/sweep/ceilings.h"

#include <algorithm>
#include <tuple>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/measure/device/device_calibration.h"
#include "kiln/measure/mlir_text.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/calibration_file.h"

namespace kiln {

namespace {

// Of what was measured, by how much a row may exceed it at least; more where windows of the calibration differed more.
constexpr double kLeastMargin = 0.15;
// A last-level cache keeps some of what is rotated through it, so that memory seems to be faster than it is: of a
// device's, which twice as much is rotated through, up to half.
constexpr double kCachedMargin = 0.5, kDeviceCachedMargin = 1;
// Other ways to load may be faster than the one that was measured.
constexpr double kDeviceLoadMargin = 0.5;

// What the problem's products are made in: its left operand's type, or what it promises in its place. Numbers without
// sign are multiplied by the same instructions.
std::string arithmeticOf(const measure::Problem &problem) {
  for (const auto &[name, value] : problem.fields())
    if (name == "arithmetic")
      return value;
  std::vector<measure::TensorType> inputs = problem.inputs();
  return std::string(inputs.empty() ? "" : hal::elementTypeName(measure::signlessType(inputs.front().type)));
}

// By how much the windows of the measurements with so many threads lay apart.
template <typename Rates> double spreadOf(const Rates &rates, uint64_t threads, auto speed) {
  double most = 0;
  for (const auto &rate : rates)
    if (rate.threads == threads)
      most = std::max(most, speed(rate).spread());
  return most;
}

} // namespace

// Of a file that may be missing.
static Result<std::optional<measure::Calibration>> readIfThere(const std::string &path, std::string_view command) {
  if (path.empty() || access(path.c_str(), F_OK) != 0)
    return std::optional<measure::Calibration>();
  Result<measure::Calibration> calibration = readCalibrationFile(path);
  if (!calibration.ok())
    return invalidArgument("{}; `{}` writes it anew", calibration.status().message(), command);
  return std::optional(*std::move(calibration));
}

Result<std::optional<measure::Calibration>> readCalibration(const measure::Provenance &machine) {
  KILN_ASSIGN_OR_RETURN(std::optional<measure::Calibration> calibration,
                        readIfThere(calibrationPath(nullptr), "kiln calibrate"));
  if (calibration && (!(calibration->machine.cpu == machine.cpu) || calibration->device ||
                      calibration->machine.logicalCpus != machine.logicalCpus))
    calibration.reset();
  return calibration;
}

Result<std::optional<measure::Calibration>> readDeviceCalibration(const std::string &uri) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(const measure::CalibratedDevice device, measure::describeDevice(registry, uri));
  KILN_ASSIGN_OR_RETURN(std::optional<measure::Calibration> calibration,
                        readIfThere(calibrationPath(&device), "kiln calibrate --device=" + uri));
  if (calibration && (!calibration->device || !calibration->device->isLike(device)))
    calibration.reset();
  return calibration;
}

static measure::CalibrationOptions quickOptions(double seconds) {
  measure::CalibrationOptions options;
  options.repetitions = 5;
  options.secondsLimit = seconds;
  return options;
}

// Where it cannot be stored, the next sweep measures it again.
static void store(const measure::Calibration &calibration) {
  if (std::string path = calibrationPath(calibration.device ? &*calibration.device : nullptr); !path.empty())
    (void)writeCalibrationFile(path, calibration);
}

Result<measure::Calibration> calibrate(const std::set<uint64_t> &threads, double seconds,
                                       const std::optional<measure::Calibration> &known) {
  measure::CalibrationOptions options = quickOptions(seconds);
  options.threads.assign(threads.begin(), threads.end());
  KILN_ASSIGN_OR_RETURN(measure::Calibration calibration, measure::Calibration::run(options));
  if (known)
    calibration.takeBest(*known);
  store(calibration);
  return calibration;
}

Result<measure::Calibration> calibrateDevice(const std::string &uri, double seconds,
                                             const std::optional<measure::Calibration> &known,
                                             const std::function<void()> &announce) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(const measure::OpenedDevice opened, measure::openDevice(registry, uri));
  if (opened.facts.simulated)
    return unimplemented("the device {} is simulated, and has no ceilings", uri);
  announce();
  KILN_ASSIGN_OR_RETURN(measure::Calibration calibration, measure::calibrateDevice(opened, quickOptions(seconds)));
  if (known)
    calibration.takeBest(*known);
  store(calibration);
  return calibration;
}

std::string ceilingsJson(const measure::Calibration &calibration, const std::set<uint64_t> &threads,
                         const std::string &device) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (uint64_t count : threads) {
    nlohmann::ordered_json rates = nlohmann::ordered_json::object();
    for (const char *type : {"f32", "f64", "tf32", "f16", "bf16", "i8"})
      if (std::optional<double> peak = calibration.peakOperations(type, static_cast<unsigned>(count)))
        rates[type] = *peak / 1e9;
    nlohmann::ordered_json entry = {{"threads", count}, {"gflops", rates}, {"taken", calibration.time}};
    if (std::optional<double> peak = calibration.peakBytes("memory", static_cast<unsigned>(count)))
      entry["gb_per_s"] = *peak / 1e9;
    all.push_back(std::move(entry));
  }
  nlohmann::ordered_json object = {{"by_threads", std::move(all)}};
  if (!device.empty())
    object["device"] = device;
  return object.dump();
}

std::vector<measure::SpeedFloor> speedFloors(const measure::Problem &problem, uint64_t threads,
                                             const measure::Calibration &calibration) {
  std::vector<measure::SpeedFloor> floors;
  // A device was measured as a whole.
  const auto count = calibration.device ? 1U : static_cast<unsigned>(threads);
  const std::string who = calibration.device ? "on " + calibration.device->name : fmt::format("with {} threads", count);
  if (std::string type = arithmeticOf(problem); std::optional<double> peak = calibration.peakOperations(type, count)) {
    double spread = spreadOf(calibration.arithmetic, count, [](const auto &rate) { return rate.operations; });
    double most = *peak * (1 + std::max(kLeastMargin, 2 * spread));
    if (problem.flops() > 0)
      floors.push_back(
          {problem.flops() / most * 1e9, measure::SpeedFloor::Of::Arithmetic,
           fmt::format("{} multiplies and adds {:.4g} GFLOP/s at most {}, as far as `kiln calibrate` has found", type,
                       *peak / 1e9, who)});
  }
  using Of = measure::SpeedFloor::Of;
  const bool isDevice = calibration.device.has_value();
  for (auto [level, of, least] :
       {std::tuple(isDevice ? "L2" : "L1", Of::Caches, isDevice ? kDeviceLoadMargin : kLeastMargin),
        std::tuple("memory", Of::Memory, isDevice ? kDeviceCachedMargin : kCachedMargin)}) {
    std::optional<double> peak = calibration.peakBytes(level, count);
    if (!peak || problem.bytes() <= 0)
      continue;
    double spread = spreadOf(calibration.bandwidth, count, [](const auto &rate) { return rate.bytes; });
    double most = *peak * (1 + std::max(least, 2 * spread));
    floors.push_back({problem.bytes() / most * 1e9, of,
                      fmt::format("{} moves {:.4g} GB/s at most {}, as far as `kiln calibrate` has found", level,
                                  *peak / 1e9, who)});
  }
  return floors;
}

} // namespace kiln
