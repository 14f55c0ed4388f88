// kiln-bench-model: times a model on Kiln and on other runtimes, by turns, and compares what they compute.
#include <filesystem>

#include "fmt/format.h"
#include "kiln/base/file.h"
#include "kiln/tools/bench_model/bench_model_flags.h"
#include "kiln/tools/bench_model/model_comparison.h"
#include "kiln/tools/bench_model/model_report.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/interrupts.h"
#include "kiln/tools/printing.h"

using namespace kiln;

namespace {

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

Result<bool> run(BenchModelFlags &flags) {
  KILN_ASSIGN_OR_RETURN(bool listed, flags.runtime.printLists());
  if (listed)
    return true;
  KILN_RETURN_IF_ERROR(flags.check());
  KILN_RETURN_IF_ERROR(flags.runtime.startTimeout());
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> lengths, parseLengths(flags.lengths));
  if (lengths.empty())
    lengths = {0};
  bool agree = true;
  for (size_t i = 0; i < flags.models.size(); ++i) {
    ModelComparison comparison(flags, flags.models[i]);
    std::vector<ModelReport> reports;
    for (uint64_t length : lengths) {
      KILN_ASSIGN_OR_RETURN(ModelMeasurement measured, comparison.measure(length));
      agree &= reports.emplace_back(std::move(measured)).agrees();
    }
    KILN_RETURN_IF_ERROR(writeModel(flags, reports, i == 0));
  }
  return agree;
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
  Result<bool> agree = run(flags);
  if (!agree.ok())
    return reportEnd(parser.tool(), agree.status());
  if (isInterrupted())
    return reportInterrupted(parser.tool());
  return finishOutput(parser.tool(), *agree ? 0 : 1);
}
