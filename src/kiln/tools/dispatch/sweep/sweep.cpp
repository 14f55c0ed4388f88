#include "kiln/tools/dispatch/sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "fmt/ranges.h"

#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/own_providers.h"
#include "kiln/measure/machine/provenance.h"
#include "kiln/measure/machine/quick_look.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/rows/part_times.h"
#include "kiln/tools/dispatch/sweep/ceilings.h"
#include "kiln/tools/dispatch/sweep/device_watch.h"
#include "kiln/tools/dispatch/sweep/machine_facts.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/version.h"

namespace kiln {

using report::Json;

static double machineLoad() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

// The worker's own note, and what the lab adds to it.
static std::string noteOf(const measure::ProviderInfo &told) {
  std::string note = told.note;
  auto add = [&](const std::string &text) { note += (note.empty() ? "" : "; ") + text; };
  if (told.copied)
    add("copied: its results lie in memory of its own, and what copying them takes at most is not timed");
  if (told.asGraph)
    add(*told.asGraph ? "timed by the device's clock, each batch of calls as a graph"
                      : "timed by the device's clock, calls launched one after the other");
  if (told.simulated)
    add("the clock of this simulated device counts what it executes, and says nothing of a GPU's speed");
  if (told.preparedWeights)
    add("weights were prepared before they were timed");
  if (told.flops)
    add(fmt::format("it declares {:.6g} operations a call", *told.flops));
  return note;
}

// All passes as one: the first that failed, else what they have in common. Each covers mistakes that others do not, so
// that the chance of an error to escape is that of the weakest; the details have each one's.
// `passes` are the names of all that there are; one more verdict is of what was found while it was timed.
static store::Verification verificationOf(const measure::CandidateResult &measured,
                                          const std::vector<std::string> &passes) {
  const std::vector<measure::verify::Verdict> &verdicts = measured.verdicts;
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
  if (measured.rounds > 0)
    details["timedCompared"] = measured.timedCompared;
  if (!last.ok()) {
    if (verdicts.size() <= passes.size()) { // timed calls are checked in blocks, of which the explanation tells
      details["wrong"] = last.wrong;
      details["total"] = last.total;
    }
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
  result.details = report::dumpJson(details);
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
  if (!group.device.empty()) {
    json["device"] = group.device;
    json["deviceName"] = settings.deviceName;
    json["minimumDeviceSample"] = group.minimumDeviceSample;
  }
  return report::dumpJson(json);
}

// The checksum of the program that runs Kiln's modules, computes the definition and calls libraries: with another one,
// the same module is not the same code. Empty where there is none.
static std::string kilnWorkerOf(std::span<const SweepGroup> groups) {
  for (const SweepGroup &group : groups)
    for (const SweepCandidate &candidate : group.candidates)
      if (isOwnProvider(candidate.fact.provider) && !candidate.worker.command.empty()) {
        Result<Ref<FileContents>> file = FileContents::open(candidate.worker.command.front());
        return file.ok() ? store::contentKey({(*file)->text()}) : "";
      }
  return "";
}

// What is stored with the run: the settings, how busy the machine was, which program ran Kiln's modules, and how many
// problems there are.
static std::string runFlags(const SweepSettings &settings, std::span<const SweepGroup> groups) {
  Json json = Json::parse(settingsJson(settings));
  json["problems"] = groups.size();
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
  return report::dumpJson(json);
}

store::Problem factOf(const measure::Problem &problem) {
  return {problem.name(), std::string(problem.family()), problem.fields(), problem.flops(), problem.bytes()};
}

std::string sweepKey(std::span<const SweepGroup> groups, const SweepSettings &settings) {
  // Which processors were used is a fact of each group: how many there are is what makes another sweep.
  Json json = Json::parse(settingsJson(settings));
  json["processors"] = json["processors"].size();
  std::string text =
      report::dumpJson(json) + fmt::format("seed {}\nworker {}\n", settings.group.seed, kilnWorkerOf(groups));
  for (const SweepGroup &group : groups) {
    text += factOf(*group.problem).key() + "\n";
    for (const SweepCandidate &candidate : group.candidates)
      text += candidate.fact.key() + "\n";
  }
  return store::contentKey({text});
}

// With other tags, with programs that have changed, or on another node, a sweep is a new run. The note tells a user who
// may have meant to go on with an unfinished one.
static std::string newRunNote(std::span<const store::StoredRun> runs, const store::Run &wanted) {
  const store::StoredRun *unfinished = nullptr, *elsewhere = nullptr, *changed = nullptr;
  for (const store::StoredRun &run : runs) {
    if (run.commandLine == wanted.commandLine && run.tags == wanted.tags && run.machine.node == wanted.machine.node)
      changed = run.ended || run.sweep == wanted.sweep ? nullptr : &run;
    if (run.sweep != wanted.sweep || run.machine.hardware != wanted.machine.hardware)
      continue;
    if (run.machine.node == wanted.machine.node)
      unfinished = run.ended ? nullptr : &run;
    else if (run.tags == wanted.tags)
      elsewhere = run.ended ? nullptr : &run;
  }
  if (changed)
    return "the unfinished run of this command had other programs: this is a new run";
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
                SweepProgress &progress, DeviceWatch *watch)
      : parts(group.candidates.size()), group(group), key(key), writer(writer), progress(progress), watch(watch) {
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
      round.samples.watched = {*samples.watched, samples.watchedCall};
    else if (!samples.watchedCall.empty())
      round.samples.watched = {DeviceTimes{.clock = "monotonic"}, samples.watchedCall};
    round.counters = {samples.counts, samples.call.size() * uint64_t(samples.batch)};
    if (watch)
      round.device = watch->during(samples.timed);
    if (samples.round != current)
      KILN_RETURN_IF_ERROR(flush());
    current = samples.round;
    parts.add(samples);
    pending.push_back(std::move(round));
    progress.onRound(samples.round, secondsSince(started));
    return okStatus();
  }

  Status onOutcome(uint32_t candidate, Outcome outcome, std::string_view message) override {
    progress.onOutcome(group.candidates[candidate], outcome, message);
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
  DeviceWatch *watch; // null: nothing tells of the device
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
    if (settings.monitor)
      watch.emplace(settings.monitor);
    for (size_t i = 0; i < groups.size() && !summary.interrupted; ++i) {
      if (finished.contains(factOf(*groups[i].problem).key())) {
        ++summary.resumed;
        continue;
      }
      progress.onGroup(i, groups[i]);
      KILN_RETURN_IF_ERROR(measureGroup(i));
      progress.onGroupDone(i, groups[i]);
    }
    if (!summary.interrupted)
      KILN_RETURN_IF_ERROR(writer->endRun(summary.run));
    summary.elapsedSeconds = secondsSince(start);
    return summary;
  }

private:
  Status storeCeilings() {
    if (!calibration)
      return okStatus();
    return writer->addCalibration({machine.hardware, machine.allocation, store::unixNanoseconds(),
                                   ceilingsJson(*calibration, threads, settings.deviceName)});
  }

  // Called where a row is faster than it can be: measures the ceilings once more, a few times in a sweep.
  std::vector<measure::SpeedFloor> confirmFloors(const measure::Problem &problem, uint64_t count,
                                                 std::vector<measure::SpeedFloor> floors) {
    if (confirmations < kConfirmations) {
      ++confirmations;
      Result<measure::Calibration> measured = measureCeilings(kConfirmationSeconds, [&] {
        progress.onWarning("a row is faster than this machine was measured to be: measuring that once more");
      });
      if (measured.ok())
        calibration = *std::move(measured);
      if (Status stored = storeCeilings(); !stored.ok())
        progress.onWarning(fmt::format("warning: {}", stored.message()));
    }
    return calibration ? speedFloors(problem, count, *calibration) : std::move(floors);
  }

  // `announce` is called before something that takes long.
  Result<measure::Calibration> measureCeilings(double seconds, const std::function<void()> &announce) const {
    if (!settings.group.device.empty())
      return calibrateDevice(settings.group.device, seconds, calibration, announce);
    announce();
    return calibrate(threads, seconds, calibration);
  }

  // Without ceilings, columns stay empty and no row is implausible.
  void findCeilings(const measure::Provenance &provenance) {
    const std::string &device = settings.group.device;
    if (!device.empty() && !settings.onGpu)
      return; // there are no kernels for it
    Result<std::optional<measure::Calibration>> known =
        device.empty() ? readCalibration(provenance) : readDeviceCalibration(device);
    if (known.ok() && !*known && settings.calibrate) {
      Result<measure::Calibration> measured = measureCeilings(kCalibrationSeconds, [&] {
        progress.onWarning(fmt::format("measuring what {} can do at most, for a few seconds; `kiln calibrate{}` does "
                                       "it thoroughly",
                                       device.empty() ? "this machine" : settings.deviceName,
                                       device.empty() ? "" : " --device=" + device));
      });
      if (measured.status().code() == StatusCode::Unimplemented)
        return; // a simulated device, or a build without the kernels
      known = measured.ok() ? Result(std::optional(*std::move(measured))) : measured.status();
    }
    if (known.ok())
      calibration = *std::move(known);
    else
      progress.onWarning(fmt::format("warning: no percentages of the peak: {}", known.status().message()));
  }

  void useSeed(uint64_t seed) { settings.group.seed = settings.statistics.seed = seed; }

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
    run.commandLine = settings.commandLine;
    if (settings.resume) {
      KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(database));
      KILN_ASSIGN_OR_RETURN(std::optional<std::string> unfinished, reader->unfinishedRun(run, settings.resumeOn));
      if (unfinished) {
        KILN_ASSIGN_OR_RETURN(store::StoredRun stored, reader->findRun(*unfinished));
        return goOn(stored, *reader);
      }
      KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader->runs());
      if (std::string note = newRunNote(runs, run); !note.empty())
        progress.onWarning(note);
    }
    std::random_device device;
    while (settings.group.seed == 0)
      useSeed(uint64_t(device()) << 32 | device());
    run.started = store::unixNanoseconds();
    run.flags = runFlags(settings, groups);
    run.seed = settings.group.seed;
    run.cacheMode = settings.group.cold ? "cold" : "warm";
    run.dataDistribution = dataDistribution();
    run.kilnVersion = kVersion;
    summary.run = run.key();
    return writer->addRun(run);
  }

  // Finished problems are left out, the time of the others is estimated from theirs, and their rows that failed count
  // as they do in a sweep that nothing interrupts.
  Status goOn(const store::StoredRun &stored, store::Reader &reader) {
    summary.run = stored.key();
    useSeed(stored.seed);
    KILN_ASSIGN_OR_RETURN(std::vector<store::StoredGroup> begun, reader.groups(summary.run));
    std::set<std::string> ended;
    double seconds = 0;
    for (const store::StoredGroup &group : begun)
      if (group.ended && finished.insert(group.problem).second) {
        ended.insert(group.key());
        seconds += static_cast<double>(*group.ended - group.started) / 1e9;
      }
    KILN_ASSIGN_OR_RETURN(std::vector<store::CandidateResult> results, reader.results(summary.run));
    for (const store::CandidateResult &one : results)
      summary.failed += ended.contains(one.group) &&
                        (isFailure(one.outcome) || (one.outcome == Outcome::NotProfiled && settings.profile));
    const size_t left = groups.size() - std::min(groups.size(), finished.size());
    std::string rest;
    if (!finished.empty() && left > 0)
      rest = fmt::format("; the rest takes about {}",
                         durationText(seconds / static_cast<double>(finished.size()) * static_cast<double>(left)));
    progress.onWarning(fmt::format("goes on with {}, which has finished {} of {}{}", report::runText(stored),
                                   finished.size(), counted(groups.size(), "problem"), rest));
    return okStatus();
  }

  // What inputs are filled with while they are timed, by element type.
  std::string dataDistribution() const {
    std::map<std::string, std::set<std::string>> byType;
    for (const SweepGroup &group : groups) {
      std::vector<measure::TensorType> inputs = group.problem->inputs();
      for (size_t i = 0; i < inputs.size(); ++i)
        byType[std::string(hal::elementTypeName(inputs[i].type))].insert(
            measure::timingDistribution(inputs[i].type, group.problem->timingNumbers(i)));
    }
    std::string text;
    for (const auto &[type, distributions] : byType)
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", type, fmt::join(distributions, " or "));
    return text;
  }

  // A group while it is measured: the candidates that take part, and the results of the others.
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
    GroupRecorder recorder(measuring.live, measuring.fact.key(), settings, *writer, progress,
                           watch ? &*watch : nullptr);
    recorder.confirm = [&](uint64_t count, std::vector<measure::SpeedFloor> floors) {
      return confirmFloors(*group.problem, count, std::move(floors));
    };
    measure::GroupResult outcome;
    measure::GroupSettings now = settings.group;
    now.freeMemory = settings.system.freeMemory() / 10 * 9;
    if (!measuring.workers.empty()) {
      KILN_ASSIGN_OR_RETURN(outcome, measure::runGroup(*group.problem, measuring.workers, now, scheduler, recorder));
    }
    KILN_RETURN_IF_ERROR(recorder.flush());
    summary.timedSeconds += static_cast<double>(outcome.timedNanoseconds) / 1e9;
    if (outcome.interrupted) {
      summary.interrupted = true;
      return writer->interruptGroup(measuring.fact.key());
    }
    ++summary.measured;
    return concludeGroup(measuring, outcome, scheduler.statistics.estimates(), recorder.parts);
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
                                   candidate.unsupported ? Outcome::Unsupported : Outcome::Failed,
                                   candidate.obstacle,
                                   {},
                                   std::nullopt});
      progress.onOutcome(candidate, measuring.results.back().outcome, measuring.results.back().error);
    }
    KILN_RETURN_IF_ERROR(writer->addCandidates(facts));
    return measuring;
  }

  Status concludeGroup(Measuring &measuring, const measure::GroupResult &outcome,
                       std::vector<measure::RankedEstimate> ranked, const PartTimes &parts) {
    std::vector<store::CandidateResult> &results = measuring.results;
    for (size_t i = 0; i < measuring.live.candidates.size(); ++i) {
      results.push_back(resultOf(measuring.fact.key(), measuring.live.candidates[i], outcome.candidates[i],
                                 measuring.live.problem->passes()));
      if (settings.profile && isSuccess(results.back().outcome))
        leaveUntimed(results.back(), measuring.live.candidates[i], static_cast<uint32_t>(i), outcome, ranked);
    }
    for (const store::CandidateResult &one : results)
      summary.failed += isFailure(one.outcome);
    const std::vector<store::CandidateEstimate> estimates =
        estimatesOf(measuring.fact.key(), measuring.live, std::move(ranked), parts);
    std::vector<const store::CandidateEstimate *> pointers;
    for (const store::CandidateEstimate &estimate : estimates)
      pointers.push_back(&estimate);
    if (std::optional<report::NoiseWarning> warning = report::noiseWarning(pointers, settings.statistics.target))
      progress.onWarning(warning->text());
    if (settings.group.cold && outcome.batch > 0 && !outcome.sets.exceedsCache)
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

  static bool isFailure(Outcome outcome) { return !isSuccess(outcome) && outcome != Outcome::Unsupported; }

  // Below three rounds there is no interval, and nothing to state.
  static bool isKnown(const measure::RankedEstimate &estimate) {
    return estimate.rounds > 0 && std::isfinite(estimate.high);
  }

  // A candidate that was to be timed and has no time, because time was up, is not profiled.
  void leaveUntimed(store::CandidateResult &result, const SweepCandidate &candidate, uint32_t index,
                    const measure::GroupResult &outcome, std::span<const measure::RankedEstimate> ranked) {
    auto found = std::ranges::find(ranked, index, &measure::RankedEstimate::candidate);
    if (found != ranked.end() && isKnown(*found))
      return;
    const uint64_t rounds = found == ranked.end() ? 0 : found->rounds;
    const double seconds = static_cast<double>(outcome.roundsNanoseconds) / 1e9;
    result.outcome = Outcome::NotProfiled;
    result.error = rounds == 0
                       ? fmt::format("no round was finished in {:.3g} s", seconds)
                       : fmt::format("{} finished in {:.3g} s, and a time takes 3",
                                     rounds == 1 ? "1 round was" : fmt::format("{} rounds were", rounds), seconds);
    if (outcome.stoppedByTime)
      result.error += ": give more `--minutes`";
    ++summary.failed;
    progress.onOutcome(candidate, result.outcome, result.error);
  }

  store::CandidateResult resultOf(const std::string &group, const SweepCandidate &candidate,
                                  const measure::CandidateResult &measured,
                                  const std::vector<std::string> &passes) const {
    store::CandidateResult result;
    result.group = group;
    result.candidate = candidate.fact.key();
    result.outcome = measured.outcome.value_or(Outcome::Failed);
    if (result.outcome == Outcome::Ok && !settings.profile)
      result.outcome = Outcome::NotProfiled;
    result.error = measured.message;
    result.verification = verificationOf(measured, passes);
    result.compileMilliseconds = candidate.compileMilliseconds;
    const measure::ProviderInfo &told = measured.provider;
    if (!told.name.empty() || measured.peakMemoryBytes > 0)
      result.worker =
          store::WorkerFacts{told.name, told.version, noteOf(told), measured.workers, measured.peakMemoryBytes};
    return result;
  }

  static std::vector<store::CandidateEstimate> estimatesOf(const std::string &group, const SweepGroup &live,
                                                           std::vector<measure::RankedEstimate> ranked,
                                                           const PartTimes &parts) {
    std::vector<store::CandidateEstimate> estimates;
    for (measure::RankedEstimate &measured : ranked) {
      if (!isKnown(measured))
        continue;
      if (!std::isfinite(measured.ratio))
        measured.ratio = 0;
      if (!std::isfinite(measured.ratioHigh))
        measured.ratioHigh = 1e9; // no end, as a number
      store::CandidateEstimate &estimate = estimates.emplace_back();
      static_cast<Estimate &>(estimate) = measured;
      estimate.group = group;
      estimate.candidate = live.candidates[measured.candidate].fact.key();
      for (uint32_t other : measured.ties)
        estimate.ties.push_back(live.candidates[other].fact.key());
      estimate.deviceMedian = parts.device(measured.candidate);
      estimate.launchMedian = parts.launch(measured.candidate);
    }
    return estimates;
  }

  std::span<const SweepGroup> groups;
  SweepSettings settings;
  SweepProgress &progress;
  store::Writer *writer = nullptr;
  store::MachineKeys machine;                      // that this process measures on
  std::set<std::string> finished;                  // keys of problems
  std::optional<measure::Calibration> calibration; // of this machine
  std::set<uint64_t> threads;                      // of all candidates
  int confirmations = 0;                           // how often the ceilings were measured again
  std::optional<DeviceWatch> watch;                // one for all groups, as a monitor has one user
  SweepSummary summary;
};

} // namespace

Result<SweepSummary> runSweep(std::span<const SweepGroup> groups, const SweepSettings &settings,
                              const std::string &database, SweepProgress &progress) {
  return Sweep(groups, settings, progress).run(database);
}

} // namespace kiln
