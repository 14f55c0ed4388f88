// The processor time of a process with all that it starts, whatever becomes of these.
#ifndef KILN_MEASURE_WORKERS_RUN_TIME_COUNTER_H
#define KILN_MEASURE_WORKERS_RUN_TIME_COUNTER_H

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "kiln/runtime/io/file.h"

namespace kiln::measure {

class RunTimeCounter {
public:
  // Of a process that has started nothing yet. It counts nothing where the system does not permit it
  // (perf_event_paranoid above 2, some containers).
  static RunTimeCounter of(pid_t pid);

  // Nanoseconds of all threads and processes.
  std::optional<uint64_t> read() const;

private:
  io::FileDescriptor event;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_RUN_TIME_COUNTER_H
