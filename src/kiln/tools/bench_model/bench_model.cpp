// kiln-bench-model: times a model on Kiln and on other runtimes, by turns, and compares what they compute.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "fmt/format.h"
#include "kiln/base/file.h"
#include "kiln/base/wrap_text.h"
#include "kiln/tools/bench_model/bench_model_flags.h"
#include "kiln/tools/bench_model/model_comparison.h"
#include "kiln/tools/bench_model/model_report.h"
#include "kiln/tools/bench_model/model_run.h"
#include "kiln/tools/bench_model/model_store.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/printing.h"

using namespace kiln;

namespace {

// "bert.onnx with lengths 64 and 128" is two measurements of one model.
bool isOfSameModel(const ModelMeasurement &a, const ModelMeasurement &b) {
  return a.length != 0 && b.length != 0 && a.model == b.model && a.hash == b.hash;
}

std::string namesOf(std::span<const ModelMeasurement> measurements) {
  std::vector<std::string> names;
  for (const ModelMeasurement &measured : measurements)
    names.push_back(measured.length ? fmt::format("{} of length {}", measured.model, measured.length) : measured.model);
  return plainLine(fmt::format("{}", fmt::join(names, ", ")));
}

std::string tableOf(std::span<const ModelReport> reports) {
  return reports.size() == 1 && reports.front().measured.length == 0 ? reports.front().table() : lengthsTable(reports);
}

// The reports of one model, which are several where it has lengths.
Status writeModel(const BenchModelFlags &flags, std::span<const ModelReport> reports, bool isFirst) {
  std::string text;
  const bool exists = !flags.output.empty() && std::filesystem::exists(flags.output);
  bool withHeader = flags.output.empty() ? isFirst : !exists;
  for (const ModelReport &report : reports) {
    if (flags.format == "csv")
      text += report.csv(std::exchange(withHeader, false));
    else if (flags.format == "json")
      text += report.json();
  }
  const std::string table = (isFirst ? "" : "\n") + tableOf(reports);
  if (flags.output.empty()) {
    print(flags.format == "table" ? table : text);
    return okStatus();
  }
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(flags.output, OutputFile::Mode::Append));
  KILN_RETURN_IF_ERROR(file.write(flags.format == "table" ? table : text));
  KILN_RETURN_IF_ERROR(file.commit());
  print(table);
  return okStatus();
}

// Reports of a run, those of one model after the other.
Result<bool> writeAll(const BenchModelFlags &flags, std::vector<ModelMeasurement> measurements) {
  bool agree = true, isFirst = true;
  for (size_t begin = 0; begin < measurements.size(); isFirst = false) {
    std::vector<ModelReport> reports;
    size_t end = begin;
    for (; end < measurements.size() && (end == begin || isOfSameModel(measurements[end], reports.back().measured));
         ++end)
      agree &= reports.emplace_back(std::move(measurements[end])).agrees();
    KILN_RETURN_IF_ERROR(writeModel(flags, reports, isFirst));
    begin = end;
  }
  return agree;
}

Result<bool> printStored(const BenchModelFlags &flags) {
  KILN_ASSIGN_OR_RETURN(StoredModels stored, readModels(flags.fromStore, flags.storedRun));
  std::vector<ModelMeasurement> wanted;
  for (ModelMeasurement &measured : stored.measurements)
    if (flags.models.empty() || std::ranges::find(flags.models, measured.model) != flags.models.end())
      wanted.push_back(std::move(measured));
  if (wanted.empty())
    return notFound("the run has no '{}'; it has {}", fmt::join(flags.models, "', '"), namesOf(stored.measurements));
  return writeAll(flags, std::move(wanted));
}

// Measures what the run of a store does not have yet, and stores it.
class Measuring {
public:
  Measuring(const BenchModelFlags &flags, std::string commandLine)
      : flags(flags), commandLine(std::move(commandLine)) {}

  Result<bool> run() {
    KILN_RETURN_IF_ERROR(begin());
    KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> lengths, parseLengths(flags.lengths));
    if (lengths.empty())
      lengths = {0};
    bool agree = true;
    for (size_t i = 0; i < flags.models.size(); ++i) {
      ModelComparison comparison(flags, flags.models[i]);
      std::vector<ModelReport> reports;
      Status status;
      for (size_t at = 0; at < lengths.size() && status.ok(); ++at) {
        Result<ModelMeasurement> measured = measure(comparison, flags.models[i], lengths[at], status);
        if (!measured.ok() && reports.empty())
          return std::move(measured).status();
        if (!measured.ok())
          status = std::move(measured).status();
        else
          agree &= reports.emplace_back(*std::move(measured)).agrees();
      }
      // What was measured is told also where it could not be stored, or where another length failed.
      KILN_RETURN_IF_ERROR(writeModel(flags, reports, i == 0));
      KILN_RETURN_IF_ERROR(std::move(status));
    }
    if (store)
      KILN_RETURN_IF_ERROR(store->end());
    return agree;
  }

private:
  Status begin() {
    if (flags.store.empty())
      return okStatus();
    for (const std::string &model : flags.models) {
      KILN_ASSIGN_OR_RETURN(hashes[model], hashOfFile(model));
    }
    KILN_ASSIGN_OR_RETURN(ModelStore opened, ModelStore::open(flags.store, flags.allowNetworkStore));
    store.emplace(std::move(opened));
    described = describeRun(flags, commandLine, hashes);
    KILN_ASSIGN_OR_RETURN(known, store->begin(described, !flags.fresh));
    if (!known.empty())
      fmt::print(stderr, "kiln-bench-model: goes on with run {}, which has {}; --fresh measures all again\n",
                 described.run.key().substr(0, 12), namesOf(known));
    return okStatus();
  }

  // What could not be stored is measured all the same: `stored` says so.
  Result<ModelMeasurement> measure(ModelComparison &comparison, const std::string &model, uint64_t length,
                                   Status &stored) {
    const std::string hash = store ? hashes.at(model) : "";
    for (const ModelMeasurement &measured : known)
      if (measured.hash == hash && measured.length == length)
        return measured;
    KILN_ASSIGN_OR_RETURN(ModelMeasurement measured, comparison.measure(length));
    measured.hash = hash;
    if (store)
      stored = store->add(measured);
    return measured;
  }

  const BenchModelFlags &flags;
  std::string commandLine;
  std::map<std::string, std::string> hashes; // of the models' files, where they are stored
  std::optional<ModelStore> store;
  ModelRun described;
  std::vector<ModelMeasurement> known; // measured before the run was interrupted
};

Result<bool> run(BenchModelFlags &flags, const std::string &commandLine) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  KILN_RETURN_IF_ERROR(flags.check());
  if (!flags.fromStore.empty())
    return printStored(flags);
  KILN_RETURN_IF_ERROR(flags.runtime.startTimeout());
  return Measuring(flags, commandLine).run();
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-bench-model");
  catchInterrupts([] { reportInterrupted("kiln-bench-model"); });
  FlagParser parser("kiln-bench-model",
                    "Times a model on Kiln and on other runtimes. All get the same inputs, and what they compute is "
                    "compared first; then they are measured by turns, each while the others stand still. A runtime "
                    "that fails is a row that says why.");
  BenchModelFlags flags;
  flags.add(parser);
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  std::string commandLine = "kiln-bench-model";
  for (int i = 1; i < argc; ++i)
    commandLine += " " + plainShellWord(argv[i]);
  Result<bool> agree = run(flags, commandLine);
  if (!agree.ok())
    return reportEnd(parser.tool(), agree.status());
  if (isInterrupted())
    return reportInterrupted(parser.tool());
  return finishOutput(parser.tool(), *agree ? 0 : 1);
}
