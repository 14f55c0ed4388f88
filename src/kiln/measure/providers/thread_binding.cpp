#include "kiln/measure/providers/thread_binding.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include "kiln/runtime/task/topology.h"

namespace kiln::measure {

namespace {

// Threads other than the calling one; the system numbers them in the order in which they were started.
std::vector<pid_t> otherThreads() {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    if (thread > 0 && thread != ::gettid())
      threads.push_back(thread);
  }
  std::ranges::sort(threads);
  return threads;
}

// Whether each thread is to have a core of its own; one that is alone needs none, and looking for cores takes time.
bool hasOwnCores(uint32_t threads) {
  return threads > 1 && threads <= task::Topology::host().cores.size();
}

} // namespace

Status limitProcessors(uint32_t threads) {
  const std::vector<uint32_t> &cpus = task::Topology::host().cpus;
  if (threads > cpus.size())
    return unimplemented("this library has a thread on each of the {} processors, and not {} threads", cpus.size(),
                         threads);
  return threads == cpus.size() ? okStatus() : task::bindThread(0, std::span(cpus).first(threads));
}

Status bindCaller(uint32_t threads) {
  if (!hasOwnCores(threads))
    return okStatus();
  return task::bindThread(0, task::Topology::host().cores[0].cpus);
}

Status bindAll(uint32_t threads) {
  if (!hasOwnCores(threads))
    return okStatus();
  const std::vector<task::Core> &cores = task::Topology::host().cores;
  size_t core = 0;
  for (pid_t thread : otherThreads())
    KILN_RETURN_IF_ERROR(task::bindThread(thread, cores[++core % cores.size()].cpus));
  return task::bindThread(0, cores[0].cpus);
}

} // namespace kiln::measure
