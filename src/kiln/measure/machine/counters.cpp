#include "kiln/measure/machine/counters.h"

#include <cerrno>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kiln::measure {

// Why perf_event_open failed, and what to do.
static std::string explain(int error, const SystemFiles &files) {
  std::string level = files.fact("/proc/sys/kernel/perf_event_paranoid").value;
  switch (error) {
  case EACCES:
  case EPERM:
    return fmt::format("not permitted: kernel.perf_event_paranoid is {}; `sysctl kernel.perf_event_paranoid=1` as root "
                       "allows it, unless a sandbox forbids it",
                       level.empty() ? "not readable" : level);
  case ENOENT:
  case EOPNOTSUPP:
  case ENODEV: return "this CPU, or the virtual machine, has no such counter";
  case ENOSYS: return "this kernel, or a sandbox, offers no perf_event_open";
  case EMFILE:
  case EBUSY: return "somebody else holds the counter";
  default: return std::string(errnoStatus(error, "perf_event_open failed").message());
  }
}

static Fact probe(uint64_t config, const SystemFiles &files) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = config;
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  long file = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0)
    return Fact::missing(explain(errno, files));
  int fd = static_cast<int>(file);
  ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 100000; ++i)
    sum = sum + i;
  ::ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  uint64_t count = 0;
  bool read = ::read(fd, &count, sizeof(count)) == sizeof(count);
  ::close(fd);
  if (!read)
    return Fact::missing("it opens but cannot be read");
  // A loop can do without a cache miss, but not without a cycle.
  if (count == 0 && config != PERF_COUNT_HW_CACHE_MISSES)
    return Fact::missing("it opens but counts nothing, as in some virtual machines");
  return Fact::of("counts");
}

std::vector<CounterProbe> probeCounters(const SystemFiles &files) {
  return {{"cycles", probe(PERF_COUNT_HW_CPU_CYCLES, files)},
          {"instructions", probe(PERF_COUNT_HW_INSTRUCTIONS, files)},
          {"cache misses", probe(PERF_COUNT_HW_CACHE_MISSES, files)}};
}

} // namespace kiln::measure
