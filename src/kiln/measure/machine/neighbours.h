// Who else uses this machine: other processes, and other virtual machines.
#ifndef KILN_MEASURE_MACHINE_NEIGHBOURS_H
#define KILN_MEASURE_MACHINE_NEIGHBOURS_H

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/measure/machine/system_files.h"

namespace kiln::measure {

// The machine's CPU time since it started, in ticks.
struct CpuTimes {
  uint64_t busy = 0, idle = 0, steal = 0;
  bool operator==(const CpuTimes &) const = default;
};
// Of /proc/stat.
std::optional<CpuTimes> parseCpuTimes(std::string_view text);

struct ProcessTimes {
  std::string name;
  uint64_t ticks = 0, start = 0; // `start` tells a process from a later one with the same number
  uint64_t ended = 0;            // ticks of children that it has waited for
  unsigned parent = 0;
};
// Of /proc/<pid>/stat, in which the name may hold anything.
std::optional<ProcessTimes> parseProcessTimes(std::string_view text);

// What the counters said at one moment.
struct ActivitySnapshot {
  uint64_t nanoseconds = 0;
  std::optional<CpuTimes> machine;
  std::map<unsigned, ProcessTimes> processes;
  std::string load; // /proc/loadavg

  static ActivitySnapshot take(const SystemFiles &files);
};

struct Neighbour {
  unsigned pid;
  std::string name;
  double cpus; // how many CPUs it kept busy
};

struct Neighbours {
  double seconds = 0;               // the time that was watched
  std::optional<double> load;       // of the last minute
  std::optional<double> stolen;     // part of the CPU time that other virtual machines took
  std::optional<double> busyCpus;   // kept busy by all processes but this one and those that it started
  std::vector<Neighbour> processes; // the busiest others that could be seen, at most five of more than 0.02 CPUs
};
// Between two snapshots, in a process with the number `self`, at so many ticks a second.
Neighbours watch(const ActivitySnapshot &before, const ActivitySnapshot &after, unsigned self, double ticksPerSecond);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_NEIGHBOURS_H
