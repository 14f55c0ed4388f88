#include "kiln/measure/workers/worker_times.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <time.h>
#include <unistd.h>

namespace kiln::measure {

namespace {

// The counter is read first.
constexpr uint64_t kCountedEarly = 5'000'000;

} // namespace

// Of its own threads alone; 0 where it is gone.
static uint64_t ownRunning(pid_t pid) {
  clockid_t clock = 0;
  timespec running = {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &running) != 0)
    return 0;
  return uint64_t(running.tv_sec) * 1'000'000'000 + uint64_t(running.tv_nsec);
}

uint64_t runningNanoseconds(pid_t pid, const RunTimeCounter &counter) {
  return std::max(counter.read().value_or(0), ownRunning(pid));
}

WorkerTimes WorkerTimes::of(pid_t pid, const RunTimeCounter &counter) {
  WorkerTimes times;
  std::optional<uint64_t> counted = counter.read();
  times.running = ownRunning(pid);
  std::error_code error; // threads may end while they are listed
  for (std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), error), end; !error && tasks != end;
       tasks.increment(error)) {
    std::string name = tasks->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ThreadTimes found;
    // "<running> <waiting> <timeslices>"
    if (std::ifstream(tasks->path() / "schedstat") >> found.running >> found.waiting)
      times.threads[thread] = found;
    pid_t child = 0;
    if (!counted && std::ifstream(tasks->path() / "children") >> child)
      times.hasChildren = true;
  }
  // An execution of a program that may not be read, or that has other rights, ends the counting.
  times.escaped = counted && *counted + kCountedEarly < times.running;
  times.running = std::max(counted.value_or(0), times.running);
  return times;
}

namespace {

// Steps of the system's clock, on two processors: so much of what others run may be counted late.
constexpr double kCountedLate = 20e6;
constexpr uint64_t kStolenLate = 20'000'000;

// What a thread waited, less `others`(what all but it ran) where that is asked for; the longest of all threads.
template <typename Less> uint64_t longestWait(const WorkerTimes &before, const WorkerTimes &after, Less less) {
  uint64_t longest = 0;
  for (const auto &[thread, times] : after.threads) {
    auto found = before.threads.find(thread);
    ThreadTimes earlier = found == before.threads.end() ? ThreadTimes() : found->second;
    // The number of a thread that has ended may be another's.
    if (times.waiting < earlier.waiting || times.running < earlier.running)
      earlier = ThreadTimes();
    uint64_t waited = times.waiting - earlier.waiting;
    longest = std::max(longest, waited - std::min(waited, less(times.running - earlier.running)));
  }
  return longest;
}

} // namespace

uint64_t waitedBetween(const WorkerTimes &before, const WorkerTimes &after) {
  return longestWait(before, after, [](uint64_t) { return uint64_t(0); });
}

uint64_t disturbedBetween(const WorkerTimes &before, const WorkerTimes &after) {
  if (before.hasChildren || after.hasChildren || after.escaped)
    return 0;
  uint64_t running = after.running - before.running;
  return longestWait(before, after, [&](uint64_t own) { return running - std::min(running, own); });
}

uint64_t ownWaiting() {
  ThreadTimes own;
  std::ifstream("/proc/thread-self/schedstat") >> own.running >> own.waiting;
  return own.waiting;
}

// For each of these processors, of the fields of its line in /proc/stat, from 0 on, those that are asked for.
static std::vector<uint64_t> countedTimes(std::span<const uint32_t> cpus, bool (*isCounted)(int field)) {
  const uint64_t tick = 1'000'000'000 / uint64_t(std::max(::sysconf(_SC_CLK_TCK), 1L));
  std::ifstream file("/proc/stat");
  std::vector<uint64_t> times(cpus.size());
  // "cpu0 user nice system idle iowait irq softirq steal ..."
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    uint32_t cpu = 0;
    if (std::from_chars(line.data() + 3, line.data() + line.size(), cpu).ec != std::errc())
      continue;
    std::istringstream fields(line.substr(line.find(' ')));
    uint64_t count = 0, ticks = 0;
    for (int field = 0; field < 8 && fields >> count; ++field)
      if (isCounted(field))
        ticks += count;
    for (size_t i = 0; i < cpus.size(); ++i)
      if (cpus[i] == cpu)
        times[i] = ticks * tick;
  }
  return times;
}

uint64_t busyNanoseconds(std::span<const uint32_t> cpus) {
  std::vector<uint64_t> times = countedTimes(cpus, [](int field) { return field != 3 && field != 4; });
  return std::accumulate(times.begin(), times.end(), uint64_t(0));
}

std::vector<uint64_t> stolenNanoseconds(std::span<const uint32_t> cpus) {
  return countedTimes(cpus, [](int field) { return field == 7; });
}

// Some hosts count backwards now and then.
uint64_t mostStolen(std::span<const uint64_t> before, std::span<const uint64_t> after) {
  uint64_t most = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    uint64_t start = i < before.size() ? before[i] : 0;
    most = std::max(most, after[i] - std::min(after[i], start));
  }
  return most;
}

uint64_t StolenTime::add(uint64_t idle, uint64_t stolen) {
  left = std::min(left, kStolenLate) + stolen;
  uint64_t excused = std::min(idle, left);
  left -= excused;
  return excused;
}

uint64_t Disturbances::add(uint64_t oneWaited, int64_t othersRan) {
  waited += double(oneWaited);
  others += double(othersRan);
  double part = std::clamp((others + kCountedLate) / std::max(waited, 1.0), 0.0, 1.0);
  return uint64_t(part * double(oneWaited));
}

} // namespace kiln::measure
