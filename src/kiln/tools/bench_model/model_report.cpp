#include "kiln/tools/bench_model/model_report.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmt/format.h"
#include "kiln/base/wrap_text.h"
#include "kiln/measure/statistics/robust.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/text.h"
#include "kiln/tools/bench_model/model_columns.h"

namespace kiln {

namespace {

constexpr size_t kNameWidth = 22, kWidth = 80;

Estimated estimated(const std::vector<double> &rounds, measure::StudentTable &table) {
  const measure::Location location = measure::locate(rounds);
  return {location.value, location.reach(table)};
}

double medianOf(const ModelRound &round) {
  const std::vector<double> calls(round.calls.begin(), round.calls.end());
  return measure::percentile(calls, 0.5) / 1e6;
}

ModelRow rowOf(const EngineMeasurement &engine, const EngineMeasurement &kiln, bool isWrong) {
  ModelRow row;
  row.engine = &engine;
  row.isWrong = isWrong;
  row.isMeasured = engine.failure.empty() && !engine.rounds.empty();
  if (!row.isMeasured)
    return row;
  measure::StudentTable table(0.05);
  std::vector<double> rounds, ratios, calls;
  for (const ModelRound &round : engine.rounds) {
    rounds.push_back(medianOf(round));
    for (int64_t call : round.calls)
      calls.push_back(double(call) / 1e6);
    const auto same = std::ranges::find(kiln.rounds, round.index, &ModelRound::index);
    if (same != kiln.rounds.end())
      ratios.push_back(rounds.back() / medianOf(*same));
  }
  row.milliseconds = estimated(rounds, table);
  row.ratio = estimated(ratios, table);
  row.calls = calls.size();
  row.fastest = measure::percentile(calls, 0.05);
  row.slowest = measure::percentile(calls, 0.95);
  return row;
}

size_t roundsOf(const ModelMeasurement &measured) {
  return measured.engines.empty() ? 0 : measured.engines.front().rounds.size();
}

// A row of a table, or why there is none, beside its name.
std::string lineOf(const std::string &label, const ModelReport &report, const ModelRow &row,
                   std::span<const ModelColumn *const> columns) {
  if (!row.isMeasured)
    return hangingText(label, plainText(row.engine->failure), kWidth, displayWidth(label)) + "\n";
  std::string line = label;
  for (const ModelColumn *column : columns) {
    const std::string cell = report::displayText(valueOf(*column, report, row), column->unit);
    line += report::padText(" " + (cell.empty() ? "-" : cell), size_t(column->width), true);
  }
  return line + "\n";
}

std::string headerLine(std::string label, const ModelReport &report, std::span<const ModelColumn *const> columns) {
  for (const ModelColumn *column : columns)
    label += report::padText(headerOf(*column, report), size_t(column->width), true);
  return label + "\n";
}

} // namespace

std::string ModelRow::title() const {
  return engine->version.empty() ? engine->engine : fmt::format("{} {}", engine->engine, engine->version);
}

ModelReport::ModelReport(ModelMeasurement taken) : measured(std::move(taken)) {
  for (const EngineMeasurement &engine : measured.engines)
    rows.push_back(rowOf(engine, measured.engines.front(), measured.differs(engine)));
}

bool ModelReport::agrees() const {
  return std::ranges::none_of(rows, &ModelRow::isWrong);
}

std::string ModelReport::conditions() const {
  return fmt::format("{}, {} {}, {} rounds by turns", measured.device, measured.threads,
                     measured.threads == 1 ? "thread" : "threads", roundsOf(measured));
}

std::string ModelReport::table() const {
  const std::vector<const ModelColumn *> columns = columnsForReaders({this, 1}, Medium::Terminal);
  std::string text = plainText(fmt::format("{}: {}\n{}\n\n", measured.model, measured.inputs, conditions()));
  text += headerLine(fmt::format("{:<{}}", "runtime", kNameWidth), *this, columns);
  for (const ModelRow &row : rows)
    text += lineOf(report::padText(plainLine(row.title()), kNameWidth, false), *this, row, columns);
  text += "\n";
  for (const std::string &note : notesOf({this, 1}))
    text += hangingText("", plainText(note), kWidth, 2) + "\n";
  if (measured.dispatches)
    text += "\n" + measured.dispatches->table();
  return text;
}

// The largest difference of an engine's outputs, in any of the reports; one that is no number is larger than all.
static std::string differenceNote(std::span<const ModelReport> reports, size_t engine) {
  std::optional<double> worst;
  bool isWrong = false;
  for (const ModelReport &report : reports) {
    if (engine >= report.rows.size()) // of a store that was edited
      continue;
    if (const std::optional<double> &difference = report.rows[engine].engine->difference) {
      worst = worst && (std::isnan(*worst) || *worst > *difference) ? worst : difference;
      isWrong |= report.rows[engine].isWrong;
    }
  }
  if (!worst)
    return {};
  const ModelMeasurement &measured = reports.front().measured;
  return fmt::format("{}'s outputs differ from {}'s by {:.2g} of the largest{}", measured.engines[engine].engine,
                     measured.reference, *worst,
                     isWrong ? fmt::format(", and may by {:.2g}: WRONG", measured.tolerance) : "");
}

// Where several are wrong by as much, the reference may be the one that is.
static std::string doubtOfReference(const ModelReport &report) {
  constexpr double kAsMuch = 1.1;
  std::vector<std::string> names;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const ModelRow &row : report.rows)
    if (row.isWrong) {
      if (!std::isfinite(*row.engine->difference))
        return {};
      names.push_back(row.engine->engine);
      least = std::min(least, *row.engine->difference);
      most = std::max(most, *row.engine->difference);
    }
  if (names.size() < 2 || most > kAsMuch * least)
    return {};
  return fmt::format("{} differ from {} by as much: it may be the one that is wrong.", fmt::join(names, " and "),
                     report.measured.reference);
}

std::vector<std::string> notesOf(std::span<const ModelReport> reports) {
  std::vector<std::string> notes;
  if (reports.empty())
    return notes;
  notes.emplace_back("ratio: a runtime's time over Kiln's; above 1 Kiln is faster.");
  const ModelReport &first = reports.front();
  std::vector<uint64_t> items;
  for (const ModelReport &report : reports)
    items.push_back(report.measured.items);
  if (first.measured.items > 0) {
    const bool areEqual = std::ranges::count(items, items.front()) == std::ssize(items);
    if (areEqual)
      items.resize(1);
    notes.push_back(fmt::format("{}: {} a call{}{}", first.measured.itemName, fmt::join(items, ", "),
                                first.measured.itemsBecause.empty() ? "" : ", ", first.measured.itemsBecause));
  }
  for (const ModelRow &row : first.rows)
    if (reports.size() == 1 && row.isMeasured && row.engine->engine != "kiln")
      notes.push_back(fmt::format("{}: ratio {:.2f} to {:.2f}", row.engine->engine, std::max(0.0, row.ratio.low()),
                                  row.ratio.high()));
  for (const ModelRow &row : first.rows)
    if (const std::string &setting = row.engine->setting; !setting.empty())
      notes.push_back(fmt::format("{}: {} threads, {}", row.engine->engine, row.engine->threads, setting));
  if (first.measured.reference.empty())
    notes.emplace_back("Nobody else's outputs were there to compare with.");
  for (size_t i = 0; i < first.rows.size(); ++i)
    if (std::string note = differenceNote(reports, i); !note.empty())
      notes.push_back(std::move(note));
  if (std::string note = doubtOfReference(first); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

std::string lengthsTable(std::span<const ModelReport> reports) {
  if (reports.empty())
    return {};
  const ModelReport &first = reports.front();
  const std::vector<const ModelColumn *> columns = columnsForReaders(reports, Medium::Terminal);
  constexpr size_t kLengthWidth = 8;
  std::string text = plainText(fmt::format("{}, by length\n{}\n\n", first.measured.model, first.conditions()));
  text += headerLine(fmt::format("{:>{}}  {:<{}}", "length", kLengthWidth - 2, "runtime", kNameWidth), first, columns);
  for (const ModelReport &report : reports)
    for (const ModelRow &row : report.rows)
      text += lineOf(fmt::format("{:>{}}  {}", report.measured.length, kLengthWidth - 2,
                                 report::padText(plainLine(row.title()), kNameWidth, false)),
                     report, row, columns);
  text += "\n";
  for (const std::string &note : notesOf(reports))
    text += hangingText("", plainText(note), kWidth, 2) + "\n";
  for (const ModelReport &report : reports)
    if (report.measured.dispatches)
      text += fmt::format("\nlength {}: ", report.measured.length) + report.measured.dispatches->table();
  return text;
}

// A line of cells, one for each column that CSV has.
template <typename CellOf> static std::string csvLine(CellOf cellOf) {
  std::vector<std::string> cells;
  for (const ModelColumn &column : modelColumns())
    if (*column.csv)
      cells.push_back(report::quotedCsv(cellOf(column)));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string csvHeader() {
  return csvLine([](const ModelColumn &column) { return std::string(column.csv); });
}

std::string ModelReport::csv() const {
  std::string text;
  for (const ModelRow &row : rows)
    text += csvLine([&](const ModelColumn &column) { return report::rawText(valueOf(column, *this, row)); });
  return text;
}

std::string ModelReport::json() const {
  std::string text;
  for (const ModelRow &row : rows) {
    report::Json line = report::Json::object();
    for (const ModelColumn &column : modelColumns())
      if (report::Json value = report::jsonOf(valueOf(column, *this, row)); *column.json && !value.is_null())
        line[column.json] = std::move(value);
    text += report::dumpJson(line) + "\n";
  }
  if (measured.dispatches)
    text += measured.dispatches->json(measured.model);
  return text;
}

} // namespace kiln
