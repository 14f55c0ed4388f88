// kiln-dispatch tune.
#include <algorithm>
#include <set>

#include "kiln/base/file.h"
#include "kiln/base/time_text.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/dispatch/sweep/known_providers.h"
#include "kiln/tools/dispatch/sweep/tf32_groups.h"
#include "kiln/tools/dispatch/tune/problem_tuner.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/version.h"

namespace kiln {

namespace {

// A batch has one line when it is done, with the number of failures.
class QuietProgress final : public SweepProgress {
public:
  void onGroup(size_t, const SweepGroup &) override {}
  void onRound(uint32_t, double) override {}
  void onOutcome(const SweepCandidate &, Outcome, std::string_view) override {}
  void onGroupDone(size_t, const SweepGroup &) override {}
  bool shouldContinue() override { return !isInterrupted(); }
};

// A problem with what there is to say of it in the end.
struct TunedProblem {
  const Operation *operation = nullptr;
  TuningKeyRecord key;
  SweepGroup finalists;
};

class Tuning {
public:
  explicit Tuning(const Lab &lab)
      : lab(lab), path(lab.flags.tuning.database.empty() ? lab.flags.generatedDir + "/generated/tuning.json"
                                                         : lab.flags.tuning.database) {}

  Result<int> run();

private:
  Status select();
  Status prepare();
  uint32_t entryThreads() const;
  void announce() const;
  std::string sessionKey() const;
  Result<TuningDatabase> readDatabase() const;
  Result<bool> searchAll(TuneSession &session);
  Result<bool> searchOne(TuneSession &session, const Operation &operation);
  Result<int> conclude(TuneSession &session);
  Status conclude(const TunedProblem &problem, const TuneStep &step, TuningDatabase &database);

  const Lab &lab;
  std::string path;
  std::vector<Operation> operations; // with their spaces
  TuningSetup setup;
  bool isSimulated = false;
  QuietProgress progress;
  std::vector<TunedProblem> tuned;
  double spent = 0;  // seconds, on searching
  size_t broken = 0; // problems that could not be tuned
};

} // namespace

// The spaces take the place of the configurations that a sweep tries; patterns choose among them. Products of f32 that
// are computed in tf32 are others: the compiler takes none of them for f32, and so none is searched.
Status Tuning::select() {
  KILN_ASSIGN_OR_RETURN(operations, selectOperations(lab.families, lab.flags));
  std::set<const measure::Problem *> exact;
  for (Operation &operation : operations) {
    KILN_ASSIGN_OR_RETURN(const measure::Family *family, lab.families.find(operation.problem->family()));
    operation.configurations =
        family->configurationSpace(*operation.problem, lab.flags.labDevice.configurationTarget());
    if (leaveOutTF32(operation))
      exact.insert(operation.problem.get());
    if (lab.flags.configurations && operation.configurations.size() > lab.flags.configurations)
      operation.configurations.resize(lab.flags.configurations);
  }
  // What is named, or stands for all, and has no space.
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(lab.flags.dispatches));
  std::string untunable;
  for (const Operation &operation : operations)
    if (untunable.empty() && operation.configurations.empty() &&
        patterns.matches(operation.dispatch(kDefaultConfiguration)))
      untunable = operation.problem->name();
  if (Status status = filterOperations(operations, lab.flags); !status.ok() || operations.empty())
    return untunable.empty()
               ? status
               : notFound("{} has nothing to tune: what the compiler chooses is its only configuration", untunable);
  for (const Operation &operation : operations)
    if (exact.contains(operation.problem.get()))
      sayLines("{}: without what computes it in tf32, which a program of f32 is never compiled to; `kiln-dispatch "
               "sweep` measures that",
               operation.problem->name());
  for (const std::string &flag : lab.flags.compilerFlags)
    if (flag.find("tuning-db") != std::string::npos)
      return invalidArgument("--Xcompiler={}: a tuning compares with what the compiler chooses by itself; it reads and "
                             "writes the database that --tuning-db names",
                             flag);
  return okStatus();
}

void Tuning::announce() const {
  size_t trials = 0;
  for (const Operation &operation : operations) {
    size_t most = std::min<size_t>(operation.configurations.size(), lab.flags.tuning.trials);
    trials += most;
    say("{}: {}, of which at most {} are tried\n", operation.problem->name(),
        counted(operation.configurations.size(), "configuration"), most);
  }
  say("{}, at most {}, at most about {}\n", counted(operations.size(), "problem"), counted(trials, "trial"),
      durationText(static_cast<double>(operations.size()) * lab.flags.tuning.budgetSeconds()));
  if (isSimulated)
    sayLines("{} counts what it executes, and says nothing of a GPU's speed: what is found here is for tests alone",
             lab.flags.labDevice.uri);
}

Result<TuningDatabase> Tuning::readDatabase() const {
  if (access(path.c_str(), F_OK) != 0)
    return TuningDatabase();
  return TuningDatabase::open(path);
}

// Who is measured and how, as it is known before the first problem.
Status Tuning::prepare() {
  KILN_ASSIGN_OR_RETURN(KnownProvider provider, findKiln(lab.flags));
  setup.kiln = candidateOf(lab, provider);
  setup.settings = settingsOf(lab);
  if (lab.flags.labDevice.isGpu()) {
    setup.startSeconds = provider.startSeconds;
    setup.settings.group.lastLevelCacheBytes = provider.cacheBytes;
    setup.settings.deviceName = lab.flags.labDevice.description();
    setup.settings.monitor = lab.flags.labDevice.monitor();
  }
  isSimulated = provider.isSimulated;
  return okStatus();
}

// A device has no threads to choose among.
uint32_t Tuning::entryThreads() const {
  return lab.flags.labDevice.isGpu() ? 1 : lab.flags.threadCount();
}

// When a search ends is not part of it: one that was ended may go on for longer.
std::string Tuning::sessionKey() const {
  const TuneFlags &flags = lab.flags.tuning;
  std::string text = fmt::format("{} {} {} {}\n", kVersion, flags.batch, flags.exhaustive, flags.finalists);
  for (const std::string &flag : lab.flags.allCompilerFlags())
    text += flag + "\n";
  std::vector<SweepGroup> groups;
  for (const Operation &operation : operations) {
    groups.push_back({operation.problem.get(), {setup.kiln}});
    for (const std::string &configuration : operation.configurations)
      text += configuration + "\n";
  }
  return store::contentKey({text, sweepKey(groups, setup.settings)});
}

Result<bool> Tuning::searchOne(TuneSession &session, const Operation &operation) {
  ProblemTuner tuner(lab, operation, setup);
  Status found = tuner.findKey();
  if (!found.ok()) {
    spent += tuner.spent();
    return found;
  }
  say("  the default is {}\n", tuner.key().configuration);
  KILN_ASSIGN_OR_RETURN(TuningDatabase database, readDatabase());
  if (const TuningEntry *old = database.find(tuner.key().operation, tuner.key().target, entryThreads()))
    tuner.suggest(old->configuration.name());
  Result<bool> done = tuner.search(session, progress);
  if (!done.ok() || !*done) {
    spent += tuner.spent();
    return done;
  }
  KILN_ASSIGN_OR_RETURN(SweepGroup finalists, tuner.finalists());
  spent += tuner.spent();
  tuned.push_back({&operation, tuner.key(), std::move(finalists)});
  return true;
}

Result<bool> Tuning::searchAll(TuneSession &session) {
  for (size_t i = 0; i < operations.size(); ++i) {
    say("[{}/{}] {}\n", i + 1, operations.size(), operations[i].problem->name());
    Result<bool> done = searchOne(session, operations[i]);
    if (!done.ok()) {
      // The other problems are tuned all the same.
      ++broken;
      say("  cannot be tuned: {}\n", plainText(done.status().message()));
    } else if (!*done) {
      return false;
    }
  }
  return true;
}

// The winner has to be faster than the default with certainty, and by enough.
Status Tuning::conclude(const TunedProblem &problem, const TuneStep &step, TuningDatabase &database) {
  const std::string name = problem.operation->problem->name();
  const SweepCandidate *winner = nullptr;
  const TuneAnswer *fastest = nullptr;
  for (const SweepCandidate &candidate : problem.finalists.candidates)
    if (const TuneAnswer *answer = step.find(candidate);
        answer && (!fastest || std::pair(answer->estimate->rank, answer->estimate->ratio) <
                                   std::pair(fastest->estimate->rank, fastest->estimate->ratio)))
      winner = &candidate, fastest = answer;
  const TuneAnswer *standard = step.find(problem.finalists.candidates.front());
  if (!standard)
    return failedPrecondition(
        "{}: the default configuration gave no result in the end, and there is nothing to compare "
        "with; `kiln-dispatch explain` says why",
        name);
  uint32_t threads = entryThreads();
  double least = 1 + lab.flags.tuning.leastGain / 100.0;
  bool isDefault = fastest == standard || winner->fact.configuration == problem.key.configuration;
  if (isDefault || standard->estimate->rank == fastest->estimate->rank || standard->estimate->ratioLow < least) {
    bool erased = database.erase(problem.key.operation, problem.key.target, threads);
    say("{}: the default stays, {}: {}{}\n", name, problem.key.configuration,
        isDefault ? "nothing is faster"
                  : fmt::format("{} is not faster for certain by {} %", winner->fact.configuration,
                                lab.flags.tuning.leastGain),
        erased ? "; its entry is taken out" : "");
    return okStatus();
  }
  TuningEntry entry;
  entry.operation = problem.key.operation, entry.target = problem.key.target;
  entry.threads = threads;
  KILN_ASSIGN_OR_RETURN(entry.configuration, TileConfig::parse(winner->fact.configuration));
  entry.provenance = {name,
                      fastest->estimate->median,
                      fastest->estimate->ratio / standard->estimate->ratio,
                      timeText(step.started, "%Y-%m-%dT%H:%M:%SZ"),
                      kVersion,
                      step.run,
                      setup.settings.deviceName};
  say("{}: {} takes {:.2f} of the default's time\n", name, winner->fact.configuration, entry.provenance.defaultRatio);
  database.set(std::move(entry));
  return okStatus();
}

Result<int> Tuning::conclude(TuneSession &session) {
  std::vector<SweepGroup> groups;
  for (const TunedProblem &problem : tuned)
    groups.push_back(problem.finalists);
  // What is left is for all of them alike.
  SweepSettings settings = setup.settings;
  // None is dropped: a few rounds would not tell for certain by how much a slow default is slower.
  settings.statistics.dropBeyond = measure::GroupOptions::kNeverDrop;
  const double left = static_cast<double>(operations.size()) * lab.flags.tuning.budgetSeconds() - spent;
  settings.group.groupNanoseconds =
      static_cast<uint64_t>(std::max(0.0, left) / static_cast<double>(groups.size()) * 1e9);
  say("the best and the defaults once more, at most {}\n", durationText(left));
  KILN_ASSIGN_OR_RETURN(TuneStep step, session.measure(TuneSession::kLastStep, groups, settings, progress));
  if (step.interrupted) {
    sayInterrupted();
    return interruptedExitCode();
  }
  KILN_RETURN_IF_ERROR(writeReports(lab, step.run, /*asBlocks=*/false));
  // Read again: others may have written to it meanwhile.
  KILN_ASSIGN_OR_RETURN(TuningDatabase database, readDatabase());
  for (const TunedProblem &problem : tuned)
    if (Status status = conclude(problem, step, database); !status.ok()) {
      ++broken;
      say("{}\n", plainText(status.message()));
    }
  KILN_RETURN_IF_ERROR(writeFile(path, database.text()));
  say("{} in the tuning database '{}', for kiln-compile --tuning-db={}\n",
      database.size() == 1 ? "1 entry" : fmt::format("{} entries", database.size()), path, path);
  return broken ? 1 : 0;
}

Result<int> Tuning::run() {
  KILN_RETURN_IF_ERROR(select());
  KILN_RETURN_IF_ERROR(readDatabase().status());
  KILN_RETURN_IF_ERROR(prepare());
  announce();
  if (lab.flags.dryRun)
    return 0;
  catchInterrupts(sayInterrupted);
  KILN_ASSIGN_OR_RETURN(TuneSession session, TuneSession::open(lab.folder.database(), sessionKey(), !lab.flags.fresh));
  KILN_ASSIGN_OR_RETURN(bool done, searchAll(session));
  if (!done) {
    sayInterrupted();
    return interruptedExitCode();
  }
  if (tuned.empty())
    return 1;
  return conclude(session);
}

Result<int> verbs::tune(const Lab &lab) {
  if (!lab.flags.labDevice.isCpu() && !lab.flags.labDevice.isGpu())
    return unimplemented(
        "--device={}: it runs the CPU's code; configurations are searched on the CPU itself, and on GPUs",
        lab.flags.labDevice.uri);
  return Tuning(lab).run();
}

} // namespace kiln
