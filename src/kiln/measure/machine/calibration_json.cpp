#include "kiln/measure/machine/calibration.h"
#include "kiln/measure/machine/machine_json.h"

namespace kiln::measure {

static constexpr unsigned kFormat = 1;

static Json toJson(const Speed &speed) {
  return {{"best", speed.best}, {"median", speed.median}, {"windows", speed.windows}};
}

Json toJson(const CalibratedDevice &device) {
  Json properties = Json::array();
  for (const auto &[name, value] : device.properties)
    properties.push_back({{"name", name}, {"value", value}});
  return {{"name", device.name},
          {"properties", std::move(properties)},
          {"driver", device.driver},
          {"simulated", device.simulated}};
}

std::string Calibration::json() const {
  Json rates = Json::array(), bandwidths = Json::array();
  for (const ArithmeticRate &rate : arithmetic)
    rates.push_back({{"type", rate.type},
                     {"instructions", rate.instructions},
                     {"threads", rate.threads},
                     {"operations_per_second", toJson(rate.operations)}});
  for (const Bandwidth &entry : bandwidth)
    bandwidths.push_back({{"level", entry.level},
                          {"transfer", entry.transfer},
                          {"threads", entry.threads},
                          {"bytes_per_thread", entry.bytesPerThread},
                          {"bytes_per_second", toJson(entry.bytes)}});
  Json object = {{"format", kFormat},
                 {"time", time},
                 {"seconds", seconds},
                 {"machine", toJson(machine)},
                 {"arithmetic", std::move(rates)},
                 {"bandwidth", std::move(bandwidths)}};
  if (device) {
    Json costs = Json::array();
    for (const LaunchCost &cost : launches)
      costs.push_back({{"how", cost.how},
                       {"best_ns", cost.bestNanoseconds},
                       {"median_ns", cost.medianNanoseconds},
                       {"windows", cost.windows}});
    object["device"] = toJson(*device);
    object["launches"] = std::move(costs);
  }
  return object.dump(1) + "\n";
}

static void readSpeed(JsonReader &reader, Speed &speed) {
  reader.get("best", speed.best);
  reader.get("median", speed.median);
  reader.get("windows", speed.windows);
  if (reader.status().ok() && (speed.best < 0 || speed.median < 0 || speed.median > speed.best))
    reader.fail("median", "no speed up to the best");
}

static void readRate(JsonReader &reader, ArithmeticRate &rate) {
  reader.get("type", rate.type);
  reader.get("instructions", rate.instructions);
  reader.get("threads", rate.threads);
  reader.getObject("operations_per_second", rate.operations, readSpeed);
}

static void readBandwidth(JsonReader &reader, Bandwidth &entry) {
  reader.get("level", entry.level);
  reader.get("transfer", entry.transfer);
  reader.get("threads", entry.threads);
  reader.get("bytes_per_thread", entry.bytesPerThread);
  reader.getObject("bytes_per_second", entry.bytes, readSpeed);
}

static void readProperty(JsonReader &reader, std::pair<std::string, std::string> &property) {
  reader.get("name", property.first);
  reader.get("value", property.second);
}

static void readDevice(JsonReader &reader, CalibratedDevice &device) {
  reader.get("name", device.name);
  reader.getObjects("properties", device.properties, readProperty);
  reader.get("driver", device.driver);
  reader.get("simulated", device.simulated);
}

static void readLaunch(JsonReader &reader, LaunchCost &cost) {
  reader.get("how", cost.how);
  reader.get("best_ns", cost.bestNanoseconds);
  reader.get("median_ns", cost.medianNanoseconds);
  reader.get("windows", cost.windows);
  if (reader.status().ok() && (cost.bestNanoseconds < 0 || cost.medianNanoseconds < cost.bestNanoseconds))
    reader.fail("median_ns", "no time from the best on");
}

Result<Calibration> Calibration::parse(std::string_view json) {
  KILN_ASSIGN_OR_RETURN(Json object, parseObject(json));
  JsonReader reader(object, "");
  unsigned format = 0;
  reader.get("format", format);
  if (reader.status().ok() && format != kFormat)
    return invalidArgument("this calibration has format {}, and this build reads {}; run `kiln calibrate` again",
                           format, kFormat);
  Calibration result;
  reader.get("time", result.time);
  reader.get("seconds", result.seconds);
  reader.getObject("machine", result.machine, read);
  reader.getObjects("arithmetic", result.arithmetic, readRate);
  reader.getObjects("bandwidth", result.bandwidth, readBandwidth);
  if (object.contains("device")) {
    reader.getObject("device", result.device.emplace(), readDevice);
    reader.getObjects("launches", result.launches, readLaunch);
  }
  if (!reader.status().ok())
    return Status(reader.status()).withContext("this is no calibration");
  return result;
}

} // namespace kiln::measure
