// What became of a candidate: as the lab finds out, the store keeps and reports show.
#ifndef KILN_BASE_OUTCOME_H
#define KILN_BASE_OUTCOME_H

#include <optional>
#include <string_view>

namespace kiln {

enum class Outcome {
  Ok,
  NotVerified, // measured, and nothing checked its results
  NotProfiled, // verified, and not to be measured
  Wrong,       // verification failed
  Unsupported, // the provider does not do this problem; no failure
  Crashed,     // a signal ended it that was not the lab's
  TimedOut,    // it did not answer in time
  Implausible, // faster than the machine can be
  Failed,      // the worker answered with an error
  NotStarted,  // the program could not be started
  Exited,      // the worker ended by itself
  MemoryLimit, // it took more memory than it may
  Rubbish,     // it wrote what is no answer
};

// As stored and shown: "ok", "not verified", ... All from Failed on are "failed", since the message tells them apart.
const char *outcomeName(Outcome outcome);
std::optional<Outcome> parseOutcome(std::string_view name);
// Whether the candidate gave results that count: it was right, or was not asked to be.
bool isSuccess(Outcome outcome);

} // namespace kiln

#endif // KILN_BASE_OUTCOME_H
