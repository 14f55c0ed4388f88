// kiln-bench-model: times a model on Kiln and on other runtimes, by turns, and compares what they compute.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

#include "fmt/format.h"
#include "kiln/base/file.h"
#include "kiln/base/wrap_text.h"
#include "kiln/schema/parameters/parameter_file.h"
#include "kiln/tools/bench_model/bench_model_flags.h"
#include "kiln/tools/bench_model/model_comparison.h"
#include "kiln/tools/bench_model/model_page.h"
#include "kiln/tools/bench_model/model_report.h"
#include "kiln/tools/bench_model/model_run.h"
#include "kiln/tools/bench_model/model_store.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/printing.h"

using namespace kiln;

namespace {

std::string namesOf(std::span<const ModelMeasurement> measurements) {
  std::vector<std::string> names;
  for (const ModelMeasurement &measured : measurements)
    names.push_back(measured.length ? fmt::format("{} of length {}", measured.model, measured.length) : measured.model);
  return plainLine(fmt::format("{}", fmt::join(names, ", ")));
}

std::string tableOf(std::span<const ModelReport> reports) {
  return reports.size() == 1 && reports.front().measured.length == 0 ? reports.front().table() : lengthsTable(reports);
}

// Whether rows can be appended to the file of --output: in a CSV file all have the columns of its first line. Told
// before anything is measured.
Status checkOutput(const BenchModelFlags &flags) {
  std::error_code error;
  if (flags.format != "csv" || flags.output.empty() || !std::filesystem::is_regular_file(flags.output, error))
    return okStatus();
  KILN_ASSIGN_OR_RETURN(const Ref<FileContents> file, FileContents::open(flags.output));
  if (file->text().empty() || file->text().starts_with(csvHeader()))
    return okStatus();
  return invalidArgument("'{}' has other columns than these rows, which cannot be appended to it: take another file",
                         flags.output);
}

// Writes reports as they come, those of one model together; a page is written at the end.
class ReportWriter {
public:
  explicit ReportWriter(const BenchModelFlags &flags) : flags(flags) {}

  Status add(std::vector<ModelReport> reports) {
    if (reports.empty())
      return okStatus();
    const bool isFirst = std::exchange(hasNone, false), isPage = flags.format == "html";
    if (!isPage || !flags.output.empty())
      KILN_RETURN_IF_ERROR(write(reports, isFirst));
    if (isPage)
      std::ranges::move(reports, std::back_inserter(page));
    return okStatus();
  }

  Status finish(const ModelRun &run) {
    if (page.empty())
      return okStatus();
    if (flags.output.empty()) {
      print(modelPage(run, page));
      return okStatus();
    }
    return writeFile(flags.output, modelPage(run, page));
  }

private:
  Status write(std::span<const ModelReport> reports, bool isFirst) {
    std::string text;
    std::error_code error;
    const bool isNew = flags.output.empty() ? isFirst : !(std::filesystem::file_size(flags.output, error) > 0) || error;
    if (flags.format == "csv" && isNew)
      text = csvHeader();
    for (const ModelReport &report : reports)
      text += flags.format == "csv" ? report.csv() : flags.format == "json" ? report.json() : "";
    const std::string table = (isFirst ? "" : "\n") + tableOf(reports);
    if (flags.output.empty()) {
      print(flags.format == "table" ? table : text);
      return okStatus();
    }
    if (flags.format != "html") {
      KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(flags.output, OutputFile::Mode::Append));
      KILN_RETURN_IF_ERROR(file.write(flags.format == "table" ? table : text));
      KILN_RETURN_IF_ERROR(file.commit());
    }
    print(table);
    return okStatus();
  }

  const BenchModelFlags &flags;
  bool hasNone = true;
  std::vector<ModelReport> page;
};

Result<bool> printStored(const BenchModelFlags &flags) {
  KILN_ASSIGN_OR_RETURN(StoredModels stored, readModels(flags.fromStore, flags.storedRun));
  std::vector<ModelMeasurement> wanted;
  for (ModelMeasurement &measured : stored.measurements)
    if (flags.models.empty() || std::ranges::find(flags.models, measured.model) != flags.models.end())
      wanted.push_back(std::move(measured));
  if (wanted.empty())
    return notFound("the run has no '{}'; it has {}", fmt::join(flags.models, "', '"), namesOf(stored.measurements));
  ReportWriter writer(flags);
  bool agree = true;
  for (size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    std::vector<ModelReport> reports;
    for (; end < wanted.size() && (end == begin || wanted[end].isSameModel(reports.back().measured)); ++end)
      agree &= reports.emplace_back(std::move(wanted[end])).agrees();
    KILN_RETURN_IF_ERROR(writer.add(std::move(reports)));
  }
  KILN_RETURN_IF_ERROR(writer.finish(stored.run));
  return agree;
}

// Measures what the run of a store does not have yet, and stores it.
class Measuring {
public:
  Measuring(const BenchModelFlags &flags, std::string commandLine)
      : flags(flags), commandLine(std::move(commandLine)) {}

  Result<bool> run() {
    KILN_RETURN_IF_ERROR(begin());
    ReportWriter writer(flags);
    Result<bool> agree = measureAll(writer);
    // What was measured before an error is told, too.
    KILN_RETURN_IF_ERROR(writer.finish(described));
    if (agree.ok() && store)
      KILN_RETURN_IF_ERROR(store->end());
    return agree;
  }

private:
  Result<bool> measureAll(ReportWriter &writer) {
    KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> lengths, parseLengths(flags.lengths));
    if (lengths.empty())
      lengths = {0};
    bool agree = true;
    for (const std::string &model : flags.models) {
      ModelComparison comparison(flags, model);
      std::vector<ModelReport> reports;
      Status status;
      for (size_t i = 0; i < lengths.size() && status.ok(); ++i) {
        Result<ModelMeasurement> measured = measure(comparison, model, lengths[i], status);
        if (!measured.ok())
          status = std::move(measured).status();
        else
          agree &= reports.emplace_back(*std::move(measured)).agrees();
      }
      KILN_RETURN_IF_ERROR(writer.add(std::move(reports)));
      KILN_RETURN_IF_ERROR(std::move(status));
    }
    return agree;
  }

  // The model, and what else its outputs come from: weights in the file that exporters write beside it, parameters, and
  // the program that PyTorch runs.
  std::vector<std::string> filesOf(const std::string &model) const {
    std::vector<std::string> files{model};
    for (const std::filesystem::path &beside :
         {std::filesystem::path(model + ".data"), std::filesystem::path(model).replace_extension(".pt2")})
      if (std::filesystem::is_regular_file(beside))
        files.push_back(beside);
    for (const std::string &parameters : flags.runtime.parameters)
      files.push_back(splitScope(parameters).second);
    return files;
  }

  Status begin() {
    if (flags.store.empty() && flags.format != "html")
      return okStatus();
    for (const std::string &model : flags.models) {
      KILN_ASSIGN_OR_RETURN(hashes[model], hashOfFiles(filesOf(model)));
    }
    described = describeRun(flags, commandLine, hashes);
    if (flags.store.empty())
      return okStatus();
    KILN_ASSIGN_OR_RETURN(ModelStore opened, ModelStore::open(flags.store, flags.allowNetworkStore));
    store.emplace(std::move(opened));
    KILN_ASSIGN_OR_RETURN(known, store->begin(described, !flags.fresh));
    if (!known.empty())
      fmt::print(stderr, "kiln-bench-model: goes on with run {}, which has {}; --fresh measures all again\n",
                 described.run.key().substr(0, 12), namesOf(known));
    return okStatus();
  }

  // What could not be stored is measured all the same: `stored` says so.
  Result<ModelMeasurement> measure(ModelComparison &comparison, const std::string &model, uint64_t length,
                                   Status &stored) {
    const std::string hash = hashes.contains(model) ? hashes.at(model) : "";
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
  std::map<std::string, std::string> hashes; // of the models' files, where they are stored or told
  std::optional<ModelStore> store;
  ModelRun described;
  std::vector<ModelMeasurement> known; // measured before the run was interrupted
};

Result<bool> run(BenchModelFlags &flags, const std::string &commandLine) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  KILN_RETURN_IF_ERROR(flags.check());
  KILN_RETURN_IF_ERROR(checkOutput(flags));
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
