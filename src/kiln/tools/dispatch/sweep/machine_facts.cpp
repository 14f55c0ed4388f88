#include "kiln/tools/dispatch/sweep/machine_facts.h"

#include <algorithm>

#include "kiln/measure/machine/gpus.h"
#include "kiln/measure/machine/machine_json.h"
#include "kiln/report/formats/json_value.h"

namespace kiln {

using measure::Fact;
using measure::Json;
using measure::SystemFiles;

static std::string nodeJson(const SystemFiles &files) {
  return report::dumpJson({{"host", toJson(files.fact("/proc/sys/kernel/hostname"))},
                           {"machine_id", toJson(files.fact("/etc/machine-id"))}});
}

// What clocks are limited to: by the processor, by the system, and whether they may rise above for a while.
static Json clockLimits(const SystemFiles &files, unsigned processor) {
  std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/", processor);
  return {{"maximum_khz", toJson(files.fact(folder + "cpuinfo_max_freq"))},
          {"allowed_khz", toJson(files.fact(folder + "scaling_max_freq"))},
          {"boost", toJson(files.boost())}};
}

static std::string hardwareJson(const measure::Provenance &machine, const SystemFiles &files) {
  const task::Topology &topology = task::Topology::host();
  unsigned processor = topology.machineCpus.front();
  Json json = toJson(machine);
  json.erase("allowed_cpus");
  // Kernels keep some of the memory for themselves, and not always as much.
  constexpr uint64_t kGibibyte = uint64_t(1) << 30;
  json.erase("memory_bytes");
  json["memory_gib"] = (machine.memoryBytes + kGibibyte - 1) / kGibibyte;
  // Of the first processor, as processors of other kinds may be those that this process may use.
  json["caches"] = measure::cachesJson(measure::cachesOf(topology, processor));
  json["governor"] = toJson(files.governor(processor));
  json["clock_limits"] = clockLimits(files, processor);
  json["gpus"] = Json::array();
  for (const measure::Gpu &gpu : measure::listGpus(files))
    json["gpus"].push_back(
        {{"name", toJson(gpu.name)}, {"driver", toJson(gpu.driver)}, {"maximum_mhz", toJson(gpu.maximumMegahertz)}});
  return report::dumpJson(json);
}

static std::string allocationJson(const measure::Provenance &machine, const SystemFiles &files) {
  std::vector<unsigned> processors = machine.allowedCpus;
  std::ranges::sort(processors);
  return report::dumpJson({{"processors", processors},
                           {"cpu_time", toJson(files.groupLimit("cpu.max"))},
                           {"memory", toJson(files.groupLimit("memory.max"))}});
}

store::Machine machineFacts(const measure::Provenance &machine, const SystemFiles &files) {
  return {nodeJson(files), hardwareJson(machine, files), allocationJson(machine, files)};
}

} // namespace kiln
