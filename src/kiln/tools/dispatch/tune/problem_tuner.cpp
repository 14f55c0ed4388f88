#include "kiln/tools/dispatch/tune/problem_tuner.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/wrap_text.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/sweep/sweep_plan.h"
#include "kiln/tools/dispatch/tune/tuning_features.h"

namespace kiln {

namespace fs = std::filesystem;

// What counts as better, for --patience.
static constexpr double kNoticeable = 0.01;

static SweepSettings batchSettings(const TuningSetup &setup);

// What finalists take where nothing cuts them short, and what a candidate takes in a batch. How long compiling takes is
// known when the key is.
static TuningBudget budgetOf(const Lab &lab, const measure::Problem &problem, const TuningSetup &setup) {
  const TuneFlags &flags = lab.flags.tuning;
  const uint32_t threads = lab.flags.threadCount();
  std::vector<double> starts(flags.finalists + 1, setup.startSeconds);
  const double finals = measuringTime(problem, starts, threads, setup.settings).most;
  // Half of what one more candidate takes, as a first guess: batches show the time, and a group has a limit.
  SweepSettings batch = batchSettings(setup);
  batch.statistics.maximumRounds = batch.statistics.minimumRounds;
  double two = measuringTime(problem, {starts.data(), 2}, threads, batch).most;
  double one = measuringTime(problem, {starts.data(), 1}, threads, batch).most;
  return {flags.budgetSeconds(), finals, {0, (two - one) / 2}};
}

static SearchOptions searchOptions(const DispatchFlags &flags) {
  return {.seed = flags.seed, .batch = flags.tuning.batch, .exhaustive = flags.tuning.exhaustive};
}

static TuningMachine machineOf(const DispatchFlags &flags) {
  return flags.labDevice.isGpu() ? TuningMachine::ofGpu(flags.labDevice.configurationTarget())
                                 : TuningMachine::detect(flags.threadCount());
}

ProblemTuner::ProblemTuner(const Lab &lab, const Operation &operation, const TuningSetup &setup)
    : lab(lab), operation(operation), setup(setup),
      space(tuningFeatures(*operation.problem, operation.configurations, machineOf(lab.flags)), kTuningKinds,
            searchOptions(lab.flags)),
      budget(budgetOf(lab, *operation.problem, setup)) {}

double ProblemTuner::spent() const {
  return storedSeconds + secondsSince(begun);
}

//===--- Compiling ------------------------------------------------------------------------------------------------===//

std::string ProblemTuner::folder() const {
  return lab.folder.folderOf(*operation.problem) + "/tune";
}

std::string ProblemTuner::mlirOf(const std::string &configuration) const {
  return operation.problem->mlir(operation.dispatch(configuration),
                                 configuration == kDefaultConfiguration ? std::string_view() : configuration);
}

// Each configuration is a program of its own: it is compiled once however often it is measured, and a failure affects
// no other.
Status ProblemTuner::compile(const std::vector<std::string> &configurations, uint64_t until) {
  KILN_RETURN_IF_ERROR(makeFolder(folder()));
  std::vector<CompileJob> jobs;
  std::vector<std::string> fresh;
  for (const std::string &configuration : configurations) {
    if (compiled.contains(configuration))
      continue;
    std::string path = fmt::format("{}/{}.mlir", folder(), configuration);
    KILN_RETURN_IF_ERROR(writeFile(path, "module {\n" + mlirOf(configuration) + "}\n"));
    jobs.push_back({path, {}});
    fresh.push_back(configuration);
  }
  CompileSettings settings = compileSettings(lab);
  settings.force = lab.flags.forceCompile;
  settings.beginUntil = until;
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> results,
                        compileAll(jobs, settings, [](size_t, const CompileResult &) {}));
  for (size_t i = 0; i < fresh.size(); ++i)
    if (!results[i].late)
      compiled[fresh[i]] = std::move(results[i]);
  return okStatus();
}

static Result<std::vector<TuningKeyRecord>> readRecords(const std::string &folder) {
  std::vector<TuningKeyRecord> records;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(it->path().string()));
    Result<TuningKeyRecord> record = TuningKeyRecord::parse(file->text());
    if (!record.ok())
      return std::move(record).status().withContext(it->path().string());
    records.push_back(*std::move(record));
  }
  std::ranges::sort(records, {}, &TuningKeyRecord::function);
  return records;
}

// The problem is compiled with a configuration and without: the dispatch that the configuration arrives at is the one
// that is tuned, and the one that is known by the same has the default.
Status ProblemTuner::findKey() {
  const measure::Problem &problem = *operation.problem;
  std::string keys = folder() + "/keys", source = folder() + "/keys.mlir";
  std::error_code error;
  fs::remove_all(keys, error);
  KILN_RETURN_IF_ERROR(makeFolder(folder()));
  KILN_RETURN_IF_ERROR(writeFile(source, "module {\n" + mlirOf(std::string(kDefaultConfiguration)) +
                                             mlirOf(operation.configurations.front()) + "}\n"));
  CompileSettings settings = compileSettings(lab);
  settings.cache = keys + "_cache";
  settings.flags.push_back("--dump-tuning-keys-to=" + keys);
  settings.force = true;
  CompileJob job{source, {}};
  uint64_t started = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> results,
                        compileAll({&job, 1}, settings, [](size_t, const CompileResult &) {}));
  // Two functions, and the start of a compiler.
  budget.guessCompiling(secondsSince(started) / 2 / lab.flags.jobCount());
  if (!results.front().ok())
    return internalError("{} does not compile: {}", problem.name(), results.front().error);
  KILN_ASSIGN_OR_RETURN(std::vector<TuningKeyRecord> records, readRecords(keys));
  fs::remove_all(settings.cache, error);
  auto configured = std::ranges::find(records, "ir", &TuningKeyRecord::source);
  if (configured == records.end())
    return unimplemented("no dispatch of {} takes a configuration; there is nothing to tune", problem.name());
  record = *configured;
  for (const TuningKeyRecord &other : records)
    if (other.source != "ir" && other.operation == record.operation)
      record.configuration = other.configuration, record.source = other.source;
  if (record.source == "ir")
    return internalError("{}: with a configuration and without, its dispatches are not the same", problem.name());
  return okStatus();
}

void ProblemTuner::suggest(const std::string &configuration) {
  auto found = std::ranges::find(operation.configurations, configuration);
  if (found != operation.configurations.end())
    space.suggest(static_cast<size_t>(found - operation.configurations.begin()));
}

//===--- Batches --------------------------------------------------------------------------------------------------===//

SweepCandidate ProblemTuner::candidateOf(const std::string &configuration) const {
  const CompileResult &result = compiled.at(configuration);
  SweepCandidate candidate = setup.kiln;
  candidate.fact.compilerFlags = recordedFlags(lab.flags.compiler, lab.flags.allCompilerFlags());
  return configured(std::move(candidate), operation, configuration, result,
                    fmt::format("{}/{}.vmfb", lab.folder.cache(), result.key));
}

std::string ProblemTuner::anchor() const {
  std::vector<size_t> best = space.best(1);
  bool isBetter = !best.empty() && *space.logTime(best.front()) < 0;
  return isBetter ? operation.configurations[best.front()] : std::string(kDefaultConfiguration);
}

// Leaves those of the batch that `stays` says; the others can be proposed again.
void ProblemTuner::keep(Batch &batch, const std::function<bool(const std::string &)> &stays) {
  std::vector<size_t> kept, left;
  for (size_t candidate : batch.candidates)
    (stays(operation.configurations[candidate]) ? kept : left).push_back(candidate);
  batch.candidates = std::move(kept);
  space.giveBack(left);
}

// What fits into the time that is left; of a batch that was measured before, what fitted then.
Result<ProblemTuner::Batch> ProblemTuner::makeBatch(const TuneSession &session) {
  Batch batch{space.propose(), {operation.problem.get(), {}}};
  batch.isLast = batch.candidates.empty();
  KILN_ASSIGN_OR_RETURN(auto stored, session.configurationsOf(stepName()));
  size_t room = budget.fitting(batch.candidates.size(), spent()), taken = 0;
  keep(batch, [&](const std::string &name) { return stored ? stored->contains(name) : taken++ < room; });
  if (batch.candidates.empty())
    return batch;
  std::vector<std::string> names = {anchor()};
  for (size_t candidate : batch.candidates)
    names.push_back(operation.configurations[candidate]);
  auto allowed = static_cast<uint64_t>(budget.compilingSeconds(spent()) * 1e9);
  KILN_RETURN_IF_ERROR(compile(names, stored ? UINT64_MAX : monotonicNanoseconds() + allowed));
  keep(batch, [&](const std::string &name) { return compiled.contains(names.front()) && compiled.contains(name); });
  std::erase_if(names, [&](const std::string &name) { return !compiled.contains(name); });
  for (const std::string &name : names)
    batch.group.candidates.push_back(candidateOf(name));
  return batch;
}

// Times are told as logarithms of what they are to the default's. Candidates are compared with the anchor by the rounds
// in which both ran; only where the anchor failed, by their medians.
Status ProblemTuner::learn(const Batch &batch, const TuneStep &step) {
  const TuneAnswer *base = step.find(batch.group.candidates.front());
  std::string anchorName = anchor();
  bool isDefault = anchorName == kDefaultConfiguration;
  if (isDefault && base)
    defaultMedian = base->estimate->median;
  if (defaultMedian <= 0) {
    auto found = step.answers.find(batch.group.candidates.front().fact.key());
    return failedPrecondition("the default configuration of {} gives no result to compare with: {}",
                              operation.problem->name(),
                              found == step.answers.end() ? "it was not measured" : found->second.result.error);
  }
  double anchorLog = isDefault ? 0 : *space.logTime(space.best(1).front());
  if (base)
    bestMedian = base->estimate->median;
  double before = bestTime();
  for (size_t i = 0; i < batch.candidates.size(); ++i) {
    const TuneAnswer *answer = step.find(batch.group.candidates[i + 1]);
    if (!answer) {
      ++failed;
      space.tell(batch.candidates[i], std::nullopt);
      continue;
    }
    double log = base ? std::log(answer->estimate->ratio / base->estimate->ratio) + anchorLog
                      : std::log(answer->estimate->median / defaultMedian);
    if (log < std::log(bestTime()))
      bestMedian = answer->estimate->median;
    space.tell(batch.candidates[i], log);
  }
  idle = bestTime() < before * (1 - kNoticeable) ? 0 : idle + 1;
  return okStatus();
}

double ProblemTuner::bestTime() const {
  std::vector<size_t> best = space.best(1);
  return best.empty() ? 1 : std::min(1.0, std::exp(*space.logTime(best.front())));
}

//===--- The search -----------------------------------------------------------------------------------------------===//

// Few rounds: what is close to the best is measured again when others are compared with it, or as a finalist.
static SweepSettings batchSettings(const TuningSetup &setup) {
  SweepSettings settings = setup.settings;
  settings.statistics.target = 0.02;
  settings.statistics.tieWithin = 0.005;
  settings.statistics.rankingError = 0.05;
  settings.statistics.dropBeyond = 0.05;
  settings.statistics.dropError = 0.02;
  settings.statistics.minimumRounds = 8;
  settings.statistics.maximumRounds = 24;
  settings.group.warmUpNanoseconds = 10'000'000;
  // Of a call that takes seconds there are fewer.
  settings.group.measureNanoseconds = std::min(settings.group.measureNanoseconds, uint64_t(60) * 1'000'000'000);
  return settings;
}

// As stored: a tuning that goes on must come to the same end.
static double compileSeconds(const TuneStep &step) {
  double milliseconds = 0;
  for (const auto &[key, answer] : step.answers)
    milliseconds += answer.result.compileMilliseconds.value_or(0);
  return milliseconds / 1000;
}

std::string ProblemTuner::timeIsUp() const {
  return fmt::format("its time is up (--budget-minutes={})", lab.flags.tuning.budgetMinutes);
}

std::string ProblemTuner::stepName() const {
  return fmt::format("{} batch {}", operation.problem->name(), batches + 1);
}

std::string ProblemTuner::reasonToStop() const {
  const TuneFlags &flags = lab.flags.tuning;
  if (space.tried() >= flags.trials)
    return fmt::format("{} configurations are tried (--trials)", space.tried());
  if (budget.fitting(1, spent()) == 0)
    return timeIsUp();
  if (!space.isExhaustive() && idle >= flags.patience)
    return fmt::format("nothing got better in {} (--patience)",
                       idle == 1 ? "1 batch" : fmt::format("{} batches", idle));
  return "";
}

void ProblemTuner::tell(const Batch &batch, const TuneStep &step) const {
  print(
      fmt::format("  batch {}{}: {} of {} done, {} failed; best {:.1f} GFLOP/s, {:.2f} times the default: {}; at most "
                  "{} left\n",
                  batches, step.stored ? " (measured before)" : "", space.tried(), space.size(), failed,
                  operation.problem->flops() / std::max(bestMedian, 1.0), 1 / bestTime(), anchor(),
                  durationText(budget.left(spent()))));
  (void)flushStandardOutput(); // the end of the command tells
  if (!lab.flags.verbose)
    return;
  for (const SweepCandidate &candidate : batch.group.candidates) {
    auto found = step.answers.find(candidate.fact.key());
    if (found != step.answers.end() && !found->second.ok())
      print(fmt::format("    {}: {}: {}\n", candidate.fact.configuration, outcomeName(found->second.result.outcome),
                        plainText(found->second.result.error)));
  }
}

Result<bool> ProblemTuner::search(TuneSession &session, SweepProgress &progress) {
  SweepSettings settings = batchSettings(setup);
  std::string why;
  while (why.empty()) {
    uint64_t started = monotonicNanoseconds();
    KILN_ASSIGN_OR_RETURN(Batch batch, makeBatch(session));
    if (batch.candidates.empty()) {
      why = batch.isLast ? "all of them are tried" : timeIsUp();
      break;
    }
    double compiling = secondsSince(started);
    started = monotonicNanoseconds();
    settings.group.groupNanoseconds = static_cast<uint64_t>(budget.leftOfSearch(spent()) * 1e9);
    KILN_ASSIGN_OR_RETURN(TuneStep step, session.measure(stepName(), {&batch.group, 1}, settings, progress));
    if (step.interrupted || !progress.shouldContinue())
      return false;
    ++batches;
    double measuring = secondsSince(started);
    if (step.stored) {
      compiling = compileSeconds(step) / lab.flags.jobCount(), measuring = step.seconds;
      storedSeconds += compiling + measuring;
    }
    budget.learn(batch.group.candidates.size(), compiling, measuring);
    KILN_RETURN_IF_ERROR(learn(batch, step));
    tell(batch, step);
    why = reasonToStop();
  }
  print(fmt::format("  ends, since {}\n", why));
  return true;
}

Result<SweepGroup> ProblemTuner::finalists() {
  std::vector<std::string> names = {std::string(kDefaultConfiguration)};
  for (size_t candidate : space.best(lab.flags.tuning.finalists))
    names.push_back(operation.configurations[candidate]);
  KILN_RETURN_IF_ERROR(compile(names, UINT64_MAX));
  SweepGroup group{operation.problem.get(), {}};
  for (const std::string &name : names)
    group.candidates.push_back(candidateOf(name));
  return group;
}

} // namespace kiln
