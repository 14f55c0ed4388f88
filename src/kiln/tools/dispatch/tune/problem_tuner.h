// The search for one problem's best configurations: compiles what the search proposes, measures it batch by batch
// against the best so far, and tells the search.
#ifndef KILN_TOOLS_DISPATCH_TUNE_PROBLEM_TUNER_H
#define KILN_TOOLS_DISPATCH_TUNE_PROBLEM_TUNER_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kiln/base/clock.h"
#include "kiln/schema/tuning_database.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/sweep/compile_pool.h"
#include "kiln/tools/dispatch/tune/tune_session.h"
#include "kiln/tools/dispatch/tune/tuning_budget.h"
#include "kiln/tools/dispatch/tune/tuning_search.h"

namespace kiln {

// Who is measured, and how.
struct TuningSetup {
  SweepCandidate kiln; // without a problem
  SweepSettings settings;
  double startSeconds = 0.008; // of a worker; this is usual on the CPU
};

class ProblemTuner {
public:
  // The operation's configurations are the space; all must outlive this.
  ProblemTuner(const Lab &lab, const Operation &operation, const TuningSetup &setup);

  // What the compiler knows the problem's operation by, with the configuration that it chooses by itself.
  Status findKey();
  const TuningKeyRecord &key() const { return record; }
  // What is in the space and was the best before; it is measured in the first batch. Others are ignored.
  void suggest(const std::string &configuration);

  // True when it is done; false when it was interrupted.
  Result<bool> search(TuneSession &session, SweepProgress &progress);
  // The default configuration, first, and the best that the search found.
  Result<SweepGroup> finalists();
  // Seconds, of this command and of those that went before it in the session.
  double spent() const;

private:
  struct Batch {
    std::vector<size_t> candidates; // of the space
    SweepGroup group;               // what they are compared with, first
    bool isLast = false;            // there was nothing left to propose
  };

  // Begins with none of them after `until`, monotonicNanoseconds().
  Status compile(const std::vector<std::string> &configurations, uint64_t until);
  SweepCandidate candidateOf(const std::string &configuration) const;
  std::string anchor() const;
  void keep(Batch &batch, const std::function<bool(const std::string &)> &stays);
  Result<Batch> makeBatch(const TuneSession &session);
  Status learn(const Batch &batch, const TuneStep &step);
  std::string folder() const;
  std::string stepName() const; // of the batch that is next
  std::string timeIsUp() const;
  std::string mlirOf(const std::string &configuration) const;
  void tell(const Batch &batch, const TuneStep &step) const;
  // Why there is no further batch; empty: there is one.
  std::string reasonToStop() const;
  double bestTime() const; // to the default's

  const Lab &lab;
  const Operation &operation;
  const TuningSetup &setup;
  TuningKeyRecord record;
  TuningSearch space;
  std::map<std::string, CompileResult> compiled; // by configuration
  size_t batches = 0, failed = 0, idle = 0;      // idle: batches since the last that found something better
  const uint64_t begun = monotonicNanoseconds();
  double storedSeconds = 0; // that earlier commands spent on what they measured
  TuningBudget budget;
  double defaultMedian = 0, bestMedian = 0; // nanoseconds, as last measured
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_PROBLEM_TUNER_H
