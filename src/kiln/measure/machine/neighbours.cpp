#include "kiln/measure/machine/neighbours.h"

#include <algorithm>
#include <cstdlib>

#include "kiln/base/clock.h"

namespace kiln::measure {

std::optional<CpuTimes> parseCpuTimes(std::string_view text) {
  std::vector<std::string_view> words = splitWords(text.substr(0, text.find('\n')));
  // cpu user nice system idle iowait irq softirq steal ...
  if (words.size() < 9 || words[0] != "cpu")
    return std::nullopt;
  uint64_t values[8];
  for (size_t i = 0; i < 8; ++i) {
    std::optional<uint64_t> value = parseUnsigned(words[i + 1]);
    if (!value)
      return std::nullopt;
    values[i] = *value;
  }
  return CpuTimes{values[0] + values[1] + values[2] + values[5] + values[6], values[3] + values[4], values[7]};
}

std::optional<ProcessTimes> parseProcessTimes(std::string_view text) {
  size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  // After the name: state and 10 numbers, then user and system time, then 6 numbers, then the start.
  std::vector<std::string_view> words = splitWords(text.substr(close + 1));
  if (words.size() < 20)
    return std::nullopt;
  std::optional<uint64_t> user = parseUnsigned(words[11]), system = parseUnsigned(words[12]);
  std::optional<uint64_t> endedUser = parseUnsigned(words[13]), endedSystem = parseUnsigned(words[14]);
  std::optional<uint64_t> parent = parseUnsigned(words[1]), start = parseUnsigned(words[19]);
  if (!user || !system || !endedUser || !endedSystem || !parent || !start)
    return std::nullopt;
  return ProcessTimes{std::string(text.substr(open + 1, close - open - 1)), *user + *system, *start,
                      *endedUser + *endedSystem, static_cast<unsigned>(*parent)};
}

ActivitySnapshot ActivitySnapshot::take(const SystemFiles &files) {
  ActivitySnapshot snapshot;
  snapshot.nanoseconds = monotonicNanoseconds();
  if (Result<std::string> text = files.read("/proc/stat"); text.ok())
    snapshot.machine = parseCpuTimes(*text);
  if (Result<std::string> text = files.read("/proc/loadavg"); text.ok())
    snapshot.load = *text;
  for (const std::string &name : files.list("/proc")) {
    std::optional<uint64_t> pid = parseUnsigned(name);
    if (!pid || *pid > UINT32_MAX)
      continue;
    Result<std::string> text = files.read(fmt::format("/proc/{}/stat", name)); // it may have ended meanwhile
    if (std::optional<ProcessTimes> times = text.ok() ? parseProcessTimes(*text) : std::nullopt)
      snapshot.processes[static_cast<unsigned>(*pid)] = *times;
  }
  return snapshot;
}

// Whether the process is `self` or was started by it, or by whom it started.
static bool belongsTo(unsigned self, unsigned pid, const std::map<unsigned, ProcessTimes> &processes) {
  // As deep as no family is, in case that what was read while it changed has a circle.
  for (int depth = 0; depth < 64 && pid != self; ++depth) {
    auto found = processes.find(pid);
    if (found == processes.end())
      return false;
    pid = found->second.parent;
  }
  return pid == self;
}

// What `self` and those that it started have used, ended ones included: it never gets less.
static uint64_t ownTicks(const ActivitySnapshot &snapshot, unsigned self) {
  uint64_t ticks = 0;
  for (const auto &[pid, times] : snapshot.processes)
    if (belongsTo(self, pid, snapshot.processes))
      ticks += times.ticks + times.ended;
  return ticks;
}

// How much more it is now; counters of virtual machines sometimes go back.
static double growth(uint64_t before, uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0;
}

Neighbours watch(const ActivitySnapshot &before, const ActivitySnapshot &after, unsigned self, double ticksPerSecond) {
  Neighbours result;
  result.seconds = growth(before.nanoseconds, after.nanoseconds) * 1e-9;
  std::vector<std::string_view> load = splitWords(after.load);
  char *end = nullptr;
  std::string first(load.empty() ? "" : load[0]);
  if (double value = std::strtod(first.c_str(), &end); !first.empty() && *end == '\0')
    result.load = value;
  double scale = result.seconds > 0 ? 1 / (result.seconds * ticksPerSecond) : 0;
  for (const auto &[pid, now] : after.processes) {
    auto was = before.processes.find(pid);
    bool same = was != before.processes.end() && was->second.start == now.start;
    double cpus = growth(same ? was->second.ticks : 0, now.ticks) * scale;
    if (cpus > 0.02 && !belongsTo(self, pid, after.processes))
      result.processes.push_back({pid, now.name, cpus});
  }
  std::ranges::sort(result.processes, std::greater(), &Neighbour::cpus);
  result.processes.resize(std::min<size_t>(result.processes.size(), 5));
  if (before.machine && after.machine) {
    double busy = growth(before.machine->busy, after.machine->busy);
    double steal = growth(before.machine->steal, after.machine->steal);
    double idle = growth(before.machine->idle, after.machine->idle);
    if (double total = busy + steal + idle; total > 0)
      result.stolen = steal / total;
    result.busyCpus = std::max(0.0, (busy - growth(ownTicks(before, self), ownTicks(after, self))) * scale);
  }
  return result;
}

} // namespace kiln::measure
