#include "kiln/tools/dispatch/commands.h"

#include <algorithm>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/tile_config.h"
#include "kiln/measure/machine/quick_look.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/say.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/dispatch/still_alive.h"
#include "kiln/tools/dispatch/sweep/compile_pool.h"
#include "kiln/tools/dispatch/sweep/corpus.h"
#include "kiln/tools/dispatch/sweep/known_providers.h"
#include "kiln/tools/dispatch/sweep/sweep_plan.h"
#include "kiln/tools/dispatch/sweep/sweep_teller.h"
#include "kiln/tools/dispatch/sweep/tf32_groups.h"
#include "kiln/tools/interrupts.h"

namespace kiln {

// In half a second CPU time is counted in about fifty steps.
static constexpr double kLookSeconds = 0.5;

static size_t countDispatches(const std::vector<Operation> &operations) {
  size_t count = 0;
  for (const Operation &operation : operations)
    count += operation.configurations.size();
  return count;
}

//===--- generate ------------------------------------------------------------------------------------------------===//

static Status writeOperations(const Lab &lab, const std::vector<Operation> &operations, bool quiet) {
  for (const Operation &operation : operations) {
    std::string path = lab.folder.sourceOf(*operation.problem);
    if (!quiet)
      say("[Generating]: {}\n", path);
    if (!lab.flags.dryRun)
      KILN_RETURN_IF_ERROR(lab.folder.write(operation).status());
    if (!quiet)
      for (const std::string &configuration : operation.configurations)
        say("    Emitting tuning configuration : {}\n", configuration);
  }
  return okStatus();
}

// Of a GPU, what its tensor cores can promise.
static Result<std::vector<Operation>> promised(const Lab &lab, Result<std::vector<Operation>> operations) {
  if (operations.ok() && lab.flags.labDevice.isGpu())
    for (Operation &operation : *operations)
      operation.problem->promiseSumsOfTensorCores();
  return operations;
}

// What the flags select, to be written.
static Result<std::vector<Operation>> chosenOperations(const Lab &lab) {
  if (!lab.flags.corpus.empty())
    return loadCorpus(lab);
  if (lab.flags.operationKind == "corpus")
    return invalidArgument("--operation-kind=corpus: name the folder of your programs with --corpus=DIR");
  return promised(lab, selectOperations(lab.families, lab.flags));
}

// What was written before. A corpus is read from where it is, and written anew.
static Result<std::vector<Operation>> writtenOperations(const Lab &lab) {
  if (lab.flags.corpus.empty())
    return promised(lab, lab.folder.read(lab.families));
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, loadCorpus(lab));
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, /*quiet=*/true));
  return operations;
}

Result<int> verbs::generate(const Lab &lab) {
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, chosenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, false));
  say("{} with {}{}\n", counted(operations.size(), "operation"),
      countDispatches(operations) == 1 ? "1 dispatch" : fmt::format("{} dispatches", countDispatches(operations)),
      lab.flags.dryRun ? " would be generated" : "");
  return 0;
}

//===--- compile -------------------------------------------------------------------------------------------------===//

CompileSettings compileSettings(const Lab &lab) {
  CompileSettings settings;
  settings.compiler = lab.flags.compiler;
  settings.cache = lab.folder.cache();
  settings.flags = lab.flags.allCompilerFlags();
  settings.workers = lab.flags.jobCount();
  return settings;
}

namespace {
// All operations, compiled with the same flags.
struct Build : CompilerBuild {
  std::vector<CompileResult> results = {}; // of each operation

  std::string purpose() const { return variant.empty() ? "profile" : "profile_" + variant; }
};
} // namespace

static Status compileOperations(const Lab &lab, const std::vector<Operation> &operations, Build &build) {
  catchInterrupts(sayInterrupted); // modules that are compiled stay
  CompileSettings settings = compileSettings(lab);
  settings.compiler = build.compiler;
  settings.flags = build.flags;
  settings.force = lab.flags.forceCompile;
  std::vector<CompileJob> jobs;
  for (const Operation &operation : operations) {
    const measure::Problem &problem = *operation.problem;
    jobs.push_back({lab.folder.sourceOf(problem), {lab.folder.moduleOf(problem, build.purpose())}});
    if (build.variant.empty())
      jobs.back().outputs.push_back(lab.folder.moduleOf(problem, "verify"));
  }
  size_t done = 0, cached = 0, failed = 0;
  uint64_t start = monotonicNanoseconds();
  std::optional<StillAlive> alive(std::in_place, "compiling");
  KILN_ASSIGN_OR_RETURN(build.results, compileAll(jobs, settings, [&](size_t job, const CompileResult &result) {
                          // A corpus is compiled when it is read.
                          std::optional<double> milliseconds = result.milliseconds;
                          if (build.variant.empty() && !milliseconds)
                            milliseconds = operations[job].compileMilliseconds;
                          cached += result.ok() && !milliseconds;
                          failed += !result.ok();
                          std::string took = !result.ok() ? "failed"
                                             : !milliseconds
                                                 ? "as before"
                                                 : fmt::format("{:.2f} s{}", *milliseconds / 1000,
                                                               result.damaged ? ", again: its module was damaged" : "");
                          if (result.ok() && !obstacleOf(operations[job]).ok())
                            took = "cannot be measured";
                          say("[Compiling]: [{}/{}] {}{} with {}: {}\n", ++done, jobs.size(),
                              operations[job].problem->name(), build.variant.empty() ? "" : " (" + build.variant + ")",
                              counted(operations[job].configurations.size(), "configuration"), took);
                        }));
  for (size_t i = 0; i < operations.size(); ++i)
    if (build.variant.empty() && build.results[i].ok() && !build.results[i].milliseconds)
      build.results[i].milliseconds = operations[i].compileMilliseconds;
  bool whenRead = build.variant.empty() && std::ranges::any_of(operations, [](const Operation &operation) {
                    return operation.compileMilliseconds.has_value();
                  });
  alive.reset();
  double seconds = secondsSince(start);
  say("compiled {} of {} {}, {} were there already{}\n", jobs.size() - cached - failed, counted(jobs.size(), "module"),
      whenRead ? "when the corpus was read" : fmt::format("in {:.1f} s", seconds), cached,
      failed ? fmt::format(", {} failed", failed) : "");
  return okStatus();
}

static Status saveCompilerOutput(const Lab &lab, const Operation &operation, const CompileResult &result) {
  return writeFile(lab.folder.folderOf(*operation.problem) + "/iree_compile_cmd_stdout.mlir",
                   result.error.empty() ? std::string_view() : std::string_view(result.error));
}

// Those that a configuration asks for; 0 where it leaves it to the sweep.
static uint32_t threadsOf(const std::string &configuration) {
  Result<TileConfig> config = TileConfig::parse(configuration);
  return config.ok() ? static_cast<uint32_t>(config->threads) : 0;
}

// What a user types to get the same by hand.
static Status saveCommands(const Lab &lab, const Operation &operation) {
  const measure::Problem &problem = *operation.problem;
  std::string text = "#!/usr/bin/env bash\n# Compiles the operation, then verifies, measures and ranks its "
                     "dispatches.\nset -eu\nkiln-compile";
  for (const std::string &flag : lab.flags.allCompilerFlags())
    text += " " + shellWord(flag);
  text += fmt::format(" {} -o {}\n", shellWord(lab.folder.sourceOf(problem)),
                      shellWord(lab.folder.moduleOf(problem, "profile")));
  text +=
      fmt::format("kiln-dispatch profile {} {} --threads={}", shellWord("--generated-dir=" + lab.flags.generatedDir),
                  shellWord(fmt::format("--dispatches=^{}_", problem.name())), lab.flags.threadCount());
  if (!lab.flags.labDevice.isCpu())
    text += " " + shellWord("--device=" + lab.flags.labDevice.uri);
  for (const std::string &flag : lab.flags.compilerFlags)
    text += " " + shellWord("--Xcompiler=" + flag);
  return writeFile(lab.folder.folderOf(problem) + "/commands.sh", text + "\n");
}

Result<int> verbs::compile(const Lab &lab) {
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, writtenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  if (lab.flags.dryRun) {
    for (const Operation &operation : operations)
      say("[Compiling]: {}\n", lab.folder.sourceOf(*operation.problem));
    return 0;
  }
  Build build{lab.flags.plainBuild()};
  KILN_RETURN_IF_ERROR(compileOperations(lab, operations, build));
  const std::vector<CompileResult> &results = build.results;
  int failed = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    KILN_RETURN_IF_ERROR(saveCompilerOutput(lab, operations[i], results[i]));
    if (lab.flags.saveCommands)
      KILN_RETURN_IF_ERROR(saveCommands(lab, operations[i]));
    if (!results[i].ok()) {
      say("{} does not compile: {}\n", operations[i].problem->name(), results[i].error);
      failed = 1;
    }
  }
  return failed;
}

//===--- profile, sweep ------------------------------------------------------------------------------------------===//

SweepSettings settingsOf(const Lab &lab) {
  const DispatchFlags &flags = lab.flags;
  SweepSettings settings;
  settings.group.cold = flags.cache == "cold";
  settings.group.threads = flags.threadCount();
  settings.group.device = flags.labDevice.uri;
  settings.onGpu = flags.labDevice.isGpu();
  settings.group.seed = flags.seed;
  settings.group.measureNanoseconds = static_cast<uint64_t>(flags.measureSeconds() * 1e9);
  settings.group.memoryLimit = uint64_t(flags.memoryLimitMiB) << 20;
  settings.group.startTimeout = settings.group.callTimeout = flags.timeoutNanoseconds();
  settings.group.loadTimeout = 2 * flags.timeoutNanoseconds();
  settings.statistics.seed = flags.seed;
  if (flags.repetitions)
    settings.statistics.minimumRounds = settings.statistics.maximumRounds = flags.repetitions;
  settings.profile = flags.profilingEnabled == "true";
  settings.resume = !flags.fresh;
  settings.calibrate = settings.profile;
  settings.writerOptions.allowNetwork = flags.allowNetworkStore;
  settings.resumeOn = flags.resumeOnEqualHardware ? store::ResumeOn::EqualHardware : store::ResumeOn::SameNode;
  settings.commandLine = lab.commandLine;
  return settings;
}

SweepCandidate candidateOf(const Lab &lab, const KnownProvider &provider) {
  SweepCandidate candidate;
  candidate.fact.provider = provider.name;
  candidate.fact.providerVersion = provider.version;
  candidate.fact.variant = provider.variant;
  candidate.fact.moduleHash = provider.program;
  candidate.fact.threads = lab.flags.threadCount();
  candidate.worker.command = provider.command;
  candidate.worker.isOwn = provider.program.empty();
  candidate.obstacle = provider.obstacle;
  return candidate;
}

SweepCandidate configured(SweepCandidate candidate, const Operation &operation, const std::string &configuration,
                          const CompileResult &compiled, std::string module) {
  candidate.fact.problem = factOf(*operation.problem).key();
  candidate.fact.configuration = configuration;
  candidate.fact.moduleHash = compiled.key;
  candidate.worker.module = std::move(module);
  candidate.worker.function = operation.function(configuration);
  if (uint32_t threads = threadsOf(configuration))
    candidate.fact.threads = candidate.worker.threads = threads;
  candidate.obstacle = compiled.ok() ? "" : "it does not compile: " + compiled.error;
  candidate.compileMilliseconds = compiled.milliseconds;
  return candidate;
}

namespace {
SweepGroup groupOf(const Lab &lab, const Operation &operation, size_t index, const std::vector<Build> &builds,
                   const std::vector<KnownProvider> &providers) {
  SweepGroup group{operation.problem.get(), {}};
  for (const KnownProvider &provider : providers) {
    SweepCandidate candidate = candidateOf(lab, provider);
    if (provider.name != "kiln") {
      if (provider.variant == kTF32Variant && lab.flags.providers.empty() && !hasTF32(operation))
        continue;
      candidate.fact.problem = factOf(*operation.problem).key();
      group.candidates.push_back(std::move(candidate));
      continue;
    }
    for (const Build &build : builds) {
      candidate.fact.variant = build.variant;
      candidate.fact.compilerFlags = recordedFlags(build.compiler, build.flags);
      for (const std::string &configuration : operation.configurations)
        group.candidates.push_back(configured(candidate, operation, configuration, build.results[index],
                                              lab.folder.moduleOf(*operation.problem, build.purpose())));
    }
  }
  finishCorpusGroup(lab, group);
  return group;
}

// Compiles what is not compiled yet, and measures it. `look` has begun before, so that looking costs no time.
Result<SweepSummary> measureWith(const Lab &lab, const std::vector<Operation> &operations,
                                 const std::vector<KnownProvider> &providers, std::vector<Build> builds,
                                 SweepSettings settings, measure::QuickLook &look) {
  // The store is locked before anything is compiled, so that another writer is found out at once.
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Writer> writer,
                        store::Writer::open(lab.folder.database(), settings.writerOptions));
  settings.writer = writer.get();
  settings.deviceName = lab.flags.labDevice.description();
  settings.monitor = lab.flags.labDevice.monitor();
  uint64_t start = monotonicNanoseconds();
  for (Build &build : builds)
    KILN_RETURN_IF_ERROR(compileOperations(lab, operations, build));
  KILN_RETURN_IF_ERROR(prepareBaselines(lab, operations));
  double compileSeconds = secondsSince(start);
  if (lab.flags.saveCommands)
    for (const Operation &operation : operations)
      KILN_RETURN_IF_ERROR(saveCommands(lab, operation));
  if (lab.flags.verificationEnabled == "false")
    sayLines("--verification-enabled=false: verifying takes little time, and what is not verified is not ranked; it is "
             "done");
  KILN_ASSIGN_OR_RETURN(settings.tags, lab.flags.parsedTags());
  if (settings.profile) {
    settings.machine = look.finish();
    if (std::string warning = measure::disturbance(*settings.machine); !warning.empty())
      sayLines("{}", warning);
  }
  std::vector<SweepGroup> groups;
  measure::Problems inTF32;
  for (size_t i = 0; i < operations.size(); ++i)
    addGroups(groupOf(lab, operations[i], i, builds, providers), !builds.empty(), groups, inTF32);
  catchInterrupts(sayInterrupted); // without Kiln nothing was compiled
  SweepTeller teller(groups.size(), settings);
  KILN_ASSIGN_OR_RETURN(SweepSummary summary, runSweep(groups, settings, lab.folder.database(), teller));
  summary.compileSeconds = compileSeconds;
  if (summary.resumed)
    say("{} had been measured before and {} not repeated\n", counted(summary.resumed, "problem"),
        summary.resumed == 1 ? "was" : "were");
  if (summary.interrupted)
    sayInterrupted();
  return summary;
}

Result<int> measureOperations(const Lab &lab, const std::vector<Operation> &operations,
                              const std::vector<KnownProvider> &providers, measure::QuickLook &look, bool asBlocks) {
  uint64_t start = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(std::vector<CompilerBuild> variants, lab.flags.parsedVariants());
  std::vector<Build> builds;
  // Without Kiln there is nothing to compile.
  if (std::ranges::any_of(providers, [](const KnownProvider &provider) { return provider.name == "kiln"; })) {
    builds.push_back({lab.flags.plainBuild()});
    for (CompilerBuild &variant : variants)
      builds.push_back({std::move(variant)});
  }
  SweepSettings settings = settingsOf(lab);
  for (const KnownProvider &provider : providers)
    settings.group.lastLevelCacheBytes = std::max(settings.group.lastLevelCacheBytes, provider.cacheBytes);
  KILN_ASSIGN_OR_RETURN(SweepSummary summary,
                        measureWith(lab, operations, providers, std::move(builds), std::move(settings), look));
  if (summary.interrupted)
    return interruptedExitCode();
  KILN_RETURN_IF_ERROR(writeReports(lab, summary.run, asBlocks));
  double seconds = std::max(secondsSince(start), 1e-9);
  sayLines("{} in {:.1f} s: {:.0f} % compiling, {:.0f} % timed; stored in {} as run {}",
           counted(summary.measured, "problem"), seconds, 100 * summary.compileSeconds / seconds,
           100 * summary.timedSeconds / seconds, lab.folder.database(), summary.run.substr(0, 8));
  return summary.failed ? 1 : 0;
}

// The programs of a corpus that will not be measured; 1 where that will be a failure.
int tellObstacles(const std::vector<Operation> &operations) {
  int failed = 0;
  for (const Operation &operation : operations)
    if (Status obstacle = obstacleOf(operation); !obstacle.ok()) {
      sayLines("{}: {}", operation.problem->name(), obstacle.message());
      failed |= obstacle.code() != StatusCode::Unimplemented;
    }
  return failed;
}

} // namespace

Result<int> verbs::profile(const Lab &lab) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, writtenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(std::vector<KnownProvider> providers,
                        findProviders(lab.flags, std::ranges::any_of(operations, hasTF32)));
  announceSweep(lab, operations, providers);
  if (lab.flags.dryRun)
    return tellObstacles(operations);
  return measureOperations(lab, operations, providers, look, /*asBlocks=*/true);
}

Result<int> verbs::sweep(const Lab &lab) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, chosenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(std::vector<KnownProvider> providers,
                        findProviders(lab.flags, std::ranges::any_of(operations, hasTF32)));
  // Reports show how far the compiler's own choice is from the best.
  if (!lab.flags.noDefaultConfig && lab.flags.askedInstructions().empty() &&
      std::ranges::find(providers, "kiln", &KnownProvider::name) != providers.end())
    for (Operation &operation : operations)
      operation.addDefaultConfiguration();
  announceSweep(lab, operations, providers);
  if (lab.flags.dryRun)
    return tellObstacles(operations);
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, !lab.flags.verbose));
  return measureOperations(lab, operations, providers, look, /*asBlocks=*/false);
}

Result<std::optional<std::string>> measureBuilds(const Lab &lab, const std::vector<CompilerBuild> &builds,
                                                 bool dryRun) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, selectOperations(lab.families, lab.flags));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(KnownProvider kiln, findKiln(lab.flags));
  size_t dispatches = countDispatches(operations);
  sayLines("{}, {} {} by each of {} compilers, and measured in common rounds", counted(operations.size(), "problem"),
           dispatches, dispatches == 1 ? "dispatch, compiled" : "dispatches, compiled", builds.size());
  if (dryRun)
    return std::optional<std::string>();
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, true));
  SweepSettings settings = settingsOf(lab);
  // Each configuration is compared with itself by another compiler, so that slow ones are not dropped.
  settings.statistics.dropBeyond = measure::GroupOptions::kNeverDrop;
  std::vector<Build> all;
  for (const CompilerBuild &build : builds)
    all.push_back({build});
  KILN_ASSIGN_OR_RETURN(SweepSummary summary, measureWith(lab, operations, {kiln}, std::move(all), settings, look));
  return summary.interrupted ? std::nullopt : std::optional<std::string>(summary.run);
}

Result<int> verbs::families(const Lab &lab) {
  for (const std::unique_ptr<measure::Family> &family : lab.families.families())
    say("{}\n", hangingText(fmt::format("{:<17} ", family->name()), family->summary(), consoleWidth(), 18));
  return 0;
}

} // namespace kiln
