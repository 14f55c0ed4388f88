#include "kiln/measure/providers/thread_binding.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "kiln/runtime/task/topology.h"

namespace kiln::measure {

namespace {

Status bind(pid_t thread, const task::Core &core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t cpu : core.cpus)
    if (cpu < CPU_SETSIZE)
      CPU_SET(cpu, &set);
  // One that has ended since needs no core.
  if (::sched_setaffinity(thread, sizeof(set), &set) != 0 && errno != ESRCH)
    return errnoStatus(errno, "cannot bind a thread to a core");
  return okStatus();
}

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

} // namespace

Status limitProcessors(uint32_t threads) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return errnoStatus(errno, "cannot ask which processors this process may use");
  const uint32_t processors = uint32_t(CPU_COUNT(&allowed));
  if (threads == processors)
    return okStatus();
  if (threads > processors)
    return unimplemented("this library has a thread on each of the {} processors, and not {} threads", processors,
                         threads);
  KILN_ASSIGN_OR_RETURN(task::Topology topology, task::Topology::detect());
  task::Core chosen;
  for (size_t sibling = 0; chosen.cpus.size() < threads && sibling < CPU_SETSIZE; ++sibling)
    for (const task::Core &core : topology.cores)
      if (sibling < core.cpus.size() && chosen.cpus.size() < threads)
        chosen.cpus.push_back(core.cpus[sibling]);
  return bind(::gettid(), chosen);
}

// The calling thread to the first core, and with `others` all other threads to the cores after it.
static Status bindToCores(uint32_t threads, bool others) {
  if (threads == 1) // and looking for cores takes a millisecond or more, in each turn
    return okStatus();
  KILN_ASSIGN_OR_RETURN(task::Topology topology, task::Topology::detect());
  if (threads > topology.cores.size())
    return okStatus();
  size_t core = 0;
  if (others)
    for (pid_t thread : otherThreads())
      KILN_RETURN_IF_ERROR(bind(thread, topology.cores[++core % topology.cores.size()]));
  return bind(::gettid(), topology.cores[0]);
}

Status bindCaller(uint32_t threads) {
  return bindToCores(threads, false);
}

Status bindAll(uint32_t threads) {
  return bindToCores(threads, true);
}

} // namespace kiln::measure
