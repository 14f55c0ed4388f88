#include "kiln/tools/dispatch/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/measure/machine/provenance.h"
#include "kiln/measure/machine/quick_look.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"
#include "kiln/tools/dispatch/rows/part_times.h"
#include "kiln/tools/dispatch/sweep/ceilings.h"
#include "kiln/tools/dispatch/sweep/machine_facts.h"
#include "kiln/tools/version.h"

namespace kiln {

using Json = nlohmann::ordered_json;

// Text that is no UTF-8 must not end the program.
static std::string jsonText(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

static double machineLoad() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

static store::Outcome outcomeOf(measure::Outcome outcome) {
  switch (outcome) {
  case measure::Outcome::Ok: return store::Outcome::Ok;
  case measure::Outcome::Wrong: return store::Outcome::Incorrect;
  case measure::Outcome::Unsupported: return store::Outcome::Unsupported;
  case measure::Outcome::Crashed: return store::Outcome::Crashed;
  case measure::Outcome::TimedOut: return store::Outcome::Timeout;
  case measure::Outcome::Failed:
  case measure::Outcome::NotStarted:
  case measure::Outcome::Exited:
  case measure::Outcome::MemoryLimit:
  case measure::Outcome::Rubbish: return store::Outcome::Failed;
  case measure::Outcome::Implausible: return store::Outcome::Implausible;
  }
  return store::Outcome::Failed;
}

// What the worker wants readers to know, and what the lab knows that they have to.
static std::string noteOf(const measure::ProviderInfo &told) {
  std::string note = told.note;
  auto add = [&](const std::string &text) { note += (note.empty() ? "" : "; ") + text; };
  if (told.copied)
    add("copied: its results lie in memory of its own, and copying them is not timed");
  if (told.preparedWeights)
    add("weights were prepared before they were timed");
  if (told.flops)
    add(fmt::format("it declares {:.6g} operations a call", *told.flops));
  return note;
}

// All passes as one: the first that failed, else what they have in common. Each covers mistakes that others do not, so
// that the chance of an error to escape is that of the weakest; the details have each one's.
// `passes` are the names of all that there are; one more verdict is of what was found while it was timed.
static store::Verification verificationOf(const std::vector<measure::verify::Verdict> &verdicts,
                                          const std::vector<std::string> &passes) {
  store::Verification result;
  if (verdicts.empty())
    return result;
  const measure::verify::Verdict &last = verdicts.back();
  result.method = last.method;
  result.cause = measure::verify::causeName(last.cause);
  result.explanation = last.explanation;
  for (const measure::verify::Verdict &verdict : verdicts)
    result.escapeProbability = std::max(result.escapeProbability, verdict.escapeProbability);
  Json details = {{"passes", verdicts.size()}, {"checks", Json::array()}};
  for (size_t i = 0; i < verdicts.size(); ++i)
    details["checks"].push_back({{"pass", i < passes.size() ? passes[i] : "timed calls"},
                                 {"method", verdicts[i].method},
                                 {"escapeProbability", verdicts[i].escapeProbability}});
  if (!last.ok()) {
    details["wrong"] = last.wrong;
    details["total"] = last.total;
    details["tilePattern"] = last.tilePattern;
    details["ulpHistogram"] = last.ulpHistogram;
    for (const measure::verify::Mismatch &mismatch : last.examples) {
      // What is no number has no place in JSON.
      details["examples"].push_back({{"index", mismatch.index},
                                     {"expected", fmt::format("{}", mismatch.expected)},
                                     {"actual", fmt::format("{}", mismatch.actual)},
                                     {"ulps", fmt::format("{}", mismatch.ulps)}});
    }
  }
  result.details = jsonText(details);
  return result;
}

static std::string settingsJson(const SweepSettings &settings) {
  const measure::GroupSettings &group = settings.group;
  const measure::GroupOptions &statistics = settings.statistics;
  Json json = {{"cold", group.cold},
               {"threads", group.threads},
               {"processors", measure::processorsOf(group, group.threads)}, // empty: all
               {"roundNanoseconds", group.roundNanoseconds},
               {"warmUpNanoseconds", group.warmUpNanoseconds},
               {"minimumSampleNanoseconds", group.minimumSampleNanoseconds},
               {"measureNanoseconds", group.measureNanoseconds},
               {"confidence", statistics.confidence},
               {"target", statistics.target},
               {"tieWithin", statistics.tieWithin},
               {"dropBeyond", statistics.dropBeyond},
               {"minimumRounds", statistics.minimumRounds},
               {"maximumRounds", statistics.maximumRounds},
               {"profile", settings.profile}};
  return jsonText(json);
}

// The checksum of the program that runs Kiln's modules: with another one, the same module is not the same code. Empty
// where there is none.
static std::string kilnWorkerOf(std::span<const SweepGroup> groups) {
  for (const SweepGroup &group : groups)
    for (const SweepCandidate &candidate : group.candidates)
      if (candidate.fact.provider == "kiln" && !candidate.worker.command.empty()) {
        Result<Ref<FileContents>> file = FileContents::open(candidate.worker.command.front());
        return file.ok() ? store::contentKey({(*file)->text()}) : "";
      }
  return "";
}

// What is stored with the run: the settings, and how the machine looked when it began and what ran Kiln's modules,
// which make no other sweep of it.
static std::string runFlags(const SweepSettings &settings, std::span<const SweepGroup> groups) {
  Json json = Json::parse(settingsJson(settings));
  if (std::string worker = kilnWorkerOf(groups); !worker.empty())
    json["kilnWorker"] = std::move(worker);
  if (settings.machine) {
    const measure::Neighbours &seen = *settings.machine;
    Json machine = {{"seconds", seen.seconds}};
    if (seen.load)
      machine["load"] = *seen.load;
    if (seen.stolen)
      machine["stolen"] = *seen.stolen;
    if (seen.busyCpus)
      machine["busyCpus"] = *seen.busyCpus;
    if (std::string warning = measure::disturbance(seen); !warning.empty())
      machine["warning"] = warning;
    json["machine"] = std::move(machine);
  }
  return jsonText(json);
}

store::Problem factOf(const measure::Problem &problem) {
  return {problem.name(), std::string(problem.family()), problem.fields(), problem.flops(), problem.bytes()};
}

std::string sweepKey(std::span<const SweepGroup> groups, const SweepSettings &settings) {
  // Which processors were used is a fact of each group: how many there are is what makes another sweep.
  Json json = Json::parse(settingsJson(settings));
  json["processors"] = json["processors"].size();
  std::string text = jsonText(json) + fmt::format("seed {}\n", settings.group.seed);
  for (const SweepGroup &group : groups) {
    text += factOf(*group.problem).key() + "\n";
    for (const SweepCandidate &candidate : group.candidates)
      text += candidate.fact.key() + "\n";
  }
  return store::contentKey({text});
}

// Tags and the node are facts of a run: with others it is another run, which is told where somebody may have meant to
// go on.
static std::string newRunNote(std::span<const store::StoredRun> runs, const store::Run &wanted) {
  const store::StoredRun *unfinished = nullptr, *elsewhere = nullptr;
  for (const store::StoredRun &run : runs) {
    if (run.sweep != wanted.sweep || run.machine.hardware != wanted.machine.hardware)
      continue;
    if (run.machine.node == wanted.machine.node)
      unfinished = run.ended ? nullptr : &run;
    else if (run.tags == wanted.tags)
      elsewhere = run.ended ? nullptr : &run;
  }
  if (!unfinished)
    return elsewhere ? "an unfinished run of the same sweep was begun on another node of equal hardware: this is a new "
                       "run; give --resume-on-equal-hardware to go on with it"
                     : "";
  std::string tags;
  for (const auto &[key, value] : unfinished->tags)
    tags += fmt::format("{}{}:{}", tags.empty() ? "" : ",", key, value);
  return fmt::format("an unfinished run of the same sweep has {}: this is a new run; {} to go on with it",
                     tags.empty() ? "no tags" : fmt::format("other tags ({})", tags),
                     tags.empty() ? "leave out --tags" : "give the same tags");
}

namespace {

class StatisticsScheduler final : public measure::RoundScheduler {
public:
  StatisticsScheduler(measure::GroupStatistics statistics, bool profile)
      : statistics(std::move(statistics)), profile(profile) {}

  std::vector<uint32_t> nextRound() override { return profile ? statistics.nextRound() : std::vector<uint32_t>(); }
  uint32_t round() const override { return statistics.round(); }
  Status addRound(const measure::RoundSamples &samples) override {
    return statistics.addRound(samples.candidate, samples.round, samples.call, samples.batch);
  }
  Status withdraw(uint32_t candidate) override { return statistics.withdraw(candidate); }

  measure::GroupStatistics statistics;

private:
  bool profile;
};

// Stores what happens in a group as it happens, and tells the user.
class GroupRecorder final : public measure::GroupObserver {
public:
  GroupRecorder(const SweepGroup &group, const std::string &key, const SweepSettings &settings, store::Writer &writer,
                SweepProgress &progress)
      : parts(group.candidates.size()), group(group), key(key), writer(writer), progress(progress) {
    std::vector<uint32_t> bound = measure::processorsOf(settings.group, settings.group.threads);
    processor = bound.empty() ? 0 : bound.front();
  }

  Status onRound(const measure::RoundSamples &samples) override {
    store::Round round;
    round.group = key;
    round.candidate = group.candidates[samples.candidate].fact.key();
    round.index = samples.round;
    round.started = store::unixNanoseconds();
    round.load = machineLoad();
    round.megahertz = files.megahertz(processor);
    round.batch = samples.batch;
    round.cacheMode = samples.cold ? "cold" : "warm";
    round.samples.call = samples.call;
    if (samples.watched)
      round.samples.watched = {samples.watchedCall,        samples.watched->clock,   samples.watched->ticksPerSecond,
                               samples.watched->submitted, samples.watched->started, samples.watched->ended};
    const measure::CallCounts &counts = samples.counts;
    round.counters = {samples.call.size() * uint64_t(samples.batch), counts.cycles, counts.instructions,
                      counts.cacheMisses, counts.flops};
    if (samples.round != current)
      KILN_RETURN_IF_ERROR(flush());
    current = samples.round;
    parts.add(samples);
    pending.push_back(std::move(round));
    progress.onRound(samples.round, static_cast<double>(monotonicNanoseconds() - started) / 1e9);
    return okStatus();
  }

  Status onOutcome(uint32_t candidate, measure::Outcome outcome, std::string_view message) override {
    progress.onOutcome(group.candidates[candidate], outcomeOf(outcome), message);
    return okStatus();
  }

  bool shouldContinue() override { return progress.shouldContinue(); }
  std::vector<measure::SpeedFloor> confirmFloors(uint32_t candidate, std::vector<measure::SpeedFloor> floors) override {
    return confirm(group.candidates[candidate].fact.threads, std::move(floors));
  }

  // A round of all candidates is one transaction.
  Status flush() {
    Status status = writer.addRounds(pending);
    pending.clear();
    return status;
  }

  PartTimes parts; // of all candidates' calls
  std::function<std::vector<measure::SpeedFloor>(uint64_t threads, std::vector<measure::SpeedFloor>)> confirm;

private:
  const SweepGroup &group;
  std::string key;
  store::Writer &writer;
  SweepProgress &progress;
  uint64_t started = monotonicNanoseconds();
  uint32_t current = 0;
  std::vector<store::Round> pending;
  measure::SystemFiles files;
  unsigned processor; // one of those that workers run on
};

// How long ceilings are measured where there are none, and where a row exceeds them; and how often in a sweep.
constexpr double kCalibrationSeconds = 3, kConfirmationSeconds = 10;
constexpr int kConfirmations = 3;

// The runner of one sweep.
class Sweep {
public:
  Sweep(std::span<const SweepGroup> groups, const SweepSettings &settings, SweepProgress &progress)
      : groups(groups), settings(settings), progress(progress) {}

  Result<SweepSummary> run(const std::string &database) {
    uint64_t start = monotonicNanoseconds();
    std::unique_ptr<store::Writer> own;
    writer = settings.writer;
    if (!writer) {
      KILN_ASSIGN_OR_RETURN(own, store::Writer::open(database, settings.writerOptions));
      writer = own.get();
    }
    KILN_RETURN_IF_ERROR(begin(database));
    for (size_t i = 0; i < groups.size() && !summary.interrupted; ++i) {
      if (finished.contains(groups[i].problem->name())) {
        ++summary.resumed;
        continue;
      }
      progress.onGroup(i, groups[i]);
      KILN_RETURN_IF_ERROR(measureGroup(i));
      progress.onGroupDone(i, groups[i]);
    }
    if (!summary.interrupted)
      KILN_RETURN_IF_ERROR(writer->endRun(summary.run));
    summary.elapsedSeconds = static_cast<double>(monotonicNanoseconds() - start) / 1e9;
    return summary;
  }

private:
  Status storeCeilings() {
    if (!calibration)
      return okStatus();
    return writer->addCalibration(
        {machine.hardware, machine.allocation, store::unixNanoseconds(), ceilingsJson(*calibration, threads)});
  }

  // A row is faster than it can be: the ceilings once more, a few times in a sweep.
  std::vector<measure::SpeedFloor> confirmFloors(const measure::Problem &problem, uint64_t count,
                                                 std::vector<measure::SpeedFloor> floors) {
    if (confirmations < kConfirmations) {
      ++confirmations;
      progress.onWarning("a row is faster than this machine was measured to be: measuring that once more");
      Result<measure::Calibration> measured = calibrate(threads, kConfirmationSeconds, calibration);
      if (measured.ok())
        calibration = *std::move(measured);
      if (Status stored = storeCeilings(); !stored.ok())
        progress.onWarning(fmt::format("warning: {}", stored.message()));
    }
    return calibration ? speedFloors(problem, count, *calibration) : std::move(floors);
  }

  // Without them there is a column less, and nothing is known to be impossible.
  void findCeilings(const measure::Provenance &provenance) {
    Result<std::optional<measure::Calibration>> known = readCalibration(provenance);
    if (known.ok() && !*known && settings.calibrate) {
      progress.onWarning("measuring what this machine can do at most, for a few seconds; `kiln calibrate` does it "
                         "thoroughly");
      Result<measure::Calibration> measured = calibrate(threads, kCalibrationSeconds, std::nullopt);
      known = measured.ok() ? Result(std::optional(*std::move(measured))) : measured.status();
    }
    if (known.ok())
      calibration = *std::move(known);
    else
      progress.onWarning(fmt::format("warning: no percentages of the peak: {}", known.status().message()));
  }

  // Finds the run that is resumed, or makes a new one.
  Status begin(const std::string &database) {
    measure::Provenance provenance = measure::Provenance::detect(settings.system);
    const store::Machine facts = machineFacts(provenance, settings.system);
    machine = facts.keys();
    KILN_RETURN_IF_ERROR(writer->addMachine(facts));
    for (const SweepGroup &group : groups)
      for (const SweepCandidate &candidate : group.candidates)
        threads.insert(candidate.fact.threads);
    findCeilings(provenance);
    KILN_RETURN_IF_ERROR(storeCeilings());
    store::Run run;
    run.sweep = sweepKey(groups, settings);
    run.machine = machine;
    run.tags = settings.tags;
    if (settings.resume) {
      KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(database));
      KILN_ASSIGN_OR_RETURN(std::optional<std::string> unfinished, reader->unfinishedRun(run, settings.resumeOn));
      if (unfinished) {
        summary.run = *unfinished;
        KILN_ASSIGN_OR_RETURN(std::vector<std::string> names, reader->finishedGroups(summary.run));
        finished.insert(names.begin(), names.end());
        return okStatus();
      }
      KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader->runs());
      if (std::string note = newRunNote(runs, run); !note.empty())
        progress.onWarning(note);
    }
    run.started = store::unixNanoseconds();
    run.commandLine = settings.commandLine;
    run.flags = runFlags(settings, groups);
    run.seed = settings.group.seed;
    run.cacheMode = settings.group.cold ? "cold" : "warm";
    run.dataDistribution = dataDistribution();
    run.kilnVersion = kVersion;
    summary.run = run.key();
    return writer->addRun(run);
  }

  // What inputs are filled with while they are timed, by element type.
  std::string dataDistribution() const {
    std::map<std::string, std::string> byType;
    for (const SweepGroup &group : groups)
      for (const measure::TensorType &input : group.problem->inputs())
        byType[std::string(hal::elementTypeName(input.type))] =
            measure::timingDistribution(input.type) + (group.problem->takesNegatives() ? "" : ", without signs");
    std::string text;
    for (const auto &[type, distribution] : byType)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", type, distribution);
    return text;
  }

  // One group on its way: who takes part, and what is known of the others.
  struct Measuring {
    store::Group fact;
    SweepGroup live; // those that have a worker
    std::vector<measure::Candidate> workers;
    std::vector<store::CandidateResult> results;
  };

  Status measureGroup(size_t index) {
    const SweepGroup &group = groups[index];
    KILN_ASSIGN_OR_RETURN(Measuring measuring, beginGroup(group));
    KILN_ASSIGN_OR_RETURN(measure::GroupStatistics statistics, measure::GroupStatistics::create(settings.statistics));
    for (size_t i = 0; i < measuring.workers.size(); ++i)
      statistics.addCandidate();
    StatisticsScheduler scheduler(std::move(statistics), settings.profile);
    GroupRecorder recorder(measuring.live, measuring.fact.key(), settings, *writer, progress);
    recorder.confirm = [&](uint64_t count, std::vector<measure::SpeedFloor> floors) {
      return confirmFloors(*group.problem, count, std::move(floors));
    };
    measure::GroupResult outcome;
    if (!measuring.workers.empty()) {
      KILN_ASSIGN_OR_RETURN(outcome,
                            measure::runGroup(*group.problem, measuring.workers, settings.group, scheduler, recorder));
    }
    KILN_RETURN_IF_ERROR(recorder.flush());
    summary.timedSeconds += static_cast<double>(outcome.timedNanoseconds) / 1e9;
    if (outcome.interrupted) {
      summary.interrupted = true;
      return writer->interruptGroup(measuring.fact.key());
    }
    ++summary.measured;
    return concludeGroup(measuring, outcome,
                         estimatesOf(measuring.fact.key(), measuring.live, scheduler.statistics, recorder.parts));
  }

  // Stores what takes part. Those that did not compile are rows, but have no worker.
  Result<Measuring> beginGroup(const SweepGroup &group) {
    const measure::Problem &problem = *group.problem;
    const store::Problem fact = factOf(problem);
    KILN_RETURN_IF_ERROR(writer->addProblem(fact));
    Measuring measuring{{summary.run, fact.key(), store::unixNanoseconds(), machine}, {group.problem, {}}, {}, {}};
    KILN_RETURN_IF_ERROR(writer->startGroup(measuring.fact));
    std::vector<store::Candidate> facts;
    for (const SweepCandidate &candidate : group.candidates) {
      facts.push_back(candidate.fact);
      if (candidate.obstacle.empty()) {
        measuring.workers.push_back(candidate.worker);
        if (calibration)
          measuring.workers.back().floors = speedFloors(problem, candidate.fact.threads, *calibration);
        measuring.live.candidates.push_back(candidate);
        continue;
      }
      measuring.results.push_back({measuring.fact.key(),
                                   candidate.fact.key(),
                                   candidate.unsupported ? store::Outcome::Unsupported : store::Outcome::Failed,
                                   candidate.obstacle,
                                   {},
                                   std::nullopt});
      progress.onOutcome(candidate, measuring.results.back().outcome, measuring.results.back().error);
    }
    KILN_RETURN_IF_ERROR(writer->addCandidates(facts));
    return measuring;
  }

  Status concludeGroup(Measuring &measuring, const measure::GroupResult &outcome,
                       const std::vector<store::Estimate> &estimates) {
    std::vector<store::CandidateResult> &results = measuring.results;
    for (size_t i = 0; i < measuring.live.candidates.size(); ++i)
      results.push_back(resultOf(measuring.fact.key(), measuring.live.candidates[i], outcome.candidates[i],
                                 measuring.live.problem->passes()));
    for (const store::CandidateResult &one : results)
      summary.failed += !store::isSuccess(one.outcome) && one.outcome != store::Outcome::Unsupported &&
                        one.outcome != store::Outcome::NotProfiled;
    std::vector<const store::Estimate *> pointers;
    for (const store::Estimate &estimate : estimates)
      pointers.push_back(&estimate);
    if (std::optional<report::NoiseWarning> warning = report::noiseWarning(pointers, settings.statistics.target))
      progress.onWarning(warning->text());
    if (settings.group.cold && settings.profile && !outcome.sets.exceedsCache)
      progress.onWarning(fmt::format("{}: {} bytes in {} sets of tensors do not exceed the last-level cache twice: it "
                                     "was measured warm",
                                     measuring.live.problem->name(), outcome.sets.timingBytes,
                                     outcome.sets.timingSets));
    std::optional<double> cutSeconds;
    if (outcome.stoppedByTime) {
      cutSeconds = static_cast<double>(std::min(settings.group.measureNanoseconds, outcome.roundsNanoseconds)) / 1e9;
      progress.onWarning(report::cutNote(*cutSeconds, measuring.live.candidates.size()));
    }
    return writer->finishGroup(measuring.fact.key(), results, estimates, cutSeconds);
  }

  store::CandidateResult resultOf(const std::string &group, const SweepCandidate &candidate,
                                  const measure::CandidateResult &measured,
                                  const std::vector<std::string> &passes) const {
    store::CandidateResult result;
    result.group = group;
    result.candidate = candidate.fact.key();
    result.outcome = measured.outcome ? outcomeOf(*measured.outcome) : store::Outcome::Failed;
    if (result.outcome == store::Outcome::Ok && !settings.profile)
      result.outcome = store::Outcome::NotProfiled;
    result.error = measured.message;
    result.verification = verificationOf(measured.verdicts, passes);
    result.compileMilliseconds = candidate.compileMilliseconds;
    const measure::ProviderInfo &told = measured.provider;
    if (!told.name.empty() || measured.peakMemoryBytes > 0)
      result.worker =
          store::WorkerFacts{told.name, told.version, noteOf(told), measured.workers, measured.peakMemoryBytes};
    return result;
  }

  static std::vector<store::Estimate> estimatesOf(const std::string &group, const SweepGroup &live,
                                                  const measure::GroupStatistics &statistics, const PartTimes &parts) {
    std::vector<store::Estimate> estimates;
    for (const measure::Estimate &measured : statistics.estimates()) {
      // Below three rounds there is no interval, and nothing to state.
      if (measured.rounds == 0 || !std::isfinite(measured.interval.high))
        continue;
      store::Estimate estimate;
      estimate.group = group;
      estimate.candidate = live.candidates[measured.candidate].fact.key();
      estimate.median = measured.median;
      estimate.p10 = measured.p10;
      estimate.p90 = measured.p90;
      estimate.low = measured.interval.low;
      estimate.high = measured.interval.high;
      estimate.deviceMedian = parts.device(measured.candidate);
      estimate.launchMedian = parts.launch(measured.candidate);
      estimate.rounds = measured.rounds;
      estimate.samples = measured.samples;
      estimate.rank = measured.rank;
      for (uint32_t other : measured.ties)
        estimate.ties.push_back(live.candidates[other].fact.key());
      constexpr double unknown = 1e9; // an interval without an end, as a number
      estimate.ratio = std::isfinite(measured.ratio) ? measured.ratio : 0;
      estimate.ratioLow = std::isfinite(measured.ratioInterval.low) ? measured.ratioInterval.low : 0;
      estimate.ratioHigh = std::isfinite(measured.ratioInterval.high) ? measured.ratioInterval.high : unknown;
      estimate.dropped = measured.dropped;
      estimates.push_back(std::move(estimate));
    }
    return estimates;
  }

  std::span<const SweepGroup> groups;
  const SweepSettings &settings;
  SweepProgress &progress;
  store::Writer *writer = nullptr;
  store::MachineKeys machine; // that this process measures on
  std::set<std::string> finished;
  std::optional<measure::Calibration> calibration; // of this machine
  std::set<uint64_t> threads;                      // of all candidates
  int confirmations = 0;                           // how often the ceilings were measured again
  SweepSummary summary;
};

} // namespace

Result<SweepSummary> runSweep(std::span<const SweepGroup> groups, const SweepSettings &settings,
                              const std::string &database, SweepProgress &progress) {
  return Sweep(groups, settings, progress).run(database);
}

} // namespace kiln
