#include "kiln/tools/dispatch/sweep/ceilings.h"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"
#include "kiln/measure/mlir_text.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/tools/cache_path.h"

namespace kiln {

namespace {

// Of what was measured, by how much a row may exceed it at least; more where windows of the calibration differed more.
constexpr double kLeastMargin = 0.15;
// A last-level cache keeps some of what is rotated through it, so that memory seems to be faster than it is.
constexpr double kCachedMargin = 0.5;

// By how much the windows of the measurements with so many threads lay apart.
template <typename Rates> double spreadOf(const Rates &rates, uint64_t threads, auto speed) {
  double most = 0;
  for (const auto &rate : rates)
    if (rate.threads == threads)
      most = std::max(most, speed(rate).spread());
  return most;
}

} // namespace

Result<std::optional<measure::Calibration>> readCalibration(const measure::Provenance &machine) {
  std::string path = userCachePath("calibration.json");
  if (path.empty() || access(path.c_str(), F_OK) != 0)
    return std::optional<measure::Calibration>();
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  Result<measure::Calibration> calibration = measure::Calibration::parse(file->text());
  if (!calibration.ok())
    return invalidArgument("'{}': {}; `kiln calibrate` writes it anew", path, calibration.status().message());
  if (!(calibration->machine.cpu == machine.cpu) || calibration->machine.logicalCpus != machine.logicalCpus)
    return std::optional<measure::Calibration>();
  return std::optional(*std::move(calibration));
}

Result<measure::Calibration> calibrate(const std::set<uint64_t> &threads, double seconds,
                                       const std::optional<measure::Calibration> &known) {
  measure::CalibrationOptions options;
  options.threads.assign(threads.begin(), threads.end());
  options.repetitions = 5;
  options.secondsLimit = seconds;
  KILN_ASSIGN_OR_RETURN(measure::Calibration calibration, measure::Calibration::run(options));
  if (known)
    calibration.takeBest(*known);
  // Where it cannot be stored, the next sweep measures it again.
  if (std::string path = userCachePath("calibration.json"); !path.empty()) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (!error)
      (void)writeFile(path, calibration.json());
  }
  return calibration;
}

std::string ceilingsJson(const measure::Calibration &calibration, const std::set<uint64_t> &threads) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (uint64_t count : threads) {
    nlohmann::ordered_json rates = nlohmann::ordered_json::object();
    for (const char *type : {"f32", "f64", "f16", "bf16", "i8"})
      if (std::optional<double> peak = calibration.peakOperations(type, static_cast<unsigned>(count)))
        rates[type] = *peak / 1e9;
    nlohmann::ordered_json entry = {{"threads", count}, {"gflops", rates}, {"taken", calibration.time}};
    if (std::optional<double> peak = calibration.peakBytes("memory", static_cast<unsigned>(count)))
      entry["gb_per_s"] = *peak / 1e9;
    all.push_back(std::move(entry));
  }
  return nlohmann::ordered_json{{"by_threads", std::move(all)}}.dump();
}

std::vector<measure::SpeedFloor> speedFloors(const measure::Problem &problem, uint64_t threads,
                                             const measure::Calibration &calibration) {
  std::vector<measure::SpeedFloor> floors;
  auto count = static_cast<unsigned>(threads);
  std::vector<measure::TensorType> inputs = problem.inputs();
  // Numbers without sign are multiplied by the same instructions.
  std::string type(inputs.empty() ? "" : hal::elementTypeName(measure::signlessType(inputs.front().type)));
  if (std::optional<double> peak = calibration.peakOperations(type, count); peak && problem.flops() > 0) {
    double spread = spreadOf(calibration.arithmetic, threads, [](const auto &rate) { return rate.operations; });
    double most = *peak * (1 + std::max(kLeastMargin, 2 * spread));
    floors.push_back({problem.flops() / most * 1e9, measure::SpeedFloor::Of::Arithmetic,
                      fmt::format("{} multiplies and adds {:.4g} GFLOP/s at most with {} threads, as far as `kiln "
                                  "calibrate` has found",
                                  type, *peak / 1e9, threads)});
  }
  using Of = measure::SpeedFloor::Of;
  for (auto [level, of, least] :
       {std::tuple("L1", Of::Caches, kLeastMargin), std::tuple("memory", Of::Memory, kCachedMargin)}) {
    std::optional<double> peak = calibration.peakBytes(level, count);
    if (!peak || problem.bytes() <= 0)
      continue;
    double spread = spreadOf(calibration.bandwidth, threads, [](const auto &rate) { return rate.bytes; });
    double most = *peak * (1 + std::max(least, 2 * spread));
    floors.push_back({problem.bytes() / most * 1e9, of,
                      fmt::format("{} moves {:.4g} GB/s at most with {} threads, as far as `kiln calibrate` has found",
                                  level, *peak / 1e9, threads)});
  }
  return floors;
}

} // namespace kiln
