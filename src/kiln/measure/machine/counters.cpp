#include "kiln/measure/machine/counters.h"

#include <cerrno>
#include <perfmon/pfmlib_perf_event.h>
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

static Result<perf_event_attr> encode(const char *event) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  int error = ::pfm_initialize();
  if (error == PFM_SUCCESS)
    error = ::pfm_get_perf_event_encoding(event, PFM_PLM3, &attr, nullptr, nullptr);
  if (error != PFM_SUCCESS)
    return unavailable("libpfm4 knows no {} of this CPU: {}", event, ::pfm_strerror(error));
  return attr;
}

// CPUs with cores of several kinds have a type of event for each kind.
bool knowsEvent(const char *event) {
  Result<perf_event_attr> attr = encode(event);
  return attr.ok() && (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_RAW);
}

Result<int> openCounter(const char *event, const SystemFiles &files) {
  KILN_ASSIGN_OR_RETURN(perf_event_attr attr, encode(event));
  attr.disabled = 1;
  attr.inherit = 1;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  long file = ::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (file < 0)
    return unavailable("{}", explain(errno, files));
  return static_cast<int>(file);
}

static Fact probe(const char *event, const SystemFiles &files) {
  Result<int> file = openCounter(event, files);
  if (!file.ok())
    return Fact::missing(std::string(file.status().message()));
  ::ioctl(*file, PERF_EVENT_IOC_ENABLE, 0);
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < 100000; ++i)
    sum = sum + i;
  ::ioctl(*file, PERF_EVENT_IOC_DISABLE, 0);
  uint64_t numbers[3] = {};
  bool read = ::read(*file, numbers, sizeof(numbers)) == sizeof(numbers);
  ::close(*file);
  if (!read)
    return Fact::missing("it opens but cannot be read");
  // A loop can do without a cache miss, but not without a cycle.
  if (numbers[0] == 0 && event != kCacheMissEvent)
    return Fact::missing("it opens but counts nothing, as in some virtual machines");
  return Fact::of("counts");
}

std::vector<CounterProbe> probeCounters(const SystemFiles &files) {
  return {{"cycles", probe(kCycleEvent, files)},
          {"instructions", probe(kInstructionEvent, files)},
          {"cache misses", probe(kCacheMissEvent, files)}};
}

} // namespace kiln::measure
