// `kiln-dispatch repro`: a folder that holds one row, to be compiled, verified and measured again anywhere.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "kiln/base/file.h"
#include "kiln/base/own_providers.h"
#include "kiln/base/wrap_text.h"
#include "kiln/measure/corpus/corpus_problem.h"
#include "kiln/measure/workers/timed_data.h"
#include "kiln/measure/workers/timing_data.h"
#include "kiln/report/formats/text.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/io/npy.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/lab_device.h"
#include "kiln/tools/dispatch/rows/recompile.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/printing.h"

namespace kiln {

namespace fs = std::filesystem;

void ReproFlags::add(FlagParser &parser) {
  parser.group("Where to");
  parser.add({"folder", "DIR", "The folder to write; repro_<dispatch> here where none is named."}, folder);
  parser.example("kiln-dispatch repro 1f09a6c2d35b8e07 --folder=/tmp/slow && /tmp/slow/run.sh");
}

namespace {

// A part of a word in double quotes, in which parameters are expanded.
std::string inDoubleQuotes(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '"' || c == '\\' || c == '$' || c == '`' ? fmt::format("\\{}", c) : std::string(1, c);
  return result;
}

// Everything that is told of the row.
struct Repro {
  const report::Row &row;
  std::string folder, dispatch;
  std::unique_ptr<measure::Problem> problem;
  std::optional<DispatchSource> source; // of Kiln's rows

  bool isKiln() const { return row.candidate->provider == "kiln"; }
};

Status checkFolder(const std::string &folder) {
  std::error_code error;
  bool mine = fs::exists(folder + "/run.sh", error);
  if (fs::exists(folder, error) && !mine && !fs::is_empty(folder, error))
    return alreadyExists("'{}' exists and is no folder of `repro`; --folder names another", folder);
  return makeFolder(folder + "/inputs");
}

//===--- Inputs --------------------------------------------------------------------------------------------------===//

struct Tensors {
  std::vector<measure::TensorType> types;
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<measure::MutableTensor> views;
};

Result<Tensors> tensorsFor(const measure::Problem &problem) {
  Tensors tensors;
  tensors.types = problem.inputs();
  for (const measure::TensorType &type : tensors.types) {
    KILN_ASSIGN_OR_RETURN(uint64_t length, hal::shapeByteLength(type.type, type.shape));
    tensors.bytes.emplace_back(length);
  }
  for (size_t i = 0; i < tensors.types.size(); ++i)
    tensors.views.push_back({tensors.types[i].type, tensors.types[i].shape, tensors.bytes[i]});
  return tensors;
}

Status writeInputs(const Tensors &tensors, const std::string &folder, std::string_view name) {
  for (size_t i = 0; i < tensors.views.size(); ++i) {
    std::string path = fmt::format("{}/inputs/{}_{}.npy", folder, name, i);
    KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path));
    KILN_RETURN_IF_ERROR(io::writeNpy(file, tensors.views[i].span()));
    KILN_RETURN_IF_ERROR(file.commit());
  }
  return okStatus();
}

// Of each pass of the verification, and random ones like those that are timed.
Status writeAllInputs(const Repro &repro) {
  KILN_ASSIGN_OR_RETURN(Tensors tensors, tensorsFor(*repro.problem));
  uint64_t seed = repro.row.run->seed;
  std::vector<std::string> passes = repro.problem->passes();
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    KILN_RETURN_IF_ERROR(repro.problem->fillInputs(pass, seed, tensors.views));
    KILN_RETURN_IF_ERROR(writeInputs(tensors, repro.folder, fmt::format("pass{}", pass)));
  }
  for (size_t i = 0; i < tensors.views.size(); ++i)
    measure::fillForTiming(measure::timingSeed(seed, 1, i), tensors.views[i], repro.problem->timingNumbers(i));
  return writeInputs(tensors, repro.folder, "random");
}

//===--- The script ----------------------------------------------------------------------------------------------===//

// How the run was measured, as flags of `profile`.
std::vector<std::string> measurementFlags(const store::StoredRun &run, const store::Candidate &candidate) {
  std::vector<std::string> flags = {fmt::format("--threads={}", candidate.threads), fmt::format("--seed={}", run.seed)};
  if (!run.cacheMode.empty())
    flags.push_back("--cache=" + run.cacheMode);
  nlohmann::json settings = nlohmann::json::parse(run.flags, nullptr, /*allow_exceptions=*/false);
  if (!settings.is_object())
    return flags;
  auto number = [&](const char *name) {
    auto found = settings.find(name);
    return found != settings.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  if (auto device = settings.find("device"); device != settings.end() && device->is_string())
    flags.push_back("--device=" + device->get<std::string>());
  if (number("minimumRounds") && number("minimumRounds") == number("maximumRounds"))
    flags.push_back(fmt::format("--benchmark-repetitions={}", number("minimumRounds")));
  if (auto profile = settings.find("profile");
      profile != settings.end() && profile->is_boolean() && !profile->get<bool>())
    flags.emplace_back("--profiling-enabled=false");
  return flags;
}

std::vector<std::string> providerFlags(const Repro &repro) {
  const store::Candidate &candidate = *repro.row.candidate;
  if (repro.isKiln()) {
    std::vector<std::string> flags = {shellWord("--providers=kiln")};
    // `profile` gives the compiler the target anyway, and the GPU's architecture alone.
    constexpr std::string_view kArchitecture = "--kiln-hal-cuda-llvm-target-arch=";
    for (const std::string &flag : repro.source->flags)
      if (flag.starts_with(kArchitecture))
        flags.push_back(shellWord("--cuda-arch=" + flag.substr(kArchitecture.size())));
      else if (!flag.starts_with("--kiln-hal-target-backends=") && flag != LabDevice::kNoFallback)
        flags.push_back(shellWord("--Xcompiler=" + flag));
    if (repro.source->foreign)
      flags.emplace_back("\"--compiler=${KILN_COMPILER:?set it to the compiler that README.md names}\"");
    return flags;
  }
  if (isOwnProvider(candidate.provider))
    return {shellWord(fmt::format("--providers={}{}{}", candidate.provider, candidate.variant.empty() ? "" : ":",
                                  candidate.variant))};
  return {shellWord("--providers=kiln"),
          fmt::format("\"--provider-command={}=${{KILN_PROVIDER_COMMAND:?set it to the command of the provider {}}}\"",
                      inDoubleQuotes(candidate.provider), inDoubleQuotes(candidate.provider))};
}

constexpr std::string_view kScript = R"sh(#!/usr/bin/env bash
# Compiles, verifies and measures one row of the kernel lab again; README.md says which. KILN_BIN is the folder of Kiln's
# tools; without it they are looked for on the PATH. Flags of `kiln-dispatch profile` may follow. The exit code is not 0
# where the row does not compile, or is not right.
set -u
if [ -n "${KILN_BIN:-}" ]; then
  KILN_BIN=$(cd "$KILN_BIN" && pwd) || exit 1
  PATH=$KILN_BIN:$PATH
fi
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
if ! command -v kiln-dispatch >/dev/null; then
  echo "run.sh: kiln-dispatch is not on the PATH; set KILN_BIN to the folder of Kiln's tools" >&2
  exit 1
fi
newest() {
  kiln-dispatch query --generated-dir=. "SELECT max(started) FROM grp" 2>/dev/null | tail -n 1
}
before=$(newest)
kiln-dispatch profile --generated-dir=. --fresh @flags@ "$@"
status=$?
if [ "$(newest)" = "$before" ]; then
  exit $((status ? status : 1)) # nothing was measured, and it has been said why
fi
last=$(kiln-dispatch query --generated-dir=. "
  SELECT d.outcome, d.ms * 1e6, d.low_ms * 1e6, d.high_ms * 1e6 FROM dispatch d JOIN grp g ON g.key = d.grp
  WHERE d.provider = '@provider@' ORDER BY g.started DESC LIMIT 1" | tail -n 1)
IFS=$'\t' read -r outcome median low high <<<"$last"
echo
echo "recorded: @recorded@"
awk -v outcome="$outcome" -v median="${median:-0}" -v low="${low:-0}" -v high="${high:-0}" -v was=@median@ 'BEGIN {
  if (median <= 0) { printf "now:      %s\n", outcome; exit }
  printf "now:      %s, %.4g us (%.4g to %.4g)", outcome, median / 1e3, low / 1e3, high / 1e3
  if (was > 0) printf ", %.3f times the recorded time", median / was
  printf "\n"
}'
exit "$status"
)sh";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

std::string recordedText(const report::Row &row) {
  std::string text = outcomeName(row.result->outcome);
  if (!row.estimate || row.estimate->median <= 0)
    return text;
  const Estimate &e = *row.estimate;
  return fmt::format("{}, {:.4g} us ({:.4g} to {:.4g})", text, e.median / 1e3, e.low / 1e3, e.high / 1e3);
}

Status writeScript(const Repro &repro) {
  std::string flags;
  for (const std::string &flag : measurementFlags(*repro.row.run, *repro.row.candidate))
    flags += (flags.empty() ? "" : " ") + shellWord(flag);
  for (const std::string &flag : providerFlags(repro))
    flags += " " + flag;
  std::string text = replaced(std::string(kScript), "@flags@", flags);
  text = replaced(text, "@provider@", inDoubleQuotes(replaced(repro.row.candidate->provider, "'", "''")));
  text = replaced(text, "@recorded@", recordedText(repro.row));
  text = replaced(text, "@median@", fmt::format("{}", repro.row.estimate ? repro.row.estimate->median : 0.0));
  std::string path = repro.folder + "/run.sh";
  KILN_RETURN_IF_ERROR(writeFile(path, text));
  std::error_code error;
  constexpr auto runs = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(path, runs, fs::perm_options::add, error);
  return error ? errnoStatus(error.value(), fmt::format("cannot make '{}' a program", path)) : okStatus();
}

//===--- The page that says what all this is ---------------------------------------------------------------------===//

Status writeReadme(const Repro &repro, store::Reader &reader) {
  const report::Row &row = repro.row;
  const store::Candidate &candidate = *row.candidate;
  std::string text = fmt::format("# {}\n\n", repro.dispatch);
  text += fmt::format("Computed by {}{}{}, {} threads, cache {}, data: {}.\n", row.provider(),
                      candidate.providerVersion.empty() ? "" : " ", candidate.providerVersion, candidate.threads,
                      row.run->cacheMode, row.run->dataDistribution);
  text += fmt::format("Recorded {} UTC by Kiln {} as row {} of run {}: {}.\n\n", timeText(row.group->started),
                      row.run->kilnVersion, row.name(), row.run->key().substr(0, 12), recordedText(row));
  if (!row.result->error.empty())
    text += row.result->error + "\n\n";
  text += "`./run.sh` compiles, verifies and measures it again, and prints both numbers; it wants Kiln's tools on the "
          "PATH, "
          "or KILN_BIN set to their folder.";
  if (!isOwnProvider(candidate.provider))
    text +=
        fmt::format(" KILN_PROVIDER_COMMAND must be set to the command of the provider {}, as --provider-command had "
                    "it behind its name.",
                    candidate.provider);
  else if (!isKilnsCode(candidate.provider))
    text +=
        fmt::format(" The library {} is looked for where `make peers` installs it; `./run.sh --peers-dir=DIR` names "
                    "another folder.",
                    candidate.provider);
  text += "\n\n| file | holds |\n| --- | --- |\n";
  std::string source = fmt::format("generated/linalg/{0}/{1}/{1}.mlir", repro.problem->family(), row.problem->name);
  text += fmt::format("| `{}` | the program{} |\n", source,
                      repro.isKiln() ? "" : ", as Kiln would compile it: the row is not Kiln's");
  if (repro.isKiln())
    text += "| `module.vmfb` | the same, compiled when this folder was written |\n";
  std::vector<std::string> passes = repro.problem->passes();
  for (size_t i = 0; i < passes.size(); ++i)
    text += fmt::format("| `inputs/pass{}_*.npy` | inputs of the verification's pass \"{}\", seed {} |\n", i, passes[i],
                        row.run->seed);
  text += "| `inputs/random_*.npy` | inputs as they are timed with |\n";
  if (repro.isKiln()) {
    if (repro.source->foreign)
      text += fmt::format("\nIt was compiled by `{}`, or what lay there; this folder was written with `{}`.\n",
                          plainLine(splitFlags(candidate.compilerFlags).front()), repro.source->compiler);
    text += std::string("\nBy hand:\n\n```\n") + (repro.source->foreign ? "\"$KILN_COMPILER\"" : "kiln-compile");
    for (const std::string &flag : repro.source->flags)
      text += " " + plainShellWord(flag);
    text += fmt::format(" {} -o module.vmfb\nkiln-run-module --module=module.vmfb --function={}", source,
                        repro.source->dispatch);
    for (size_t i = 0; i < repro.problem->inputs().size(); ++i)
      text += fmt::format(" --input=@inputs/random_{}.npy", i);
    text += "\n```\n";
  }
  Result<store::Machine> machine = reader.machine(row.machine());
  if (machine.ok())
    text += fmt::format("\nNode, hardware and allocation:\n\n```\n{}\n{}\n{}\n```\n", machine->node, machine->hardware,
                        machine->allocation);
  return writeFile(repro.folder + "/README.md", text);
}

Status writeModule(const Repro &repro) {
  KILN_ASSIGN_OR_RETURN(Dumps dumps, Dumps::make(*repro.source));
  std::error_code error;
  fs::copy_file(dumps.module(), repro.folder + "/module.vmfb", fs::copy_options::overwrite_existing, error);
  return error ? errnoStatus(error.value(), fmt::format("cannot write '{}/module.vmfb'", repro.folder)) : okStatus();
}

} // namespace

Result<int> verbs::repro(const Lab &lab, const ReportFlags &flags) {
  KILN_RETURN_IF_ERROR(checkOneRow(flags.arguments, "repro <row>"));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(report::Filter filter, flags.filter());
  KILN_ASSIGN_OR_RETURN(StoredRow found, findStoredRow(*reader, filter, flags.arguments.front()));
  const report::Row &row = *found.row;
  Repro repro{row, flags.repro.folder, row.dispatch(), nullptr, std::nullopt};
  if (repro.folder.empty() && repro.dispatch.find('/') != std::string::npos)
    return invalidArgument("'{}' is no name of a folder: --folder names one", repro.dispatch);
  if (repro.folder.empty())
    repro.folder = "repro_" + repro.dispatch;
  if (row.problem->family == measure::corpus::kFamily)
    return unimplemented("'{}' is of a corpus, whose programs and expected results the store does not hold: copy {} "
                         "with what stands beside it, and run `kiln-dispatch sweep --corpus=FILE` there",
                         repro.dispatch, row.field("file").empty() ? "its file" : row.field("file"));
  KILN_ASSIGN_OR_RETURN(repro.problem, lab.families.parse(row.problem->name));
  if (std::unique_ptr<measure::Problem> narrow = repro.problem->inTF32(); narrow && row.field("arithmetic") == "tf32")
    repro.problem = std::move(narrow);
  KILN_RETURN_IF_ERROR(checkFolder(repro.folder));

  Operation operation;
  KILN_ASSIGN_OR_RETURN(operation.problem, lab.families.parse(row.problem->name));
  operation.configurations = {repro.isKiln() ? row.candidate->configuration : std::string(kDefaultConfiguration)};
  KILN_RETURN_IF_ERROR(GeneratedFolder(repro.folder).write(operation).status());
  if (repro.isKiln()) {
    KILN_ASSIGN_OR_RETURN(repro.source, sourceOf(lab, row, flags.compiler));
    if (Status status = writeModule(repro); !status.ok() && row.result->outcome == Outcome::Ok)
      return status; // of a row that failed, this may be why
  }
  KILN_RETURN_IF_ERROR(writeAllInputs(repro));
  KILN_RETURN_IF_ERROR(writeReadme(repro, *reader));
  KILN_RETURN_IF_ERROR(writeScript(repro));
  print(fmt::format("Writing {}\n{}/run.sh compiles, verifies and measures it again\n", repro.folder, repro.folder));
  return 0;
}

} // namespace kiln
