// Writes what lanes hold to a file, from a thread of its own, while the program runs. There is one recording at a time
// in a process.
#ifndef KILN_TRACE_RECORDER_H
#define KILN_TRACE_RECORDER_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kiln/base/clock_fit.h"
#include "kiln/base/status.h"
#include "kiln/schema/capture.h"
#include "kiln/trace/lane.h"

namespace kiln::trace {

struct RecordingOptions {
  std::string path;
  // Seconds from the start after which events are kept, and for how long; 0 for as long as it runs.
  double after = 0, duration = 0;
};

// Replaces the file. Events are kept from here on, or later as the options say.
Status startRecording(const RecordingOptions &options);

struct RecordingEnd {
  uint64_t events = 0, lost = 0, bytes = 0;
  // Why the file ends before the recording did, as on a full disk. What is in the file until then can be read.
  Status failure;
};
// Writes what is left. Nothing where none is going on.
RecordingEnd stopRecording();

// The host's ticks, and its monotonic clock in nanoseconds.
inline constexpr uint32_t kTickClock = 1, kMonotonicClock = 2;
// A clock of a device. Samples may be added as often as there are new ones.
uint32_t addClock(std::string_view name);
void addClockSamples(uint32_t clock, std::span<const ClockSample> samples);

// A lane of something that is no thread; lives until the process ends. Whoever puts events into it sees to it that
// nobody else does meanwhile.
Lane &addLane(std::string_view name, schema::capture::LaneKind kind, uint32_t clock);

// Of lanes that are filling up.
void wakeRecorder();

} // namespace kiln::trace

#endif // KILN_TRACE_RECORDER_H
