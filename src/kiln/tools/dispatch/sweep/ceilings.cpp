#include "kiln/tools/dispatch/sweep/ceilings.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/tools/cache_path.h"

namespace kiln {

Result<std::optional<std::string>> ceilingsOf(const measure::Provenance &machine, const std::set<uint64_t> &threads) {
  std::string path = userCachePath("calibration.json");
  if (path.empty() || access(path.c_str(), F_OK) != 0)
    return std::optional<std::string>();
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  Result<measure::Calibration> calibration = measure::Calibration::parse(file->text());
  if (!calibration.ok())
    return invalidArgument("'{}': {}; `kiln calibrate` writes it anew", path, calibration.status().message());
  if (!(calibration->machine.cpu == machine.cpu) || calibration->machine.logicalCpus != machine.logicalCpus)
    return std::optional<std::string>();
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (uint64_t count : threads) {
    nlohmann::ordered_json rates = nlohmann::ordered_json::object();
    for (const char *type : {"f32", "f64", "f16", "bf16", "i8"})
      if (std::optional<double> peak = calibration->peakOperations(type, static_cast<unsigned>(count)))
        rates[type] = *peak / 1e9;
    nlohmann::ordered_json entry = {{"threads", count}, {"gflops", rates}, {"taken", calibration->time}};
    if (std::optional<double> peak = calibration->peakBytes("memory", static_cast<unsigned>(count)))
      entry["gb_per_s"] = *peak / 1e9;
    all.push_back(std::move(entry));
  }
  return std::optional<std::string>(nlohmann::ordered_json{{"by_threads", std::move(all)}}.dump());
}

} // namespace kiln
