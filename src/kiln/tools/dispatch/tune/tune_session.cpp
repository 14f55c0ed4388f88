#include "kiln/tools/dispatch/tune/tune_session.h"

#include <algorithm>
#include <unistd.h>

namespace kiln {

// Runs of tunings carry these.
static constexpr const char *kSessionTag = "tuning", *kStepTag = "step";

static std::string tagOf(const store::Run &run, std::string_view name) {
  for (const auto &[key, value] : run.tags)
    if (key == name)
      return value;
  return "";
}

const TuneAnswer *TuneStep::find(const SweepCandidate &candidate) const {
  auto found = answers.find(candidate.fact.key());
  return found != answers.end() && found->second.ok() ? &found->second : nullptr;
}

Result<TuneSession> TuneSession::open(std::string database, std::string key, bool resume) {
  key = key.substr(0, 8);
  if (access(database.c_str(), F_OK) != 0)
    return TuneSession(std::move(database), key + ".1");
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(database));
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader->runs());
  // Sessions of this key are numbered; the latest is the one to go on with, unless it came to its end.
  size_t number = 1;
  for (const store::StoredRun &run : runs)
    if (std::string tag = tagOf(run, kSessionTag); tag.starts_with(key + ".")) {
      bool isOver = !resume || (tagOf(run, kStepTag) == kLastStep && run.ended);
      number = std::max<size_t>(number, std::strtoul(tag.c_str() + key.size() + 1, nullptr, 10) + isOver);
    }
  TuneSession session(std::move(database), fmt::format("{}.{}", key, number));
  for (store::StoredRun &run : runs)
    if (run.ended && tagOf(run, kSessionTag) == session.name)
      session.finished.insert_or_assign(run.sweep, std::move(run));
  return session;
}

Result<std::optional<std::set<std::string>>> TuneSession::configurationsOf(const std::string &step) const {
  for (const auto &[sweep, run] : finished) {
    if (tagOf(run, kStepTag) != step)
      continue;
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(database));
    KILN_ASSIGN_OR_RETURN(auto candidates, reader->candidates(run.key()));
    std::set<std::string> configurations;
    for (const auto &[key, candidate] : candidates)
      configurations.insert(candidate.configuration);
    return std::optional(std::move(configurations));
  }
  return std::optional<std::set<std::string>>();
}

Result<TuneStep> TuneSession::measure(const std::string &step, std::span<const SweepGroup> groups,
                                      SweepSettings settings, SweepProgress &progress) {
  TuneStep result;
  auto found = finished.find(sweepKey(groups, settings));
  if (found != finished.end()) {
    result.run = found->second.key();
    result.stored = true;
    KILN_RETURN_IF_ERROR(readStep(result));
    return result;
  }
  settings.tags.emplace_back(kSessionTag, name);
  settings.tags.emplace_back(kStepTag, step);
  KILN_ASSIGN_OR_RETURN(SweepSummary summary, runSweep(groups, settings, database, progress));
  result.run = summary.run;
  result.interrupted = summary.interrupted;
  KILN_RETURN_IF_ERROR(readStep(result));
  return result;
}

Status TuneSession::readStep(TuneStep &step) const {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(database));
  KILN_ASSIGN_OR_RETURN(store::StoredRun run, reader->findRun(step.run));
  step.started = run.started;
  // Since the step was last begun: the time between an interruption and its resumption does not count.
  int64_t begun = run.started;
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredGroup> groups, reader->groups(step.run));
  for (const store::StoredGroup &group : groups)
    begun = std::max(begun, group.started);
  step.seconds = run.ended ? static_cast<double>(*run.ended - begun) / 1e9 : 0;
  KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateResult> results, reader->results(step.run));
  for (store::CandidateResult &result : results) {
    std::string key = result.candidate;
    step.answers[key].result = std::move(result);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateEstimate> estimates, reader->estimates(step.run));
  for (store::CandidateEstimate &estimate : estimates)
    if (auto found = step.answers.find(estimate.candidate); found != step.answers.end())
      found->second.estimate = std::move(estimate);
  return okStatus();
}

} // namespace kiln
