// What a tuning has measured, step by step, in the store: each step is a run of its own, so that reports see it like
// any other, and a tuning that was ended goes on where it was when the same command is given again. Since a search
// proposes the same after the same answers, that needs nothing but the answers.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNE_SESSION_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNE_SESSION_H

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kiln/tools/dispatch/sweep/sweep.h"

namespace kiln {

// What a step found of one candidate.
struct TuneAnswer {
  store::CandidateResult result;
  std::optional<store::CandidateEstimate> estimate;

  bool ok() const { return estimate && isSuccess(result.outcome) && estimate->ratio > 0; }
};

struct TuneStep {
  std::string run;
  int64_t started = 0; // unixNanoseconds()
  bool stored = false; // measured by an earlier command
  bool interrupted = false;
  double seconds = 0; // that measuring took, then or now; as it is stored, so that it stays the same
  // By the key of a candidate's fact; of all of the run's problems.
  std::map<std::string, TuneAnswer> answers;

  // Null where there is none, or it failed.
  const TuneAnswer *find(const SweepCandidate &candidate) const;
};

class TuneSession {
public:
  // `key` stands for all that makes two tunings the same. With `resume`, one that did not get to its last step goes on.
  static Result<TuneSession> open(std::string database, std::string key, bool resume);

  // The configurations that an earlier command measured in a step; none: it did not.
  Result<std::optional<std::set<std::string>>> configurationsOf(const std::string &step) const;

  // Measures the groups, unless that was done. The step `kLastStep` ends the session.
  Result<TuneStep> measure(const std::string &step, std::span<const SweepGroup> groups, SweepSettings settings,
                           SweepProgress &progress);

  static constexpr const char *kLastStep = "final";

private:
  TuneSession(std::string database, std::string name) : database(std::move(database)), name(std::move(name)) {}
  Status readStep(TuneStep &step) const;

  std::string database, name;
  std::map<std::string, store::StoredRun> finished; // by the key of their sweep
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNE_SESSION_H
