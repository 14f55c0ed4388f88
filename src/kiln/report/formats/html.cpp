#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/json_value.h"
#include "kiln/report/formats/page.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"

namespace kiln::report {

// A cell is its raw value, with the text that is shown where that is another.
static Json cellJson(const Column &column, const Row &row) {
  Value value = column.value(row);
  Json raw = jsonOf(value);
  std::string text = displayText(value, column.unit);
  if (raw.is_null() || (raw.is_string() && raw.get_ref<const std::string &>() == text) ||
      (raw.is_number_integer() && std::to_string(raw.get<int64_t>()) == text))
    return raw;
  return Json::array({std::move(raw), std::move(text)});
}

static Json columnsJson(const std::vector<const Column *> &columns) {
  Json json = Json::array();
  for (const Column *column : columns)
    json.push_back({{"name", column->name},
                    {"header", column->header},
                    {"right", alignsRight(column->unit)},
                    {"shown", column->page == Page::Shown},
                    {"docs", column->docs}});
  return json;
}

static Json distributionJson(const Distribution &distribution) {
  return {{"q", distribution.quantiles}, {"r", distribution.roundMedians}};
}

// The tiles that heat maps are drawn of: of the cache and of the registers.
static Json tilesJson(const TileConfig &configuration) {
  Json json = {{"cache", {configuration.m, configuration.n}}};
  if (configuration.rows > 0)
    json["register"] = {configuration.rows, configuration.columns};
  return json;
}

static Json rowJson(const Row &row, const std::vector<const Column *> &columns, const Distribution *distribution) {
  Json cells = Json::array();
  for (const Column *column : columns)
    cells.push_back(cellJson(*column, row));
  Json json = {{"cells", std::move(cells)}, {"provider", row.provider()}, {"ok", isSuccess(row.result->outcome)}};
  if (std::string why = row.reason(); !why.empty())
    json["why"] = std::move(why);
  if (row.estimate) {
    json["ns"] = row.estimate->median;
    json["low"] = row.estimate->low;
    json["high"] = row.estimate->high;
  }
  if (row.configuration && row.candidate->provider == "kiln")
    json["tiles"] = tilesJson(*row.configuration);
  if (distribution && !distribution->quantiles.empty())
    json["samples"] = distributionJson(*distribution);
  return json;
}

static std::string workText(const store::Problem &problem) {
  std::string flops = problem.flops > 0 ? scaledText(problem.flops) + "FLOP" : "FLOP not known";
  return fmt::format("{}, {}", flops, problem.bytes > 0 ? scaledText(problem.bytes) + "B" : "bytes not known");
}

static Json problemsJson(const Table &table, const FormatOptions &options, const std::vector<const Column *> &columns) {
  bool distributions = options.distributions.size() == table.rows.size();
  Json json = Json::array();
  for (const ProblemRows &problem : byProblem(table)) {
    const Row &first = problem.front();
    Json rows = Json::array();
    for (const Row *row = problem.begin; row != problem.end; ++row)
      rows.push_back(
          rowJson(*row, columns,
                  distributions ? &options.distributions[static_cast<size_t>(row - table.rows.data())] : nullptr));
    std::optional<NoiseWarning> warning = noiseWarning(problem);
    json.push_back({{"name", first.problem->title()},
                    {"warning", warning ? warning->text() : std::string()},
                    {"default", defaultNote(problem)},
                    {"clock", clockNote(problem)},
                    {"cut", cutNote(problem)},
                    {"family", first.problem->family},
                    {"fields", first.problem->fields},
                    {"flops", first.problem->flops > 0 ? Json(first.problem->flops) : Json()},
                    {"bytes", first.problem->bytes},
                    {"work", workText(*first.problem)},
                    {"status", store::groupStatusName(first.group->status)},
                    {"run", shortKey(*first.run)},
                    {"date", timeText(first.run->started) + " UTC"},
                    {"tags", tagsText(*first.run)},
                    {"rows", std::move(rows)}});
  }
  return json;
}

static Json runsJson(const Table &table) {
  Json json = Json::array();
  for (const store::StoredRun *each : runsWithRows(table)) {
    const store::StoredRun &run = *each;
    json.push_back({{"key", shortKey(run)},
                    {"started", timeText(run.started) + " UTC"},
                    {"tags", tagsText(run)},
                    {"command", run.commandLine},
                    {"cache", run.cacheMode},
                    {"data", run.dataDistribution},
                    {"warning", machineWarning(run)},
                    {"version", run.kilnVersion}});
  }
  return json;
}

// What stands in a page's text.
static std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

static void replace(std::string &text, std::string_view name, std::string_view value) {
  if (size_t at = text.find(name); at != std::string::npos)
    text.replace(at, name.size(), value);
}

Result<std::string> formatHtml(const Table &table, const FormatOptions &options) {
  std::vector<const Column *> shown = columnsForReaders([](const Column &column) { return column.page != Page::No; });
  // Ceilings of the types that are there; where rows differ in threads, those of the most.
  Json peaks = {{"gflops", Json::object()}, {"gb_per_s", Json()}};
  std::map<std::string, double> highest;
  double fastest = 0;
  for (const Row &row : table.rows) {
    if (row.peakGigaflops)
      peaks["gflops"][row.arithmetic()] = highest[row.arithmetic()] =
          std::max(highest[row.arithmetic()], *row.peakGigaflops);
    if (row.peakGigabytes)
      peaks["gb_per_s"] = fastest = std::max(fastest, *row.peakGigabytes);
  }
  Json data = {{"columns", columnsJson(shown)}, {"problems", problemsJson(table, options, shown)},
               {"runs", runsJson(table)},       {"notes", providerNotes(table)},
               {"peaks", std::move(peaks)},     {"unfinished", table.unfinished},
               {"notBegun", table.notBegun}};
  // So that no text in it can end the element that holds it.
  std::string json;
  for (char c : dumpJson(data, -1))
    json += c == '<' ? "\\u003c" : std::string(1, c);

  std::string page(kPageHtml);
  // The data last: they may hold what looks like a placeholder.
  replace(page, "{{js}}", std::string(kChartsJs) + std::string(kPageJs));
  replace(page, "{{css}}", kPageCss);
  replace(page, "{{title}}", escaped(options.title));
  replace(page, "{{heading}}", escaped(options.title));
  replace(page, "{{data}}", json);
  return page;
}

} // namespace kiln::report
