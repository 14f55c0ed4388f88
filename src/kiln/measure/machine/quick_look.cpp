#include "kiln/measure/machine/quick_look.h"

#include <chrono>
#include <unistd.h>

#include "fmt/format.h"
#include "kiln/base/clock.h"

namespace kiln::measure {

// In half a second a CPU's time is counted in about fifty steps: what is seen in one or two of them is nothing.
static constexpr double kTolerableSteal = 0.02;
static constexpr double kTolerableNeighbours = 0.15; // CPUs
static constexpr size_t kLine = 80;                  // what is said of neighbours fits

// So many snapshots are taken within the time that is told about.
static constexpr int kSteps = 2;

static double ageOf(const ActivitySnapshot &snapshot) {
  return static_cast<double>(monotonicNanoseconds() - snapshot.nanoseconds) * 1e-9;
}

QuickLook::QuickLook(double seconds, SystemFiles files) : seconds(seconds), files(std::move(files)) {
  snapshots.push_back(ActivitySnapshot::take(this->files));
  thread = std::thread([this] { look(); });
}

QuickLook::~QuickLook() {
  stop();
}

void QuickLook::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  stopped.notify_one();
  if (thread.joinable())
    thread.join();
}

void QuickLook::look() {
  std::chrono::duration<double> step(seconds / kSteps);
  for (std::unique_lock lock(mutex); !stopped.wait_for(lock, step, [this] { return stopping; });) {
    snapshots.push_back(ActivitySnapshot::take(files));
    while (snapshots.size() > 1 && ageOf(snapshots[1]) >= seconds)
      snapshots.pop_front();
  }
}

Neighbours QuickLook::finish() {
  stop();
  while (snapshots.size() > 1 && ageOf(snapshots[1]) >= seconds)
    snapshots.pop_front();
  if (double left = seconds - ageOf(snapshots.front()); left > 0)
    std::this_thread::sleep_for(std::chrono::duration<double>(left));
  return watch(snapshots.front(), ActivitySnapshot::take(files), static_cast<unsigned>(::getpid()),
               static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

std::string disturbance(const Neighbours &neighbours) {
  double busy = neighbours.busyCpus.value_or(0), stolen = neighbours.stolen.value_or(0);
  if (busy > kTolerableNeighbours) {
    auto text = [&](const std::string &who) {
      return fmt::format("warning: others keep {:.1f} CPUs busy{}: wait, or see `kiln doctor`", busy, who);
    };
    if (neighbours.processes.empty())
      return text("");
    return text(fmt::format(" ({})", neighbours.processes.front().name.substr(0, kLine - text(" ()").size())));
  }
  if (stolen > kTolerableSteal)
    return fmt::format("warning: other machines on this host take {:.0f} % of its CPUs; see `kiln doctor`",
                       stolen * 100);
  return {};
}

} // namespace kiln::measure
