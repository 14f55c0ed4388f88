#include "kiln/tools/trace_recording.h"

#include <filesystem>
#include <unistd.h>

#include "kiln/tools/env.h"
#include "kiln/trace/recorder.h"

namespace kiln {

void TraceFlags::add(FlagParser &parser) {
  parser.group("Trace");
  parser.add({"trace", "FILE",
              "Records to FILE what happens on the host and on devices, and when; %p in its name stands for the "
              "process's id. Replaces the file. The variable KILN_TRACE does the same. kiln-profile reads it."},
             path);
  parser.add({"trace_after", "SECONDS", "What happens before is left out."}, after);
  parser.add({"trace_for", "SECONDS", "For how long it is recorded; 0 is until the end."}, duration);
}

static std::string withProcess(std::string path) {
  for (size_t at = 0; (at = path.find("%p", at)) != std::string::npos;)
    path.replace(at, 2, std::to_string(::getpid()));
  return path;
}

Result<TraceRecording> TraceRecording::start(const TraceFlags &flags) {
  const char *variable = getenvEither("TRACE");
  const std::string given = !flags.path.empty() ? flags.path : variable ? variable : "";
  TraceRecording recording;
  if (given.empty())
    return recording;
  if (std::error_code error; std::filesystem::is_directory(given, error))
    return invalidArgument("{}: '{}' is a folder; a file in it would be {}/%p.trace",
                           flags.path.empty() ? "KILN_TRACE" : "--trace", given, given);
  trace::RecordingOptions options{withProcess(given)};
  options.after = flags.after;
  options.duration = flags.duration;
  // Of several programs in one process, the first one's.
  Status started = trace::startRecording(options);
  if (started.code() == StatusCode::FailedPrecondition)
    return recording;
  if (!started.ok())
    return std::move(started).withContext(flags.path.empty() ? "KILN_TRACE" : "--trace");
  recording.path = options.path;
  return recording;
}

TraceRecording::~TraceRecording() {
  if (path.empty())
    return;
  const trace::RecordingEnd end = trace::stopRecording();
  const std::string lost = end.lost == 0 ? "" : fmt::format(", {} lost", end.lost);
  fmt::print(stderr, "trace: {} events{} in {}; kiln-profile summary {} shows them\n", end.events, lost, path, path);
  if (!end.failure.ok())
    fmt::print(stderr, "trace: it ends before the program does: {}\n", end.failure.message());
}

} // namespace kiln
