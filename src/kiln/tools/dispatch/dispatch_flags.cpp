#include "kiln/tools/dispatch/dispatch_flags.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <set>

#include "fmt/ranges.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/model/suggestion.h"
#include "kiln/runtime/task/topology.h"
#include "kiln/tools/dispatch/duration.h"
#include "kiln/tools/dispatch/nearest_names.h"
#include "kiln/tools/peers_flag.h"

namespace kiln {

void DispatchFlags::addSelection(FlagParser &parser, const measure::FamilyRegistry &families, const KilnAlone *alone) {
  parser.group("What to take");
  selects = true;
  parser.add({"generated-dir", "DIR", "The folder in which generated/ lies, with programs, modules and results."},
             generatedDir);
  parser.add({"operation-kind", "KIND",
              "all, or an operation family; see `kiln-dispatch families`. Each has some problems of its own where no "
              "sizes are "
              "given."},
             operationKind);
  parser.add({"op-kind", "KIND", "The same as --operation-kind."}, operationKind);
  parser.add(
      {"dispatches", "REGEX,...",
       "Dispatches whose names match one of these expressions; a * after a letter, digit or _ stands for any text. The "
       "full name of a problem, such as matmul_512x512x512_f32t_f32t_f32t, is that problem."},
      dispatches);
  for (const std::unique_ptr<measure::Family> &family : families.families())
    for (const measure::Dimension &dimension : family->dimensions())
      if (auto [sizes, isNew] = problemSizes.try_emplace(std::string(dimension.name)); isNew) {
        sizes->second.minimum = dimension.minimum;
        parser.add({fmt::format("problem-{}", dimension.name), "SIZES", std::string(dimension.help)},
                   sizes->second.text);
      }
  if (auto slices = problemSizes.find("slices"); slices != problemSizes.end())
    parser.add({"split-k-slices", "SIZES", "The same as --problem-slices."}, slices->second.text);
  parser.add({"problem-shape", "SHAPE,...",
              "Whole shapes, such as 64x64x3,1000, of elementwise operations and transpositions."},
             problemShapes);
  parser.add(
      {"dtypes", "TYPE,...",
       "Element types, such as f32,f16; or three matrices, such as f16t_f16n_f32t. Without it each family has some."},
      types);
  parser.add({"configurations", "N", "So many configurations for each problem, the likely best first; 0 takes all."},
             configurations);
  parser.add({"default-config", "",
              "Also what the compiler chooses by itself, as tile_config_default; a sweep has that without this flag."},
             defaultConfig);
  parser.group("What to take instead");
  if (alone)
    parser.refuse("corpus", alone->corpus);
  else
    parser.add({"corpus", "DIR",
                "The .mlir files in this folder and those below, or this one file, instead of generated problems; "
                "docs/lab.md says what stands beside them."},
               corpus);
}

void DispatchFlags::addCompilation(FlagParser &parser) {
  parser.group("How to compile");
  compiles = true;
  parser.add({"device", "NAME",
              "Where to run: llvm-cpu (also: cpu, local-task), the default of this build; or a device, such as cuda, "
              "cuda://1 or cuda-sim, whose clock then times all candidates."},
             device);
  parser.add({"compiler", "FILE", "The kiln-compile to use; the one beside this tool where none is named."}, compiler);
  parser.add({"Xcompiler", "FLAG", "A flag for kiln-compile."}, compilerFlags);
  parser.add({"num-cpu", "N", "Compilers at the same time; 0 or -1 is one for each processor."}, jobs);
  parser.add({"j", "N", "The same as --num-cpu, also as in -j 4."}, jobs);
  parser.add({"force-compile", "", "Compiles again what is there already."}, forceCompile);
}

void addNetworkStore(FlagParser &parser, bool &allow) {
  parser.add({"allow-network-store", "",
              "Writes the store also on a network file system. Only where one node at a time does: its locks do not "
              "reach others."},
             allow);
}

void DispatchFlags::addParticipants(FlagParser &parser, const KilnAlone *alone) {
  if (alone) {
    for (const char *name : {"providers", "provider-command", "peers-dir", "no-default-config", "compiler-variant",
                             "profiling-enabled", "benchmark"})
      parser.refuse(name, alone->participants);
    return;
  }
  parser.group("Who takes part");
  parser.add({"providers", "NAME,...",
              "Who takes part: kiln, onednn, onednn:preferred, openblas, mkl, reference; on a GPU kiln, cublas, "
              "cublaslt, cudnn. The default is kiln, and each library that is installed; none is nobody but "
              "--provider-command. `kiln-lab-worker --list_providers` says which "
              "are."},
             providers);
  parser.add({"provider-command", "NAME=COMMAND", "A program that speaks the protocol of docs/lab.md takes part too."},
             providerCommands);
  addPeersFlag(parser, peersDir);
  parser.add({"no-default-config", "",
              "Leaves out tile_config_default, what the compiler chooses by itself, which otherwise takes part in each "
              "sweep that has Kiln, whatever --dispatches and --configurations say."},
             noDefaultConfig);
  parser.add(
      {"compiler-variant", "NAME=[FILE] FLAGS",
       "Each configuration takes part a second time, compiled with these flags more, as Kiln (NAME): to compare flags, "
       "or without any, the same code with itself. A first word with a slash is the kiln-compile to use."},
      compilerVariants);
  parser.addChoice({"profiling-enabled", "true|false", "false: candidates are verified only."}, profilingEnabled);
  parser.addChoice({"benchmark", "true|false", "The same as --profiling-enabled."}, profilingEnabled);
}

void DispatchFlags::addMeasurement(FlagParser &parser) {
  parser.group("How to measure");
  parser.add({"threads", "N", "Threads of each candidate; 0 is one for each processor."}, threads);
  parser.addChoice({"verification-enabled", "true|false",
                    "Verifying is cheap, and what is not verified is not ranked: false is accepted, and verifies."},
                   verificationEnabled);
  parser.addChoice(
      {"cache", "cold|warm",
       "cold: each call reads other buffers, of more memory than the last-level cache. warm: always the same."},
      cache);
  parser.add({"benchmark-repetitions", "N", "So many rounds, no more and no less; 0: until the intervals are narrow."},
             repetitions);
  parser.add(
      {"minutes", "TIME", "Rounds of one problem take at most so long: minutes, or a time as in 90s, 2.5min, 1h."},
      minutes);
  parser.add({"memory-limit", "MIB", "Private memory of a candidate."}, memoryLimitMiB);
  parser.add({"timeout", "SECONDS", "A candidate may take so long to start or for a call, and twice that to load."},
             timeoutSeconds);
  parser.add({"seed", "N", "Of inputs and of the order in rounds. 0: drawn at random, and stored with the run."}, seed);
  parser.add({"fresh", "", "Starts again where an interrupted sweep could be resumed."}, fresh);
  parser.add({"resume-on-equal-hardware", "",
              "Resumes an interrupted sweep also where another node of the same hardware has begun it."},
             resumeOnEqualHardware);
  addNetworkStore(parser, allowNetworkStore);
}

void DispatchFlags::addOutput(FlagParser &parser, VerbOutput verb) {
  parser.group("What to tell");
  if (verb.table) {
    parser.add({"output", "FILE", "Also writes the table to a file: .csv, .json, .md, .xml (JUnit) or .html."},
               outputs);
    parser.add({"append", "", "Adds rows to the CSV file that is there."}, append);
  }
  if (verb.tags)
    parser.add({"tags", "KEY:VALUE,...", "Columns that stand first in a CSV."}, tags);
  parser.add({"dry-run", "", "Says what would be done, and does nothing."}, dryRun);
  if (verb.commands)
    parser.add({"save-cmds", "", "Writes the commands that do the same by hand beside each operation."}, saveCommands);
  parser.add({"verbose", "", "A sweep also tells what it generates, and tune which candidates failed, and why."},
             verbose);
}

static uint32_t processors() {
  return static_cast<uint32_t>(task::Topology::host().cpus.size());
}

uint32_t DispatchFlags::jobCount() const {
  uint32_t count = 0;
  std::from_chars(jobs.data(), jobs.data() + jobs.size(), count);
  return count ? count : processors();
}
uint32_t DispatchFlags::threadCount() const {
  return threads ? threads : labDevice.isCpu() ? processors() : 1;
}

double DispatchFlags::measureSeconds() const {
  Result<double> seconds = parseDuration("minutes", minutes);
  return seconds.ok() ? *seconds : 0;
}

static std::string dashed(const std::string &flag) {
  return flag.starts_with('-') ? flag : "--" + flag;
}

std::vector<std::string> DispatchFlags::allCompilerFlags() const {
  std::vector<std::string> flags = targetFlags;
  for (const std::string &flag : compilerFlags)
    flags.push_back(dashed(flag));
  return flags;
}

void appendFlags(std::string_view text, std::vector<std::string> &flags) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    if (end > at)
      flags.push_back(dashed(std::string(text.substr(at, end - at))));
    at = end + 1;
  }
}

std::vector<std::string> splitFlags(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  for (char c : text) {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any)
        words.push_back(std::exchange(word, {}));
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any)
    words.push_back(std::move(word));
  return words;
}

std::string recordedFlags(std::string_view compiler, const std::vector<std::string> &flags) {
  // A relative path would depend on the current folder.
  std::string text = compiler.empty() ? "" : std::filesystem::absolute(compiler).string();
  for (const std::string &flag : flags) {
    bool plain = flag.find(' ') == std::string::npos;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", plain ? "" : "'", flag, plain ? "" : "'");
  }
  return text;
}

Result<std::vector<CompilerBuild>> DispatchFlags::parsedVariants() const {
  std::vector<CompilerBuild> variants;
  for (const std::string &text : compilerVariants) {
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    bool isName = !name.empty() && std::ranges::all_of(name, [](char c) { return std::isalnum(c) || c == '-'; });
    if (equals == std::string::npos || !isName)
      return invalidArgument("--compiler-variant={}: write NAME=FLAGS, with letters, digits and - in NAME", text);
    if (std::ranges::find(variants, name, &CompilerBuild::variant) != variants.end())
      return invalidArgument("--compiler-variant={}: there is a variant '{}' already; give this one another name", text,
                             name);
    CompilerBuild build = plainBuild();
    build.variant = std::move(name);
    std::string_view rest = std::string_view(text).substr(equals + 1);
    std::string_view first = rest.substr(0, rest.find(' '));
    if (!first.starts_with('-') && first.find('/') != std::string_view::npos) {
      build.compiler = first;
      rest.remove_prefix(first.size());
    }
    appendFlags(rest, build.flags);
    variants.push_back(std::move(build));
  }
  return variants;
}

Result<std::vector<std::pair<std::string, std::string>>> DispatchFlags::parsedTags() const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t at = 0; at < tags.size();) {
    size_t end = std::min(tags.find(',', at), tags.size()), colon = tags.find(':', at);
    if (colon >= end || colon == at)
      return invalidArgument("--tags: '{}' is no KEY:VALUE", tags.substr(at, end - at));
    std::string key = tags.substr(at, colon - at);
    if (std::ranges::find(pairs, key, &std::pair<std::string, std::string>::first) != pairs.end())
      return invalidArgument("--tags={}: '{}' is named twice, and a table has one column of a name; write each key "
                             "once",
                             tags, key);
    if (report::findColumn(key).ok())
      return invalidArgument("--tags={}: every table has a column '{}' already; give the tag another name", tags, key);
    pairs.emplace_back(std::move(key), tags.substr(colon + 1, end - colon - 1));
    at = end + 1;
  }
  return pairs;
}

Status DispatchFlags::check() {
  uint32_t count = 0;
  auto [end, error] = std::from_chars(jobs.data(), jobs.data() + jobs.size(), count);
  if (jobs != "-1" && (error != std::errc() || end != jobs.data() + jobs.size() || count > 1024))
    return invalidArgument("-j {}: write a number of compilers up to 1024, or -1 for one on each processor", jobs);
  if (threads > processors())
    return invalidArgument(
        "--threads={}: this process may use {} processors, and threads that take turns measure nothing", threads,
        processors());
  if (timeoutSeconds == 0 || timeoutSeconds > 86'400)
    return invalidArgument("--timeout={}: write 1 to 86400 seconds", timeoutSeconds);
  if (repetitions == 1 || repetitions == 2)
    return invalidArgument("--benchmark-repetitions={}: an interval takes at least 3 rounds", repetitions);
  if (repetitions > measure::GroupOptions::kMostRounds)
    return invalidArgument("--benchmark-repetitions={}: write {} at most", repetitions,
                           measure::GroupOptions::kMostRounds);
  KILN_RETURN_IF_ERROR(parseDuration("minutes", minutes).status());
  KILN_RETURN_IF_ERROR(parsedTags().status());
  KILN_RETURN_IF_ERROR(parsedVariants().status());
  KILN_RETURN_IF_ERROR(tuning.check());
  KILN_ASSIGN_OR_RETURN(labDevice, LabDevice::parse(device));
  if (!labDevice.isCpu() && !corpus.empty())
    return unimplemented("--device={}: programs of a corpus are measured on the CPU alone", device);
  if (compiles || selects) {
    KILN_RETURN_IF_ERROR(labDevice.findArchitecture(cudaArchitecture));
    targetFlags = labDevice.compilerFlags();
    if (const std::vector<std::string> asked = askedInstructions(); !asked.empty() && !labDevice.hasTensorKernels())
      return invalidArgument(
          "{} has no kernels of {}, which a flag asks for; they copy asynchronously, which sm_80 and "
          "newer do",
          labDevice.architecture, fmt::join(asked, " or "));
  }
  return okStatus();
}

static Operation operationOf(const measure::Family &family, std::unique_ptr<measure::Problem> problem,
                             const DispatchFlags &flags) {
  Operation operation;
  operation.configurations = family.configurations(*problem, flags.labDevice.configurationTarget());
  if (flags.configurations && operation.configurations.size() > flags.configurations)
    operation.configurations.resize(flags.configurations);
  if (flags.defaultConfig || operation.configurations.empty())
    operation.addDefaultConfiguration();
  operation.problem = std::move(problem);
  return operation;
}

// A problem may be named in full by --dispatches, by itself or with a configuration behind it, as reports have it.
static Status addNamedProblems(const measure::FamilyRegistry &families, const DispatchFlags &flags,
                               std::vector<Operation> &operations) {
  for (const std::string &pattern : splitPatterns(flags.dispatches)) {
    const std::string name = pattern.substr(0, pattern.find("_tile_config_"));
    Result<std::unique_ptr<measure::Problem>> problem = families.parse(name);
    if (!problem.ok() ||
        std::ranges::any_of(operations, [&](const Operation &operation) { return operation.problem->name() == name; }))
      continue;
    KILN_ASSIGN_OR_RETURN(const measure::Family *family, families.find((*problem)->family()));
    operations.push_back(operationOf(*family, *std::move(problem), flags));
  }
  return okStatus();
}

static Result<std::vector<uint64_t>> parseDimension(const std::string &name, const DispatchFlags::Sizes &sizes) {
  Result<std::vector<uint64_t>> values = parseSizes(fmt::format("problem-{}", name), sizes.text, sizes.minimum);
  // Not sizes, and a comma stands between several of them.
  if (!values.ok() && name == "permutation")
    return invalidArgument("--problem-permutation={}: write a permutation as one number with a digit for each "
                           "dimension, as in 10 or 0213; commas stand between several of them",
                           sizes.text);
  return values;
}

// A sweep of more problems than this would take months, and the list of them alone gigabytes.
static constexpr double kMaxProblems = 100'000;

// How many problems of a family a selection asks for, before they are made: each combination of its sizes and types.
static double combinations(const measure::Family &family, const measure::ProblemSelection &selection) {
  auto atLeastOne = [](size_t count) { return static_cast<double>(std::max<size_t>(count, 1)); };
  double count = atLeastOne(selection.types.size());
  if (family.takesShapes())
    count *= atLeastOne(selection.shapes.size());
  for (const measure::Dimension &dimension : family.dimensions())
    count *= atLeastOne(selection.values(dimension.name).size());
  return count;
}

static Status checkCount(std::span<const measure::Family *const> families, const measure::ProblemSelection &selection) {
  double count = 0;
  for (const measure::Family *family : families)
    count += combinations(*family, selection);
  if (count <= kMaxProblems)
    return okStatus();
  return invalidArgument(
      "the sizes and types make {:.0f} problems, as each combination is one; ask for {:.0f} at most, "
      "with fewer values or a larger increment",
      count, kMaxProblems);
}

// An element type, or types of several tensors with _ between, which are a family's to read.
static Status checkTypes(std::span<const std::string> types) {
  std::vector<std::string> known;
#define KILN_ELEMENT_TYPE(Name, text, number, bits) known.emplace_back(text);
#include "kiln/schema/element_type.def"
  for (const std::string &type : types)
    if (type.find('_') == std::string::npos && std::ranges::find(known, type) == known.end())
      return invalidArgument(
          "--dtypes: no element type '{}'{}", type,
          std::ranges::any_of(known, [&](const std::string &name) { return type == name + "t" || type == name + "n"; })
              ? "; of matrices name three, such as f16t_f16n_f32t"
              : report::suggestion(type, known));
  return okStatus();
}

static Status checkKind(std::string_view kind) {
  if (kind.find(',') == kind.npos)
    return okStatus();
  return invalidArgument("--operation-kind={}: name one family, or leave it out and choose with --dispatches=^{}_",
                         kind, fmt::join(split(kind, ','), "_,^"));
}

Result<std::vector<Operation>> selectOperations(const measure::FamilyRegistry &families, const DispatchFlags &flags) {
  KILN_RETURN_IF_ERROR(checkKind(flags.operationKind));
  measure::ProblemSelection selection;
  for (const auto &[name, sizes] : flags.problemSizes)
    if (!sizes.text.empty()) {
      KILN_ASSIGN_OR_RETURN(selection.dimensions[name], parseDimension(name, sizes));
    }
  KILN_ASSIGN_OR_RETURN(selection.shapes, parseShapes("problem-shape", flags.problemShapes));
  for (std::string_view type : split(flags.types, ','))
    if (!type.empty())
      selection.types.emplace_back(type);
  KILN_RETURN_IF_ERROR(checkTypes(selection.types));
  std::vector<const measure::Family *> chosen;
  if (flags.operationKind == "all") {
    for (const std::unique_ptr<measure::Family> &family : families.families())
      if (family->isMeantBy(selection))
        chosen.push_back(family.get());
  } else {
    KILN_ASSIGN_OR_RETURN(const measure::Family *family, families.find(flags.operationKind));
    KILN_RETURN_IF_ERROR(family->checkDimensions(selection));
    chosen.push_back(family);
  }
  KILN_RETURN_IF_ERROR(checkCount(chosen, selection));
  std::vector<Operation> operations;
  std::set<std::string> names; // a size or type that is written twice is one
  for (const measure::Family *family : chosen) {
    KILN_ASSIGN_OR_RETURN(measure::Problems problems, family->problems(selection));
    for (std::unique_ptr<measure::Problem> &problem : problems)
      if (names.insert(problem->name()).second)
        operations.push_back(operationOf(*family, std::move(problem), flags));
  }
  // Of several types one that nothing has would be left out in silence.
  for (const std::string &type : selection.types) {
    measure::ProblemSelection alone = selection;
    alone.types = {type};
    bool isThere = operations.empty();
    for (const measure::Family *family : chosen) {
      KILN_ASSIGN_OR_RETURN(measure::Problems problems, family->problems(alone));
      isThere |= !problems.empty();
    }
    if (!isThere)
      return notFound("--dtypes={}: there are no problems of {}{}; `kiln-dispatch families` lists what there is, and "
                      "docs/lab.md its sizes and types",
                      flags.types, type, flags.operationKind == "all" ? "" : " in the family " + flags.operationKind);
  }
  KILN_RETURN_IF_ERROR(addNamedProblems(families, flags, operations));
  return operations;
}

std::vector<std::string> DispatchFlags::askedInstructions() const {
  std::vector<std::string> asked;
  if (usesMmaSync && labDevice.isGpu())
    asked.emplace_back("tensorcore_mmasync");
  if (usesWmma && labDevice.isGpu())
    asked.emplace_back("tensorcore_wmma");
  return asked;
}

// Of operations that have configurations, those of these instructions; what has only the compiler's own choice keeps
// it.
static Status keepInstructions(std::vector<Operation> &operations, const std::vector<std::string> &asked) {
  auto isDefault = [](const std::string &name) { return name == kDefaultConfiguration; };
  for (Operation &operation : operations)
    if (!std::ranges::all_of(operation.configurations, isDefault))
      std::erase_if(operation.configurations, [&](const std::string &name) {
        Result<TileConfig> config = TileConfig::parse(name);
        return !config.ok() || std::ranges::find(asked, config->instructions) == asked.end();
      });
  const bool any = !operations.empty();
  std::erase_if(operations, [](const Operation &operation) { return operation.configurations.empty(); });
  if (any && operations.empty())
    return notFound("none of the problems has a configuration of {}, which a flag asks for; tensor cores multiply f16, "
                    "bf16, f32 as tf32, and i8, by mma.sync with K innermost in both operands, on sm_80 and newer",
                    fmt::join(asked, " or "));
  return okStatus();
}

Status filterOperations(std::vector<Operation> &operations, const DispatchFlags &flags) {
  KILN_RETURN_IF_ERROR(checkKind(flags.operationKind));
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(flags.dispatches));
  std::erase_if(operations, [&](const Operation &operation) {
    return flags.operationKind != "all" && operation.problem->family() != flags.operationKind;
  });
  if (const std::vector<std::string> asked = flags.askedInstructions(); !asked.empty())
    KILN_RETURN_IF_ERROR(keepInstructions(operations, asked));
  std::vector<NamedProblem> names;
  for (const Operation &operation : operations) {
    NamedProblem &named = names.emplace_back(operation.problem->name(), std::vector<std::string>());
    for (const std::string &configuration : operation.configurations)
      named.dispatches.push_back(operation.dispatch(configuration));
  }
  if (names.empty())
    return notFound(
        "--operation-kind={}{}{}: there are no such problems; `kiln-dispatch families` lists what there is, and "
        "docs/lab.md its sizes and types",
        flags.operationKind, flags.types.empty() ? "" : " --dtypes=", flags.types);
  KILN_RETURN_IF_ERROR(checkPatterns(flags.dispatches, names));
  for (Operation &operation : operations)
    std::erase_if(operation.configurations, [&](const std::string &configuration) {
      return !patterns.matches(operation.dispatch(configuration));
    });
  std::erase_if(operations, [](const Operation &operation) { return operation.configurations.empty(); });
  return okStatus();
}

} // namespace kiln
