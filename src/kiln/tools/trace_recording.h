// --trace=FILE and KILN_TRACE=FILE: what a tool does is recorded while it runs.
#ifndef KILN_TOOLS_TRACE_RECORDING_H
#define KILN_TOOLS_TRACE_RECORDING_H

#include <string>
#include <utility>

#include "kiln/base/status.h"
#include "kiln/tools/cli.h"

namespace kiln {

struct TraceFlags {
  std::string path; // empty: KILN_TRACE says
  double after = 0, duration = 0;

  void add(FlagParser &parser);
};

// As long as it lives; then it tells what was recorded, on standard error.
class TraceRecording {
public:
  // None, where nobody asked for one.
  TraceRecording() = default;
  static Result<TraceRecording> start(const TraceFlags &flags);
  TraceRecording(TraceRecording &&other) noexcept : path(std::exchange(other.path, {})) {}
  TraceRecording &operator=(TraceRecording &&other) noexcept {
    std::swap(path, other.path);
    return *this;
  }
  ~TraceRecording();

private:
  std::string path;
};

} // namespace kiln

#endif // KILN_TOOLS_TRACE_RECORDING_H
