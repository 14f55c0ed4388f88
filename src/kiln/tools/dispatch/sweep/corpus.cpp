#include "kiln/tools/dispatch/sweep/corpus.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "kiln/base/file.h"
#include "kiln/measure/corpus/baseline.h"
#include "kiln/report/formats/text.h"
#include "kiln/runtime/module/module.h"
#include "kiln/tools/declaration.h"
#include "kiln/tools/dispatch/sweep/compile_pool.h"
#include "kiln/tools/dispatch/sweep/descriptions.h"
#include "kiln/tools/dispatch/sweep/known_providers.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/sibling.h"

namespace kiln {

namespace fs = std::filesystem;
using measure::corpus::CorpusProblem;
using measure::corpus::Directives;
using measure::corpus::Program;

//===--- Files ---------------------------------------------------------------------------------------------------===//

// Programs are files. What has the name of one and is none, or is a link to a folder, which is not followed because it
// may lead in circles, is told, so that it is not taken for measured.
static bool isProgram(const fs::directory_entry &entry) {
  std::error_code error;
  bool named = entry.path().extension() == ".mlir", isLink = entry.is_symlink(error);
  if (named && entry.is_regular_file(error))
    return true;
  bool isFolder = entry.is_directory(error);
  if ((!named || isFolder) && !(isLink && isFolder))
    return false;
  std::string why = isFolder ? "is a link to a folder, which is not followed" : "is no file";
  if (isLink && !isFolder)
    why = fmt::format("is a link to '{}', which is no file", fs::read_symlink(entry.path(), error).string());
  print(
      hangingText("", fmt::format("warning: '{}' {}; it is left out", entry.path().string(), why), consoleWidth(), 2) +
      "\n");
  return false;
}

// The files, in the order of their names. What the lab itself has written is no part of a corpus.
static Result<std::vector<std::string>> findPrograms(const std::string &folder, const std::string &generated) {
  std::error_code error;
  if (fs::is_regular_file(folder, error))
    return std::vector<std::string>{folder};
  if (!fs::is_directory(folder, error))
    return notFound("--corpus={}: there is no such file or folder", folder);
  std::vector<std::string> paths;
  fs::recursive_directory_iterator it(folder, error), end;
  while (!error && it != end) {
    std::error_code unlike;
    if (!it->is_symlink(unlike) && it->is_directory(unlike) && fs::equivalent(it->path(), generated, unlike))
      it.disable_recursion_pending();
    else if (isProgram(*it))
      paths.push_back(it->path().string());
    it.increment(error);
  }
  if (error)
    return errnoStatus(error.value(), fmt::format("cannot list '{}'", folder));
  if (paths.empty())
    return notFound("--corpus={}: there is no .mlir file in it, nor in a folder below", folder);
  std::ranges::sort(paths);
  return paths;
}

// "blocks/mlp.mlir" of "DIR/blocks/mlp.mlir"
static fs::path fileOf(const std::string &path, const std::string &folder) {
  return path == folder ? fs::path(path).filename() : fs::path(path).lexically_relative(folder);
}

//===--- Functions -----------------------------------------------------------------------------------------------===//

namespace {
// One file, and what became of it.
struct Source {
  std::string path, file, place, text;
  CompileResult compiled;
};
} // namespace

// Where the goldens of a function are looked for: beside its file, with the function's name where there are several.
static std::string stemOf(const Program &program) {
  std::string stem = fs::path(program.path).replace_extension().string();
  return program.only ? stem : stem + "." + program.function;
}

static Status describe(Program &program, const vm::ExportInfo &entry, const Directives &directives) {
  Declaration declaration = parseDeclaration(entry.attribute("kiln.abi.declaration"));
  KILN_ASSIGN_OR_RETURN(program.signature, measure::corpus::resolveSignature(declaration.arguments, declaration.results,
                                                                             directives.shapesOf(program.function)));
  program.tolerance = directives.toleranceOf(program.function);
  KILN_ASSIGN_OR_RETURN(program.goldens, measure::corpus::loadGoldens(stemOf(program), program.signature));
  return okStatus();
}

static std::unique_ptr<CorpusProblem> makeProblem(Program program, Status obstacle) {
  if (!obstacle.ok()) {
    program.signature = {};
    program.goldens = {};
  }
  auto problem = std::make_unique<CorpusProblem>(std::move(program));
  problem->setObstacle(std::move(obstacle));
  return problem;
}

static Program programOf(const Source &source) {
  Program program;
  program.path = source.path;
  program.file = source.file;
  program.place = source.place;
  program.text = source.text;
  return program;
}

// The problems of a file: one for each of its functions, or one that says why there is none.
static std::vector<std::unique_ptr<CorpusProblem>> problemsOf(const Source &source, const std::string &cache) {
  std::vector<std::unique_ptr<CorpusProblem>> problems;
  if (!source.compiled.ok()) {
    std::string_view error = source.compiled.error;
    error = error.substr(0, error.find_last_not_of(" \n") + 1);
    problems.push_back(makeProblem(programOf(source), invalidArgument("it does not compile: {}", error)));
    return problems;
  }
  Result<Ref<vm::Module>> module = vm::Module::loadFile(fmt::format("{}/{}.vmfb", cache, source.compiled.key));
  Result<Directives> directives = Directives::parse(source.text);
  Status obstacle = !module.ok() ? module.status() : directives.status();
  if (obstacle.ok() && (*module)->exports().empty())
    obstacle = unimplemented("the file has no public function");
  if (!obstacle.ok()) {
    problems.push_back(makeProblem(programOf(source), std::move(obstacle)));
    return problems;
  }
  for (const vm::ExportInfo &entry : (*module)->exports()) {
    Program program = programOf(source);
    program.function = entry.name;
    program.only = (*module)->exports().size() == 1;
    Status status = describe(program, entry, *directives);
    if (!status.ok())
      status = std::move(status).withContext(fmt::format("{}, @{}", source.file, program.function));
    problems.push_back(makeProblem(std::move(program), std::move(status)));
  }
  return problems;
}

//===--- The corpus ----------------------------------------------------------------------------------------------===//

static Result<std::vector<Source>> compileSources(const Lab &lab) {
  const std::string &folder = lab.flags.corpus;
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> paths, findPrograms(folder, lab.folder.generated()));
  std::vector<Source> sources;
  std::vector<CompileJob> jobs;
  std::set<std::string> places;
  for (const std::string &path : paths) {
    KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
    fs::path relative = fileOf(path, folder);
    std::string place = fs::path(relative).replace_extension().string(), name = place;
    // Both "a/b" and "a_b" are corpus_a_b.
    auto nameOf = [&] {
      Program program;
      program.place = name;
      return measure::corpus::problemName(program);
    };
    for (int copy = 2; !places.insert(nameOf()).second; ++copy)
      name = fmt::format("{}_{}", place, copy);
    sources.push_back({path, relative.string(), name, std::string(file->text()), {}});
    jobs.push_back({path, {}});
  }
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> results,
                        compileAll(jobs, compileSettings(lab), [](size_t, const CompileResult &) {}));
  for (size_t i = 0; i < sources.size(); ++i)
    sources[i].compiled = std::move(results[i]);
  return sources;
}

Result<std::vector<Operation>> loadCorpus(const Lab &lab) {
  if (lab.flags.operationKind != "all" && lab.flags.operationKind != measure::corpus::kFamily)
    return invalidArgument("--operation-kind={} has no meaning with --corpus={}, whose files are what is taken",
                           lab.flags.operationKind, lab.flags.corpus);
  bool hasSizes =
      std::ranges::any_of(lab.flags.problemSizes, [](const auto &size) { return !size.second.text.empty(); });
  if (hasSizes || !lab.flags.problemShapes.empty() || !lab.flags.types.empty())
    return invalidArgument(
        "sizes and types (--problem-..., --dtypes) have no meaning with --corpus={}, whose files say "
        "theirs",
        lab.flags.corpus);
  KILN_ASSIGN_OR_RETURN(std::vector<Source> sources, compileSources(lab));
  std::vector<Operation> operations;
  std::vector<DescribedProgram> programs;
  for (const Source &source : sources)
    for (std::unique_ptr<CorpusProblem> &problem : problemsOf(source, lab.folder.cache())) {
      if (source.compiled.ok())
        programs.push_back({source.path, problem.get()});
      Operation &operation = operations.emplace_back();
      operation.problem = std::move(problem);
      operation.configurations = {std::string(kDefaultConfiguration)};
      operation.compileMilliseconds = source.compiled.milliseconds;
    }
  KILN_RETURN_IF_ERROR(describePrograms(lab.families, compileSettings(lab), programs));
  return operations;
}

static CorpusProblem *corpusProblem(const Operation &operation) {
  return dynamic_cast<CorpusProblem *>(operation.problem.get());
}

Status obstacleOf(const Operation &operation) {
  const CorpusProblem *problem = corpusProblem(operation);
  return problem ? problem->obstacle() : okStatus();
}

// What the compiler says is wrong, without where.
static std::string firstError(std::string_view text) {
  constexpr std::string_view mark = "error: ";
  if (size_t at = text.find(mark); at != text.npos)
    text.remove_prefix(at + mark.size());
  return std::string(text.substr(0, text.find('\n')));
}

static measure::corpus::Baseline baselineOf(const Lab &lab, const CorpusProblem &problem, const std::string &worker,
                                            const std::string &module) {
  measure::corpus::BaselineOptions options;
  options.command = {worker, "--provider=kiln"};
  options.module = module;
  options.function = problem.ownFunction().value_or("");
  options.memoryLimit = uint64_t(lab.flags.memoryLimitMiB) << 20;
  options.timeout = std::max(options.timeout, lab.flags.timeoutNanoseconds());
  return measure::corpus::makeBaseline(problem, std::move(options));
}

Status prepareBaselines(const Lab &lab, const std::vector<Operation> &operations) {
  std::vector<CorpusProblem *> problems;
  for (const Operation &operation : operations)
    if (CorpusProblem *problem = corpusProblem(operation); problem && problem->needsBaseline())
      problems.push_back(problem);
  if (problems.empty())
    return okStatus();
  KILN_ASSIGN_OR_RETURN(std::string worker, siblingTool("kiln-lab-worker"));
  CompileSettings settings = compileSettings(lab);
  settings.compiler.clear(); // the one beside this tool, whatever is measured
  // As little in common with a candidate as one compiler allows: no optimization, no instructions of this CPU, and none
  // of the user's flags.
  settings.flags = {"--kiln-hal-target-backends=llvm-cpu", "--kiln-opt-level=O0", "--kiln-llvmcpu-target-cpu=generic"};
  auto others = std::ranges::partition(problems, &CorpusProblem::hasNarrowFloats);
  std::vector<CompileJob> jobs;
  for (const CorpusProblem *problem : problems)
    jobs.push_back({lab.folder.sourceOf(*problem), {}});
  auto quietly = [](size_t, const CompileResult &) {};
  auto moduleOf = [&](const CompileResult &result) { return fmt::format("{}/{}.vmfb", settings.cache, result.key); };
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> plain, compileAll(jobs, settings, quietly));
  settings.flags.emplace_back("--kiln-compute-in-f64");
  std::span<const CompileJob> narrow(jobs.data(), jobs.size() - others.size());
  KILN_ASSIGN_OR_RETURN(std::vector<CompileResult> wide, compileAll(narrow, settings, quietly));
  for (size_t i = 0; i < problems.size(); ++i) {
    CorpusProblem &problem = *problems[i];
    if (plain[i].ok())
      problem.setBaseline(baselineOf(lab, problem, worker, moduleOf(plain[i])));
    else
      problem.setBaseline([error = plain[i].error](auto, auto) { return invalidArgument("{}", error); });
    if (i >= wide.size())
      continue;
    if (wide[i].ok())
      problem.setWideBaseline(baselineOf(lab, problem, worker, moduleOf(wide[i])));
    else
      problem.setNoWideBaseline(firstError(wide[i].error));
  }
  return okStatus();
}

void finishCorpusGroup(const Lab &lab, SweepGroup &group) {
  const auto *problem = dynamic_cast<const CorpusProblem *>(group.problem);
  if (!problem)
    return;
  for (SweepCandidate &candidate : group.candidates)
    if (candidate.fact.provider != "kiln" && !(problem->isKnownOperation() && isLibrary(candidate.fact.provider))) {
      candidate.worker.module = lab.folder.sourceOf(*problem);
      candidate.worker.function = problem->ownFunction().value_or("");
    }
  if (problem->obstacle().ok())
    return;
  std::erase_if(group.candidates, [](const SweepCandidate &candidate) { return candidate.fact.provider != "kiln"; });
  for (SweepCandidate &candidate : group.candidates) {
    candidate.obstacle = problem->obstacle().message();
    candidate.unsupported = problem->obstacle().code() == StatusCode::Unimplemented;
  }
}

} // namespace kiln
