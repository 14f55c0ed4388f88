// What became of a candidate. The names are stored and shown.
#ifndef KILN_MEASURE_WORKERS_OUTCOME_H
#define KILN_MEASURE_WORKERS_OUTCOME_H

#include <optional>
#include <string_view>

namespace kiln::measure {

enum class Outcome {
  Ok,
  Wrong,       // verification failed
  Unsupported, // the provider does not do this problem; no failure
  Failed,      // the worker answered with an error
  NotStarted,  // the program could not be started
  Exited,      // the worker ended by itself
  Crashed,     // a signal ended it that was not the lab's
  TimedOut,    // it did not answer in time
  MemoryLimit, // it took more memory than it may
  Rubbish,     // it wrote what is no answer
  Implausible, // faster than the machine can be
};

// "ok", "wrong", "unsupported", "failed", "not started", "exited", "crashed", "timed out", "memory limit", "rubbish",
// "implausible"
const char *outcomeName(Outcome outcome);
std::optional<Outcome> parseOutcome(std::string_view name);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_OUTCOME_H
