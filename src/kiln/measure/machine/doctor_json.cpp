#include "kiln/measure/machine/doctor.h"
#include "kiln/measure/machine/machine_json.h"

namespace kiln::measure {

static Json orNull(const std::optional<double> &value) {
  return value ? Json(*value) : Json(nullptr);
}

Json toJson(const Noise &noise) {
  return {{"threads", noise.threads}, {"samples", noise.samples}, {"median_seconds", noise.medianSeconds},
          {"p10", noise.p10},         {"p90", noise.p90},         {"floor", noise.floor}};
}

static Json toJson(const Neighbours &neighbours) {
  Json processes = Json::array();
  for (const Neighbour &process : neighbours.processes)
    processes.push_back({{"pid", process.pid}, {"name", process.name}, {"cpus", process.cpus}});
  return {{"seconds", neighbours.seconds},
          {"load", orNull(neighbours.load)},
          {"stolen", orNull(neighbours.stolen)},
          {"busy_cpus", orNull(neighbours.busyCpus)},
          {"processes", std::move(processes)}};
}

Json toJson(const Finding &finding) {
  return {{"topic", finding.topic},
          {"health", healthName(finding.health)},
          {"text", finding.text},
          {"advice", finding.advice}};
}

std::string Diagnosis::json() const {
  Json noises = Json::array(), found = Json::array(), counterFacts = Json::object(), versions = Json::object();
  for (const Noise &entry : noise)
    noises.push_back(toJson(entry));
  for (const Finding &finding : findings())
    found.push_back(toJson(finding));
  for (const CounterProbe &counter : counters)
    counterFacts[counter.name] = toJson(counter.fact);
  for (const FoundLibrary &library : libraries)
    versions[library.name] = toJson(library.version);
  Json clockRate = clock ? Json{{"best", clock->best}, {"median", clock->median}} : Json(nullptr);
  Json object = {{"format", 1},
                 {"machine", toJson(machine)},
                 {"noise_floor", noiseFloor()},
                 {"noise", std::move(noises)},
                 {"clock", std::move(clockRate)},
                 {"neighbours", toJson(neighbours)},
                 {"frequency", toJson(currentFrequency)},
                 {"turbo", toJson(turbo)},
                 {"smt", toJson(smt)},
                 {"huge_pages", toJson(hugePages)},
                 {"quota", toJson(quota)},
                 {"counters", std::move(counterFacts)},
                 {"libraries", std::move(versions)},
                 {"findings", std::move(found)},
                 {"trustworthy", trustworthy()},
                 {"summary", summary()}};
  // Names of processes may be no UTF-8.
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace kiln::measure
