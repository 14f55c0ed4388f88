#include "kiln/measure/machine/quick_look.h"

#include <cmath>
#include <time.h>
#include <unistd.h>

#include "fmt/format.h"

namespace kiln::measure {

// In half a second a CPU's time is counted in about fifty steps: what is seen in one or two of them is nothing.
static constexpr double kTolerableSteal = 0.02;
static constexpr double kTolerableNeighbours = 0.15; // CPUs
static constexpr size_t kLongestName = 12;

Neighbours lookAtMachine(double seconds, const SystemFiles &files) {
  ActivitySnapshot before = ActivitySnapshot::take(files);
  timespec time = {static_cast<time_t>(seconds), static_cast<long>((seconds - std::floor(seconds)) * 1e9)};
  ::nanosleep(&time, nullptr);
  return watch(before, ActivitySnapshot::take(files), static_cast<unsigned>(::getpid()),
               static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

std::string disturbance(const Neighbours &neighbours) {
  double busy = neighbours.busyCpus.value_or(0), stolen = neighbours.stolen.value_or(0);
  if (busy > kTolerableNeighbours) {
    std::string who;
    if (!neighbours.processes.empty())
      who = fmt::format(" ({})", neighbours.processes.front().name.substr(0, kLongestName));
    return fmt::format("warning: others keep {:.1f} CPUs busy{}: wait, or see `kiln doctor`", busy, who);
  }
  if (stolen > kTolerableSteal)
    return fmt::format("warning: other machines on this host take {:.0f} % of its CPUs; see `kiln doctor`",
                       stolen * 100);
  return {};
}

} // namespace kiln::measure
