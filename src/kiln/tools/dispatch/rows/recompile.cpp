#include "kiln/tools/dispatch/rows/recompile.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "kiln/base/file.h"
#include "kiln/measure/corpus/corpus_problem.h"
#include "kiln/tools/sibling.h"

namespace kiln {

namespace fs = std::filesystem;

// The text of the generated file: of programs that somebody else wrote there is nothing else.
static Result<std::string> generatedProgram(const Lab &lab, const report::Row &row) {
  std::string path = fmt::format("{0}/generated/linalg/{1}/{2}/{2}.mlir", lab.flags.generatedDir, row.problem->family,
                                 row.problem->name);
  Result<Ref<FileContents>> file = FileContents::open(path);
  if (!file.ok())
    return notFound("no family of this build knows the problem '{}', and its program is not there any more ({}); "
                    "--generated-dir says where the sweep's files are",
                    row.problem->name, file.status().message());
  std::string_view hash = row.field("text");
  if (!hash.empty() && hash != measure::corpus::textHash((*file)->text()))
    return failedPrecondition("'{}' was edited since row {} was measured: it is another program", path, row.name());
  return std::string((*file)->text());
}

// Flags of Kiln's compiler that say which code is generated, and name no file and no pass, without "kiln-". All others
// are refused where a store names them: they write files, read scripts that are run, or plant mistakes.
static constexpr std::string_view kHarmlessFlags[] = {
    "compute-in-f64",
    "cuda-debug-symbols",
    "cuda-fallback-arch",
    "hal-benchmark-dispatch-repeat-count",
    "hal-cuda-llvm-target-arch",
    "hal-target-backends",
    "input-type",
    "llvmcpu-debug-symbols",
    "llvmcpu-target-cpu",
    "llvmcpu-target-cpu-features",
    "llvmcpu-target-triple",
    "opt-level",
    "vm-bytecode-module-optimize",
};

static bool isHarmless(std::string_view flag) {
  if (!flag.starts_with("--kiln-") && !flag.starts_with("--iree-"))
    return false;
  std::string_view name = flag.substr(std::string_view("--kiln-").size());
  return std::ranges::binary_search(kHarmlessFlags, name.substr(0, name.find('=')));
}

Result<DispatchSource> sourceOf(const Lab &lab, const report::Row &row, const std::string &compiler) {
  if (row.candidate->provider != "kiln")
    return failedPrecondition("row {} was computed by {}, which is no code of Kiln's: there is no IR and no assembly "
                              "of it to show",
                              row.name(), row.provider());
  DispatchSource source;
  source.dispatch = source.kernels = row.dispatch();
  std::string configuration = row.candidate->configuration;
  // It becomes a part of the program, and a store may hold any text there.
  if (configuration.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") !=
      std::string::npos)
    return dataLoss("row {} has the configuration '{}', which is no name of one", row.name(), configuration);
  Result<std::unique_ptr<measure::Problem>> problem = lab.families.parse(row.problem->name);
  if (problem.ok()) {
    source.problem = *std::move(problem);
    source.program =
        fmt::format("module {{\n{}}}\n",
                    source.problem->mlir(source.dispatch,
                                         configuration == kDefaultConfiguration ? std::string_view() : configuration));
  } else {
    KILN_ASSIGN_OR_RETURN(source.program, generatedProgram(lab, row));
    source.kernels.clear(); // their names are the program's own
  }
  source.flags = splitFlags(row.candidate->compilerFlags);
  source.foreign = !source.flags.empty() && !source.flags.front().starts_with('-');
  if (source.foreign) {
    if (compiler.empty())
      return failedPrecondition("row {} was compiled by '{}'; a store cannot have a program run: give "
                                "--compiler=FILE to say which compiler to run for it",
                                row.name(), source.flags.front());
    source.compiler = compiler;
    source.flags.erase(source.flags.begin());
  } else {
    KILN_ASSIGN_OR_RETURN(source.compiler, siblingTool("kiln-compile"));
  }
  for (const std::string &flag : source.flags)
    if (!isHarmless(flag))
      return failedPrecondition("row {} was compiled with '{}'; a store cannot have files read or written, passes "
                                "run, or LLVM told what to do: compile it by hand",
                                row.name(), flag);
  return source;
}

Result<Dumps> Dumps::make(const DispatchSource &source) {
  KILN_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::make());
  Dumps dumps(std::move(folder));
  std::string path = dumps.folder.path();
  KILN_RETURN_IF_ERROR(writeFile(path + "/program.mlir", source.program));
  std::vector<std::string> command = {source.compiler};
  command.insert(command.end(), source.flags.begin(), source.flags.end());
  for (const char *part : {"intermediates", "binaries", "configurations"})
    command.push_back(fmt::format("--iree-hal-dump-executable-{}-to={}/files", part, path));
  command.push_back(fmt::format("--dump-compilation-phases-to={}/phases", path));
  command.insert(command.end(), {path + "/program.mlir", "-o", dumps.module()});
  KILN_ASSIGN_OR_RETURN(ProgramOutput output, runProgram(command));
  if (output.exitCode != 0)
    return invalidArgument("{} does not compile any more: {}", source.dispatch, output.error);
  return dumps;
}

// Files of a folder whose names end so, in the order of their names.
static std::vector<std::string> filesIn(const std::string &folder, std::string_view end) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), last; !error && it != last; it.increment(error))
    if (it->path().filename().string().ends_with(end))
      files.push_back(it->path().string());
  std::ranges::sort(files);
  return files;
}

static Result<std::string> textOf(const std::vector<std::string> &paths) {
  std::string text;
  for (const std::string &path : paths) {
    KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
    text += file->text();
  }
  return text;
}

Result<std::string> Dumps::ir(const std::string &stage) const {
  // By the number of the phase: "module.7.executable-targets.mlir".
  std::map<int, std::pair<std::string, std::string>> phases;
  for (const std::string &path : filesIn(folder.path() + "/phases", ".mlir")) {
    std::string stem = fs::path(path).stem().string();
    size_t name = stem.rfind('.'), number = stem.rfind('.', name - 1);
    int index = 0;
    if (name == std::string::npos || number == std::string::npos)
      continue;
    std::from_chars(stem.data() + number + 1, stem.data() + name, index);
    phases[index] = {stem.substr(name + 1), path};
  }
  std::string files = folder.path() + "/files", known;
  if (stage == "configured" || stage == "llvm" || stage == "llvm-optimized")
    return textOf(filesIn(files, stage == "configured" ? ".mlir" : stage == "llvm" ? ".codegen.ll" : ".optimized.ll"));
  for (const auto &[index, phase] : phases) {
    if (phase.first == stage)
      return textOf({phase.second});
    known += phase.first + ", ";
  }
  return notFound("there is no stage '{}'; there are {}configured, llvm and llvm-optimized", stage, known);
}

Result<std::string> Dumps::assembly(std::string_view ending) const {
  KILN_ASSIGN_OR_RETURN(std::string text, textOf(filesIn(folder.path() + "/files", ending)));
  if (text.empty())
    return notFound("the compiler wrote no assembly: the program has no dispatch, or is for a target without one");
  return text;
}

// The value behind `name = ` in the target's attribute, without quotes.
static std::string attribute(std::string_view ir, std::string_view name) {
  size_t at = ir.find(fmt::format("{} = ", name));
  if (at == std::string_view::npos)
    return {};
  std::string_view rest = ir.substr(at + name.size() + 3);
  if (!rest.starts_with('"'))
    return std::string(rest.substr(0, rest.find_first_of(" ,}")));
  rest.remove_prefix(1);
  return std::string(rest.substr(0, rest.find('"')));
}

Result<Dumps::Target> Dumps::target() const {
  KILN_ASSIGN_OR_RETURN(std::string text, ir("executable-targets"));
  size_t start = text.find("hal.executable.variant");
  if (start == std::string::npos)
    return notFound("the program has no dispatch: the compiler did all of it on the host");
  std::string_view variant = std::string_view(text).substr(start);
  variant = variant.substr(0, variant.find('\n'));
  Target target;
  target.cpu = attribute(variant, "cpu");
  target.triple = attribute(variant, "target_triple");
  std::string bits = attribute(variant, "native_vector_bits");
  std::from_chars(bits.data(), bits.data() + bits.size(), target.vectorBits);
  return target;
}

} // namespace kiln
