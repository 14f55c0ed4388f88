#include "kiln/tools/dispatch/sweep/machine_facts.h"

#include <algorithm>

#include "kiln/base/split.h"
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

// The first processor that is there, whichever this process may use.
static unsigned firstProcessor(const SystemFiles &files) {
  std::optional<std::vector<unsigned>> online =
      measure::parseCpuList(files.fact("/sys/devices/system/cpu/online").value);
  return online && !online->empty() ? online->front() : 0;
}

// What clocks are limited to: by the processor, by the system, and whether they may rise above for a while.
static Json clockLimits(const SystemFiles &files, unsigned processor) {
  std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/", processor);
  Fact boost = files.fact("/sys/devices/system/cpu/cpufreq/boost");
  if (!boost.available())
    if (Fact off = files.fact("/sys/devices/system/cpu/intel_pstate/no_turbo"); off.available())
      boost = Fact::of(off.value == "1" ? "0" : "1");
  return {{"maximum_khz", toJson(files.fact(folder + "cpuinfo_max_freq"))},
          {"allowed_khz", toJson(files.fact(folder + "scaling_max_freq"))},
          {"boost", toJson(boost)}};
}

static std::string hardwareJson(const measure::Provenance &machine, const SystemFiles &files) {
  unsigned processor = firstProcessor(files);
  Json json = toJson(machine);
  json.erase("allowed_cpus");
  // Kernels keep some of the memory for themselves, and not always as much.
  constexpr uint64_t kGibibyte = uint64_t(1) << 30;
  json.erase("memory_bytes");
  json["memory_gib"] = (machine.memoryBytes + kGibibyte - 1) / kGibibyte;
  // Of the first processor, as processors of other kinds may be those that this process may use.
  json["caches"] = measure::cachesJson(measure::readCaches(files, processor));
  json["governor"] =
      toJson(files.fact(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", processor)));
  json["clock_limits"] = clockLimits(files, processor);
  json["gpus"] = Json::array();
  for (const measure::Gpu &gpu : measure::listGpus(files))
    json["gpus"].push_back(
        {{"name", toJson(gpu.name)}, {"driver", toJson(gpu.driver)}, {"maximum_mhz", toJson(gpu.maximumMegahertz)}});
  return report::dumpJson(json);
}

// What the control group of this process, or one above it, sets as a limit: "max" where none does. Names of groups are
// left out: each job of a cluster has its own.
static Fact groupLimit(const SystemFiles &files, const char *name) {
  Result<std::string> groups = files.read("/proc/self/cgroup");
  if (!groups.ok())
    return Fact::missing("this system has no control groups");
  for (std::string_view line : split(*groups, '\n')) {
    if (!line.starts_with("0::"))
      continue;
    std::string path(line.substr(3));
    while (true) {
      if (path == "/")
        path.clear();
      Result<std::string> limit = files.read(fmt::format("/sys/fs/cgroup{}/{}", path, name));
      if (limit.ok() && !limit->starts_with("max"))
        return Fact::of(*limit);
      if (path.empty())
        return Fact::of("max");
      path.resize(std::min(path.rfind('/'), path.size()));
    }
  }
  return Fact::missing("this system has control groups of the first version only");
}

static std::string allocationJson(const measure::Provenance &machine, const SystemFiles &files) {
  std::vector<unsigned> processors = machine.allowedCpus;
  std::ranges::sort(processors);
  return report::dumpJson({{"processors", processors},
                           {"cpu_time", toJson(groupLimit(files, "cpu.max"))},
                           {"memory", toJson(groupLimit(files, "memory.max"))}});
}

store::Machine machineFacts(const measure::Provenance &machine, const SystemFiles &files) {
  return {nodeJson(files), hardwareJson(machine, files), allocationJson(machine, files)};
}

} // namespace kiln
