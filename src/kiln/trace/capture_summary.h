// A capture in numbers: who was busy, and with what.
#ifndef KILN_TRACE_CAPTURE_SUMMARY_H
#define KILN_TRACE_CAPTURE_SUMMARY_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/trace/capture_reader.h"

namespace kiln::trace {

// Times are in nanoseconds.
struct NameSummary {
  std::string name;
  uint64_t count = 0;
  double total = 0, least = 0, most = 0;
  double own = 0; // without what is within, on the same lane
};

struct LaneSummary {
  uint32_t number = 0;
  std::string name;
  schema::capture::LaneKind kind = schema::capture::LaneKind::Thread;
  uint64_t events = 0, lost = 0;
  double first = 0, last = 0; // from the start of the recording
  double busy = 0;            // in some zone, but for waits
  double waiting = 0;         // in zones called `wait`
};

struct CaptureSummary {
  std::vector<LaneSummary> lanes;             // with events, or losses
  std::vector<NameSummary> dispatches, zones; // of devices and of threads; the longest first, zones by their own time
  double first = 0, last = 0;                 // of all zones
  uint64_t senseless = 0;                     // zones that end before they begin

  static Result<CaptureSummary> of(const Capture &capture);
};

// What of a capture is missing or doubtful, a sentence each.
std::vector<std::string> faultsOf(const Capture &capture, const CaptureSummary &summary);

} // namespace kiln::trace

#endif // KILN_TRACE_CAPTURE_SUMMARY_H
