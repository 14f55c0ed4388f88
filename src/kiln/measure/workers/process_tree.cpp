#include "kiln/measure/workers/process_tree.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <memory>
#include <mutex>
#include <optional>
#include <sched.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmt/format.h"
#include "kiln/base/clock.h"
#include "kiln/runtime/io/file.h"

namespace kiln::measure {

namespace {

// Linux 2.4 limited the locks of a process by it; since then it limits nothing.
constexpr auto kMarkedResource = RLIMIT_LOCKS;
constexpr rlim_t kHighestMark = rlim_t(1) << 40;
// A killed process needs some tenths of a millisecond to end; the rest is for those that fork as fast as they can.
constexpr uint64_t kKillPatience = 1'000'000'000;
// A stop needs some microseconds; more where other programs keep the processors busy, or a thread is within a long call
// to the kernel.
constexpr uint64_t kStopPatience = 100'000'000;

// The workers of this process.
struct Workers {
  std::mutex mutex;
  std::set<pid_t> alive;
  int subreaperBefore = 0; // as it was before the first of them
};

Workers &workers() {
  static Workers all;
  return all;
}

rlim_t hardLimit() {
  rlimit limit = {};
  return ::getrlimit(kMarkedResource, &limit) == 0 ? limit.rlim_max : 0;
}

void carryMark(rlim_t mark) {
  rlimit limit = {mark, mark};
  ::setrlimit(kMarkedResource, &limit);
  // Nobody runs before others: nice values stay as they are, and so do scheduling classes.
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_NICE, &none);
  ::setrlimit(RLIMIT_RTPRIO, &none);
  // Root could raise limits and priorities again; this has an effect for root alone.
  ::prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE);
  ::prctl(PR_CAPBSET_DROP, CAP_SYS_NICE);
}

void restoreSubreaper(const Workers &all) {
  if (all.alive.empty())
    ::prctl(PR_SET_CHILD_SUBREAPER, all.subreaperBefore);
}

// The mutex is held: no worker is forked and not yet known.
void killStrays(const Workers &all) {
  const rlim_t ours = hardLimit();
  auto isStray = [&](pid_t child) {
    rlimit its = {};
    return !all.alive.contains(child) && ::prlimit(child, kMarkedResource, nullptr, &its) == 0 && its.rlim_max < ours;
  };
  Deadline patience = Deadline::after(kKillPatience);
  bool found = true;
  while (found && patience.remaining() > 0) {
    found = false;
    for (pid_t child : childrenOf(::getpid())) {
      if (!isStray(child))
        continue;
      found = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, WNOHANG);
    }
    if (found)
      ::sched_yield();
  }
}

std::string readAll(const std::string &path) {
  std::string text;
  io::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char chunk[4096];
  for (ssize_t count = 0; file && (count = ::read(file.get(), chunk, sizeof(chunk))) > 0;)
    text.append(chunk, size_t(count));
  return text;
}

// The entries of a folder that are numbers.
std::vector<pid_t> numbersIn(const std::string &folder) {
  std::vector<pid_t> numbers;
  std::unique_ptr<DIR, int (*)(DIR *)> open(::opendir(folder.c_str()), ::closedir);
  while (const dirent *entry = open ? ::readdir(open.get()) : nullptr) {
    std::string_view name = entry->d_name;
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
      numbers.push_back(number);
  }
  return numbers;
}

// Of a process; nothing where it is gone.
std::optional<pid_t> parentOf(pid_t process) {
  std::string stat = readAll(fmt::format("/proc/{}/stat", process));
  // As in stateIn.
  size_t at = stat.rfind(") ");
  pid_t parent = 0;
  if (at == stat.npos || at + 4 > stat.size() ||
      std::from_chars(stat.data() + at + 4, stat.data() + stat.size(), parent).ec != std::errc())
    return std::nullopt;
  return parent;
}

// The letter for the state in a line of /proc, which follows a name in parentheses that may hold anything.
char stateIn(const std::string &stat) {
  size_t at = stat.rfind(") ");
  return at == stat.npos || at + 2 >= stat.size() ? '?' : stat[at + 2];
}

// Whether it has ended, though its parent has not asked how.
bool hasEnded(pid_t process) {
  std::string stat = readAll(fmt::format("/proc/{}/stat", process));
  return stat.empty() || stateIn(stat) == 'Z' || stateIn(stat) == 'X';
}

// How often the threads of a process got a processor; nothing unless all of them are stopped.
std::optional<uint64_t> timesScheduledIfStopped(pid_t process) {
  uint64_t times = 0;
  std::vector<pid_t> threads = numbersIn(fmt::format("/proc/{}/task", process));
  for (pid_t thread : threads) {
    std::string folder = fmt::format("/proc/{}/task/{}/", process, thread);
    if (stateIn(readAll(folder + "stat")) != 'T')
      return std::nullopt;
    // "<running> <waiting> <how often>"
    std::string schedstat = readAll(folder + "schedstat");
    size_t last = schedstat.rfind(' ');
    uint64_t count = 0;
    if (last == schedstat.npos ||
        std::from_chars(schedstat.data() + last + 1, schedstat.data() + schedstat.size(), count).ec != std::errc())
      return std::nullopt;
    times += count;
  }
  return threads.empty() ? std::nullopt : std::optional(times);
}

// Those that a long call to the kernel keeps from stopping are left out.
std::vector<StoppedChild> awaitStopOf(const std::vector<pid_t> &children) {
  std::vector<StoppedChild> stopped;
  Deadline patience = Deadline::after(kStopPatience);
  for (pid_t child : children) {
    std::optional<uint64_t> times;
    while (!(times = timesScheduledIfStopped(child)) && !hasEnded(child) && patience.remaining() > 0)
      ::sched_yield();
    if (times)
      stopped.push_back({child, *times});
  }
  return stopped;
}

// True where it has stopped, which is then no news any more.
bool awaitStop(pid_t worker) {
  Deadline patience = Deadline::after(kStopPatience);
  siginfo_t info = {};
  while (::waitid(P_PID, id_t(worker), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid != worker &&
         patience.remaining() > 0)
    ::sched_yield();
  info = {};
  return ::waitid(P_PID, id_t(worker), &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == worker;
}

// Since this was asked last.
bool changedState(pid_t worker) {
  siginfo_t info = {};
  return ::waitid(P_PID, id_t(worker), &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 && info.si_pid == worker;
}

} // namespace

std::vector<pid_t> childrenByScanning(pid_t parent) {
  std::vector<pid_t> children = numbersIn("/proc");
  std::erase_if(children, [&](pid_t process) { return parentOf(process) != parent; });
  return children;
}

std::vector<pid_t> childrenOf(pid_t parent) {
  static const bool listed = ::access("/proc/thread-self/children", R_OK) == 0;
  if (!listed)
    return childrenByScanning(parent);
  std::vector<pid_t> children;
  for (pid_t thread : numbersIn(fmt::format("/proc/{}/task", parent))) {
    std::string list = readAll(fmt::format("/proc/{}/task/{}/children", parent, thread));
    const char *at = list.data(), *end = at + list.size();
    for (pid_t child = 0;; children.push_back(child)) {
      while (at < end && *at == ' ')
        ++at;
      std::from_chars_result number = std::from_chars(at, end, child);
      if (number.ec != std::errc())
        break;
      at = number.ptr;
    }
  }
  return children;
}

pid_t forkWorker() {
  Workers &all = workers();
  std::lock_guard lock(all.mutex);
  if (all.alive.empty())
    ::prctl(PR_GET_CHILD_SUBREAPER, &all.subreaperBefore);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const rlim_t ours = hardLimit(), mark = std::min(ours, kHighestMark) - (ours > 0);
  pid_t worker = ::fork();
  if (worker == 0)
    carryMark(mark);
  else if (worker > 0)
    all.alive.insert(worker);
  else
    restoreSubreaper(all);
  return worker;
}

int reapWorker(pid_t worker, rusage &usage) {
  siginfo_t info = {};
  while (::waitid(P_PID, id_t(worker), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  // Before its number, which is that of the group, can be another's.
  ::kill(-worker, SIGKILL);
  Workers &all = workers();
  std::lock_guard lock(all.mutex);
  int status = 0;
  while (::wait4(worker, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  all.alive.erase(worker);
  killStrays(all);
  restoreSubreaper(all);
  return status;
}

StoppedWorker stopWorker(pid_t worker) {
  // That it was continued for the request that is over.
  (void)changedState(worker);
  ::kill(-worker, SIGSTOP);
  ::kill(worker, SIGSTOP); // it may have left its group, too
  StoppedWorker stopped;
  std::vector<pid_t> &elsewhere = stopped.elsewhere;
  // What left the group may have forked just before it was stopped: looks again as long as there is something new.
  size_t known = 0;
  std::vector<pid_t> children;
  do {
    known = elsewhere.size();
    children.clear();
    for (std::vector<pid_t> parents = {worker}; !parents.empty();) {
      pid_t parent = parents.back();
      parents.pop_back();
      for (pid_t child : childrenOf(parent)) {
        parents.push_back(child);
        children.push_back(child);
        if (::getpgid(child) == worker || std::ranges::find(elsewhere, child) != elsewhere.end())
          continue;
        ::kill(child, SIGSTOP);
        elsewhere.push_back(child);
      }
    }
  } while (elsewhere.size() != known);
  {
    Workers &all = workers();
    std::lock_guard lock(all.mutex);
    killStrays(all);
  }
  stopped.seen = awaitStop(worker);
  stopped.at = monotonicNanoseconds();
  stopped.children = awaitStopOf(children);
  return stopped;
}

bool wasContinued(pid_t worker, const StoppedWorker &stopped) {
  return (stopped.seen && changedState(worker)) || std::ranges::any_of(stopped.children, [](const StoppedChild &child) {
           return timesScheduledIfStopped(child.process) != child.timesScheduled;
         });
}

void continueWorker(pid_t worker, const StoppedWorker &stopped) {
  for (pid_t process : stopped.elsewhere)
    ::kill(process, SIGCONT);
  ::kill(-worker, SIGCONT);
  ::kill(worker, SIGCONT);
}

} // namespace kiln::measure
