#include "kiln/measure/workers/run_time_counter.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kiln::measure {

RunTimeCounter RunTimeCounter::of(pid_t pid) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.inherit = 1; // by threads and processes, also those whose parent is another
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  RunTimeCounter counter;
  counter.event = io::FileDescriptor(
      int(::syscall(SYS_perf_event_open, &attributes, pid, /*cpu=*/-1, /*group=*/-1, PERF_FLAG_FD_CLOEXEC)));
  return counter;
}

std::optional<uint64_t> RunTimeCounter::read() const {
  uint64_t nanoseconds = 0;
  if (event.get() < 0 || ::read(event.get(), &nanoseconds, sizeof(nanoseconds)) != ssize_t(sizeof(nanoseconds)))
    return std::nullopt;
  return nanoseconds;
}

} // namespace kiln::measure
