#include "kiln/measure/workers/process_times.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <time.h>

namespace kiln::measure {

ProcessTimes ProcessTimes::of(pid_t pid) {
  ProcessTimes times;
  clockid_t clock = 0;
  timespec running = {};
  if (::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &running) == 0)
    times.running = uint64_t(running.tv_sec) * 1'000'000'000 + uint64_t(running.tv_nsec);
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
    if (std::ifstream(tasks->path() / "children") >> child)
      times.hasChildren = true;
  }
  return times;
}

uint64_t disturbedBetween(const ProcessTimes &before, const ProcessTimes &after) {
  if (before.hasChildren || after.hasChildren)
    return 0;
  uint64_t running = after.running - before.running, longest = 0;
  for (const auto &[thread, times] : after.threads) {
    auto found = before.threads.find(thread);
    ThreadTimes earlier = found == before.threads.end() ? ThreadTimes() : found->second;
    uint64_t waited = times.waiting - earlier.waiting;
    uint64_t others = running - std::min(running, times.running - earlier.running);
    longest = std::max(longest, waited - std::min(waited, others));
  }
  return longest;
}

} // namespace kiln::measure
