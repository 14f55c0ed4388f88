#include "kiln/tools/dispatch/commands.h"

#include <atomic>
#include <cmath>
#include <csignal>
#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/base/file.h"
#include "kiln/base/tile_config.h"
#include "kiln/measure/machine/quick_look.h"
#include "kiln/measure/workers/worker_process.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/suggestion.h"
#include "kiln/tools/dispatch/compile_pool.h"
#include "kiln/tools/dispatch/corpus.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/sibling.h"

namespace kiln {

// In half a second CPU time is counted in about fifty steps.
static constexpr double kLookSeconds = 0.5;

static volatile std::sig_atomic_t interrupts = 0;

static void countInterrupt(int) {
  interrupts = interrupts + 1;
  if (interrupts > 1)
    _exit(130);
}

template <typename... Arguments> static void say(fmt::format_string<Arguments...> text, Arguments &&...arguments) {
  std::string line = fmt::format(text, std::forward<Arguments>(arguments)...);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

// In as many lines as it takes on this terminal.
template <typename... Arguments> static void sayLines(fmt::format_string<Arguments...> text, Arguments &&...arguments) {
  say("{}\n", report::hangingText("", fmt::format(text, std::forward<Arguments>(arguments)...), consoleWidth(), 2));
}

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

// What the flags select, to be written.
static Result<std::vector<Operation>> chosenOperations(const Lab &lab) {
  if (!lab.flags.corpus.empty())
    return loadCorpus(lab);
  if (lab.flags.operationKind == "corpus")
    return invalidArgument("--operation-kind=corpus: name the folder of your programs with --corpus=DIR");
  return selectOperations(lab.families, lab.flags);
}

// What was written before. A corpus is read from where it is, and written anew.
static Result<std::vector<Operation>> writtenOperations(const Lab &lab) {
  if (lab.flags.corpus.empty())
    return lab.folder.read(lab.families);
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

namespace {
// All operations, compiled with the same flags.
struct Build : CompilerBuild {
  std::vector<CompileResult> results = {}; // of each operation

  std::string purpose() const { return variant.empty() ? "profile" : "profile_" + variant; }
};
} // namespace

static Status compileOperations(const Lab &lab, const std::vector<Operation> &operations, Build &build) {
  CompileSettings settings;
  settings.cache = lab.folder.cache();
  settings.compiler = build.compiler;
  settings.flags = build.flags;
  settings.workers = lab.flags.jobCount();
  settings.force = lab.flags.forceCompile;
  std::vector<CompileJob> jobs;
  for (const Operation &operation : operations) {
    const measure::Problem &problem = *operation.problem;
    jobs.push_back({lab.folder.sourceOf(problem), {lab.folder.moduleOf(problem, build.purpose())}});
    if (build.variant.empty())
      jobs.back().outputs.push_back(lab.folder.moduleOf(problem, "verify"));
  }
  size_t done = 0, cached = 0;
  uint64_t start = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(build.results, compileAll(jobs, settings, [&](size_t job, const CompileResult &result) {
                          // A corpus is compiled when it is read.
                          std::optional<double> milliseconds = result.milliseconds;
                          if (build.variant.empty() && !milliseconds)
                            milliseconds = operations[job].compileMilliseconds;
                          cached += result.ok() && !milliseconds;
                          std::string took = !result.ok() ? "failed"
                                             : !milliseconds
                                                 ? "as before"
                                                 : fmt::format("{:.2f} s{}", *milliseconds / 1000,
                                                               result.damaged ? ", again: its module was damaged" : "");
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
  double seconds = static_cast<double>(monotonicNanoseconds() - start) / 1e9;
  say("compiled {} of {} {}, {} were there already\n", jobs.size() - cached, counted(jobs.size(), "module"),
      whenRead ? "when the corpus was read" : fmt::format("in {:.1f} s", seconds), cached);
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
  std::string text = "#!/usr/bin/env bash\nset -eu\nkiln-compile";
  for (const std::string &flag : lab.flags.allCompilerFlags())
    text += " " + flag;
  std::string module = lab.folder.moduleOf(problem, "profile");
  text += fmt::format(" {} -o {}\n", lab.folder.sourceOf(problem), module);
  for (const std::string &configuration : operation.configurations) {
    text += fmt::format("kiln-benchmark-module --module={} --function={}", module, operation.function(configuration));
    for (const measure::TensorType &input : problem.inputs()) {
      std::string shape;
      for (uint64_t extent : input.shape)
        shape += fmt::format("{}x", extent);
      text += fmt::format(" --input={}{}=1", shape, hal::elementTypeName(input.type));
    }
    uint32_t threads = threadsOf(configuration);
    text += fmt::format(" --device=local-task --task_topology_group_count={}\n",
                        threads ? threads : lab.flags.threadCount());
  }
  return writeFile(lab.folder.folderOf(problem) + "/commands.sh", text);
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

namespace {
constexpr std::string_view kOwnProviders[] = {"kiln", "onednn", "openblas", "reference"};

// A provider as its own worker describes it.
struct KnownProvider {
  std::string name, variant, version;
  std::vector<std::string> command;
  std::string obstacle; // why it does not work; empty where it does
};

Result<KnownProvider> probe(const DispatchFlags &flags, std::string name, std::string variant,
                            std::vector<std::string> command) {
  measure::WorkerOptions options;
  options.command = command;
  options.threads = flags.threadCount();
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<measure::WorkerProcess> worker, measure::WorkerProcess::start(options));
  KILN_ASSIGN_OR_RETURN(measure::Answer answer,
                        worker->ask(measure::HelloRequest{measure::kProtocolVersion, options.threads},
                                    Deadline::after(flags.timeoutNanoseconds())));
  (void)worker->quit(Deadline::after(uint64_t(1'000'000'000))); // how it ends is no matter here
  return KnownProvider{std::move(name), std::move(variant), answer.version, std::move(command), {}};
}

// What was meant by a name that no worker has; empty where it is one, or near to none.
std::string misspelt(const std::string &wish) {
  std::vector<std::string> names(std::begin(kOwnProviders), std::end(kOwnProviders));
  names.emplace_back("onednn:preferred");
  return std::ranges::find(names, wish) == names.end() ? report::suggestion(wish, names) : "";
}

// A program that somebody else wrote. One that does not even answer `hello` has rows as well, which say why.
Result<KnownProvider> probeProgram(const DispatchFlags &flags, const std::string &text,
                                   const std::vector<KnownProvider> &others) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return invalidArgument("--provider-command={}: write NAME=COMMAND", text);
  std::string name = text.substr(0, equals);
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (name.find_first_not_of(kLetters) != name.npos)
    return invalidArgument("--provider-command={}: a name has letters, digits, '_', '-' and '.'", text);
  if (std::ranges::find(kOwnProviders, name) != std::end(kOwnProviders) ||
      std::ranges::find(others, name, &KnownProvider::name) != others.end())
    return invalidArgument("--provider-command={}: there is a provider '{}' already; give yours another name", text,
                           name);
  std::vector<std::string> command = {"/bin/sh", "-c", "exec " + text.substr(equals + 1)};
  Result<KnownProvider> provider = probe(flags, name, "", command);
  if (provider.ok())
    return provider;
  Status why =
      std::move(provider).status().withContext(fmt::format("provider '{}' (--provider-command={})", name, text));
  return KnownProvider{std::move(name), "", "", std::move(command), std::string(why.message())};
}

// Those that were asked for, all of which must work; without a wish, those that do. Of external programs one must
// work, where there is nobody else.
Result<std::vector<KnownProvider>> findProviders(const DispatchFlags &flags) {
  KILN_ASSIGN_OR_RETURN(std::string tool, siblingTool("kiln-lab-worker"));
  std::vector<std::string> wanted;
  bool asked = !flags.providers.empty();
  for (const std::string &list : flags.providers)
    for (std::string_view name : split(list, ','))
      if (name != "none")
        wanted.emplace_back(name);
  // Libraries know nothing of programs that somebody else wrote.
  if (!asked)
    wanted = flags.corpus.empty() ? std::vector<std::string>{"kiln", "onednn", "onednn:preferred", "openblas"}
                                  : std::vector<std::string>{"kiln"};
  std::vector<KnownProvider> providers;
  for (const std::string &wish : wanted) {
    size_t colon = wish.find(':');
    std::string variant = colon == std::string::npos ? "" : wish.substr(colon + 1);
    Result<KnownProvider> provider = probe(flags, wish.substr(0, colon), variant, {tool, "--provider=" + wish});
    if (provider.ok())
      providers.push_back(*std::move(provider));
    else if (std::string meant = misspelt(wish); !meant.empty())
      return notFound("--providers: there is no provider '{}'{}", wish, meant);
    else if (asked || wish == "kiln")
      return std::move(provider).status().withContext(fmt::format("provider '{}'", wish));
    else
      sayLines("without {}: {}", wish, provider.status().message());
  }
  for (const std::string &text : flags.providerCommands) {
    KILN_ASSIGN_OR_RETURN(KnownProvider provider, probeProgram(flags, text, providers));
    providers.push_back(std::move(provider));
  }
  if (providers.empty())
    return invalidArgument("--providers=none leaves nobody; add a program of yours with --provider-command");
  if (std::ranges::none_of(providers, [](const KnownProvider &provider) { return provider.obstacle.empty(); }))
    return failedPrecondition("{}", providers.front().obstacle);
  for (const KnownProvider &provider : providers)
    if (!provider.obstacle.empty())
      sayLines("without {}, whose rows are failed: {}", provider.name, provider.obstacle);
  return providers;
}
} // namespace

SweepSettings settingsOf(const Lab &lab) {
  const DispatchFlags &flags = lab.flags;
  SweepSettings settings;
  settings.group.cold = flags.cache == "cold";
  settings.group.threads = flags.threadCount();
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
  settings.commandLine = lab.commandLine;
  return settings;
}

namespace {
// One line that is written over while a group runs, where somebody sees it; else a line when it is done.
class Teller final : public SweepProgress {
public:
  Teller(size_t groups, const SweepSettings &settings) : groups(groups), settings(settings) {}

  void onGroup(size_t index, const SweepGroup &group) override {
    clear();
    current = index;
    begun = begun ? begun : monotonicNanoseconds();
    say("[{}/{}] {}: {}\n", index + 1, groups, group.problem->name(), counted(group.candidates.size(), "candidate"));
  }
  void onRound(uint32_t round, double seconds) override {
    if (!onTerminal || monotonicNanoseconds() - shown < 200'000'000)
      return;
    shown = monotonicNanoseconds();
    // What is left of this problem, which may end sooner, and problems like those that are done.
    double part = static_cast<double>(round + 1) / settings.statistics.maximumRounds;
    double left = std::max(0.0, seconds / part - seconds);
    if (measured > 0)
      left = std::min(left, spent / static_cast<double>(measured)) +
             spent / static_cast<double>(measured) * static_cast<double>(groups - current - 1);
    else
      left += seconds / part * static_cast<double>(groups - current - 1);
    std::string line = fmt::format("  {} of {} done{}, round {} of at most {}, {:.0f} s, at most {:.0f} s left",
                                   current, groups, failed ? fmt::format(", {} rows failed", failed) : "", round + 1,
                                   settings.statistics.maximumRounds, seconds, left);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
  }
  void onOutcome(const SweepCandidate &candidate, store::Outcome outcome, std::string_view message) override {
    if (outcome == store::Outcome::Ok || outcome == store::Outcome::Unsupported)
      return;
    ++failed;
    clear();
    // A line, with the cause rather than the pass that found it; the report says all of it.
    if (size_t end = message.find("': "); message.starts_with("pass '") && end != std::string_view::npos)
      message.remove_prefix(end + 3);
    say("{}\n", report::firstPart(fmt::format("  {}{}{}: {}: {}", candidate.fact.provider,
                                              candidate.fact.configuration.empty() ? "" : " ",
                                              candidate.fact.configuration, store::outcomeName(outcome), message),
                                  consoleWidth()));
  }
  void onWarning(std::string_view text) override {
    clear();
    sayLines("{}", text);
  }
  void onGroupDone(size_t, const SweepGroup &) override {
    clear();
    ++measured;
    spent = static_cast<double>(monotonicNanoseconds() - begun) / 1e9;
  }
  bool shouldContinue() override { return interrupts == 0; }

private:
  void clear() {
    if (onTerminal && shown)
      std::fprintf(stderr, "\r\033[K");
    shown = 0;
  }

  size_t groups;
  const SweepSettings &settings;
  size_t failed = 0, current = 0, measured = 0;
  uint64_t begun = 0; // when the first problem did
  double spent = 0;   // seconds on those that are done
  uint64_t shown = 0;
  bool onTerminal = isatty(STDERR_FILENO) != 0;
};

SweepCandidate candidateOf(const Lab &lab, const measure::Problem &problem, const KnownProvider &provider) {
  SweepCandidate candidate;
  candidate.fact.problem = problem.name();
  candidate.fact.provider = provider.name;
  candidate.fact.providerVersion = provider.version;
  candidate.fact.variant = provider.variant;
  candidate.fact.threads = lab.flags.threadCount();
  candidate.worker.command = provider.command;
  candidate.worker.label = provider.name;
  candidate.obstacle = provider.obstacle;
  return candidate;
}

void addConfigurations(const Lab &lab, const Operation &operation, const Build &build, const CompileResult &compiled,
                       const SweepCandidate &kiln, SweepGroup &group) {
  std::string flags = recordedFlags(build.compiler, build.flags);
  for (const std::string &configuration : operation.configurations) {
    SweepCandidate candidate = kiln;
    candidate.fact.configuration = configuration;
    candidate.fact.variant = build.variant;
    candidate.fact.compilerFlags = flags;
    candidate.fact.moduleHash = compiled.key;
    candidate.worker.label = configuration;
    candidate.worker.module = lab.folder.moduleOf(*operation.problem, build.purpose());
    candidate.worker.function = operation.function(configuration);
    if (uint32_t threads = threadsOf(configuration))
      candidate.fact.threads = candidate.worker.threads = threads;
    candidate.obstacle = compiled.ok() ? "" : "it does not compile: " + compiled.error;
    candidate.compileMilliseconds = compiled.milliseconds;
    group.candidates.push_back(std::move(candidate));
  }
}

SweepGroup groupOf(const Lab &lab, const Operation &operation, size_t index, const std::vector<Build> &builds,
                   const std::vector<KnownProvider> &providers) {
  SweepGroup group{operation.problem.get(), {}};
  for (const KnownProvider &provider : providers) {
    SweepCandidate candidate = candidateOf(lab, *operation.problem, provider);
    if (provider.name != "kiln") {
      group.candidates.push_back(std::move(candidate));
      continue;
    }
    for (const Build &build : builds)
      addConfigurations(lab, operation, build, build.results[index], candidate, group);
  }
  finishCorpusGroup(lab, group);
  return group;
}

double secondsSince(uint64_t start) {
  return static_cast<double>(monotonicNanoseconds() - start) / 1e9;
}

// Compiles what is not compiled yet, and measures it. `look` has begun before, so that looking costs no time.
Result<SweepSummary> measureWith(const Lab &lab, const std::vector<Operation> &operations,
                                 const std::vector<KnownProvider> &providers, std::vector<Build> builds,
                                 SweepSettings settings, measure::QuickLook &look) {
  // Who else writes the store would be found out only when all is compiled; so nobody does from here on.
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Writer> writer, store::Writer::open(lab.folder.database(), {}));
  settings.writer = writer.get();
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
  for (size_t i = 0; i < operations.size(); ++i)
    groups.push_back(groupOf(lab, operations[i], i, builds, providers));
  std::signal(SIGINT, countInterrupt);
  std::signal(SIGTERM, countInterrupt);
  Teller teller(groups.size(), settings);
  KILN_ASSIGN_OR_RETURN(SweepSummary summary, runSweep(groups, settings, lab.folder.database(), teller));
  summary.compileSeconds = compileSeconds;
  if (summary.resumed)
    say("{} had been measured before and {} not repeated\n", counted(summary.resumed, "problem"),
        summary.resumed == 1 ? "was" : "were");
  if (summary.interrupted)
    say("interrupted; the same command goes on from here\n");
  return summary;
}

Result<int> measureOperations(const Lab &lab, const std::vector<Operation> &operations,
                              const std::vector<KnownProvider> &providers, measure::QuickLook &look, bool asBlocks) {
  uint64_t start = monotonicNanoseconds();
  KILN_ASSIGN_OR_RETURN(std::vector<CompilerBuild> variants, lab.flags.parsedVariants());
  std::vector<Build> builds;
  // Who compares libraries needs no compiler.
  if (std::ranges::any_of(providers, [](const KnownProvider &provider) { return provider.name == "kiln"; })) {
    builds.push_back({lab.flags.plainBuild()});
    for (CompilerBuild &variant : variants)
      builds.push_back({std::move(variant)});
  }
  KILN_ASSIGN_OR_RETURN(SweepSummary summary,
                        measureWith(lab, operations, providers, std::move(builds), settingsOf(lab), look));
  if (summary.interrupted)
    return 130;
  KILN_RETURN_IF_ERROR(writeReports(lab, summary.run, asBlocks));
  double seconds = std::max(secondsSince(start), 1e-9);
  sayLines("{} in {:.1f} s: {:.0f} % compiling, {:.0f} % timed; stored in {} as run {}",
           counted(summary.measured, "problem"), seconds, 100 * summary.compileSeconds / seconds,
           100 * summary.timedSeconds / seconds, lab.folder.database(), summary.run.substr(0, 8));
  return summary.failed ? 1 : 0;
}

// What is going to happen, before it does.
std::string durationText(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kLong = 100;
  if (seconds >= kLong * kMinute)
    return fmt::format("{:.1f} hours", seconds / kHour);
  return seconds < kLong ? fmt::format("{:.0f} s", std::ceil(seconds))
                         : fmt::format("{:.0f} minutes", seconds / kMinute);
}

void announce(const Lab &lab, const std::vector<Operation> &operations, const std::vector<KnownProvider> &providers) {
  size_t dispatches = 0, libraries = 0;
  std::string names;
  for (const KnownProvider &provider : providers) {
    if (provider.name == "kiln") {
      dispatches = countDispatches(operations) * (1 + lab.flags.compilerVariants.size());
      continue;
    }
    ++libraries;
    // OpenBLAS says a whole line of itself.
    names += fmt::format("{}{}{}{} {}", names.empty() ? "" : ", ", provider.name, provider.variant.empty() ? "" : ":",
                         provider.variant,
                         provider.obstacle.empty() ? provider.version.substr(0, provider.version.find(' ')) : "fails");
  }
  size_t candidates = dispatches + libraries * operations.size();
  // A turn takes about 70 ms, starting the worker included. Losers leave after 3 to 10, others have 20 to 100.
  double least = static_cast<double>(candidates) * 8 * 0.07, most = least * 6;
  most = std::min(most, lab.flags.measureSeconds() * static_cast<double>(operations.size()));
  sayLines("{}, {} ({} of Kiln{}{})", counted(operations.size(), "problem"), counted(candidates, "candidate"),
           dispatches, names.empty() ? "" : "; ", names);
  say("about {} to {}\n", durationText(std::min(least, most)), durationText(most));
}
} // namespace

Result<SweepCandidate> kilnCandidate(const Lab &lab) {
  KILN_ASSIGN_OR_RETURN(std::string tool, siblingTool("kiln-lab-worker"));
  KILN_ASSIGN_OR_RETURN(KnownProvider kiln, probe(lab.flags, "kiln", "", {tool, "--provider=kiln"}));
  SweepCandidate candidate;
  candidate.fact.provider = kiln.name;
  candidate.fact.providerVersion = kiln.version;
  candidate.fact.threads = lab.flags.threadCount();
  candidate.worker.command = kiln.command;
  return candidate;
}

Result<int> verbs::profile(const Lab &lab) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, writtenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(std::vector<KnownProvider> providers, findProviders(lab.flags));
  announce(lab, operations, providers);
  if (lab.flags.dryRun)
    return 0;
  return measureOperations(lab, operations, providers, look, /*asBlocks=*/true);
}

Result<int> verbs::sweep(const Lab &lab) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, chosenOperations(lab));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(std::vector<KnownProvider> providers, findProviders(lab.flags));
  announce(lab, operations, providers);
  if (lab.flags.dryRun)
    return 0;
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, !lab.flags.verbose));
  return measureOperations(lab, operations, providers, look, /*asBlocks=*/false);
}

Result<std::optional<std::string>> measureBuilds(const Lab &lab, const std::vector<CompilerBuild> &builds) {
  measure::QuickLook look(kLookSeconds);
  KILN_ASSIGN_OR_RETURN(std::vector<Operation> operations, selectOperations(lab.families, lab.flags));
  KILN_RETURN_IF_ERROR(filterOperations(operations, lab.flags));
  KILN_ASSIGN_OR_RETURN(std::string tool, siblingTool("kiln-lab-worker"));
  KILN_ASSIGN_OR_RETURN(KnownProvider kiln, probe(lab.flags, "kiln", "", {tool, "--provider=kiln"}));
  size_t dispatches = countDispatches(operations);
  sayLines("{}, {} {} by each of {} compilers, and measured in common rounds", counted(operations.size(), "problem"),
           dispatches, dispatches == 1 ? "dispatch, compiled" : "dispatches, compiled", builds.size());
  KILN_RETURN_IF_ERROR(writeOperations(lab, operations, true));
  SweepSettings settings = settingsOf(lab);
  // A slow configuration is compared with itself, not with the leader: nobody leaves.
  constexpr double never = 1e6;
  settings.statistics.dropBeyond = never;
  std::vector<Build> all;
  for (const CompilerBuild &build : builds)
    all.push_back({build});
  KILN_ASSIGN_OR_RETURN(SweepSummary summary, measureWith(lab, operations, {kiln}, std::move(all), settings, look));
  return summary.interrupted ? std::nullopt : std::optional<std::string>(summary.run);
}

Result<int> verbs::families(const Lab &lab) {
  for (const std::unique_ptr<measure::Family> &family : lab.families.families())
    say("{}\n", report::hangingText(fmt::format("{:<17} ", family->name()), family->summary(), consoleWidth(), 18));
  return 0;
}

} // namespace kiln
