#include <algorithm>
#include <map>
#include <set>

#include "fmt/ranges.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"

namespace kiln::report {

static constexpr size_t kGap = 2;
static constexpr size_t kNarrowestText = 10;

namespace {
// A column as it is printed for one problem.
struct PrintedColumn {
  const Column *column;
  std::vector<std::string> cells;
  size_t width = 0; // of its widest cell
};

// What problem after problem would say again, and is told once in a report.
struct ToldOnce {
  std::set<std::string> unsupported;    // providers with their reasons
  std::vector<std::string_view> hidden; // headers of columns that some table has no room for
  size_t wholeWidth = 0;                // of the widest table, with all columns
};
} // namespace

static std::vector<PrintedColumn> print(std::span<const Row *const> rows, std::span<const Column *const> columns) {
  std::vector<PrintedColumn> printed;
  for (const Column *column : columns) {
    PrintedColumn result{column, {}, displayWidth(column->header)};
    bool any = false;
    for (const Row *row : rows) {
      result.cells.push_back(plainLine(displayText(column->value(*row), column->unit)));
      any |= !result.cells.back().empty();
      result.width = std::max(result.width, displayWidth(result.cells.back()));
    }
    if (any)
      printed.push_back(std::move(result));
  }
  return printed;
}

static size_t totalWidth(const std::vector<PrintedColumn> &columns) {
  size_t width = 0;
  for (const PrintedColumn &column : columns)
    width += column.width + kGap;
  return width;
}

// Widths that are the same for every problem, where there is room for them.
static void lineUp(std::vector<PrintedColumn> &columns, size_t width) {
  size_t total = totalWidth(columns);
  for (PrintedColumn &column : columns) {
    size_t wanted = std::max(column.width, static_cast<size_t>(column.column->width));
    if (total + wanted - column.width > width)
      return;
    total += wanted - column.width;
    column.width = wanted;
  }
}

// Leaves out the least important columns, whose headers it gives, then shortens text, until it fits.
static std::vector<std::string_view> fit(std::vector<PrintedColumn> &columns, size_t width) {
  std::vector<std::string_view> hidden;
  while (totalWidth(columns) > width) {
    auto least = std::max_element(columns.begin(), columns.end(), [](const PrintedColumn &a, const PrintedColumn &b) {
      return a.column->console < b.column->console;
    });
    if (least->column->console <= 1)
      break;
    hidden.push_back(least->column->header);
    columns.erase(least);
  }
  while (totalWidth(columns) > width) {
    PrintedColumn *widest = nullptr;
    for (PrintedColumn &column : columns)
      if (column.column->unit == Unit::Text && column.width > kNarrowestText &&
          (!widest || column.width > widest->width))
        widest = &column;
    if (!widest)
      break;
    widest->width -= std::min(widest->width - kNarrowestText, totalWidth(columns) - width);
  }
  return hidden;
}

static std::string lineOf(const std::vector<PrintedColumn> &columns, const auto &cellOf) {
  std::string line;
  for (const PrintedColumn &column : columns) {
    line.append(kGap, ' ');
    line += padText(fitText(cellOf(column), column.width), column.width, alignsRight(column.column->unit));
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

static void indent(std::string &text, std::string_view line, size_t width, size_t spaces,
                   LongWords longWords = LongWords::Stay) {
  for (const std::string &part : wrapText(plainText(line), width > spaces + 20 ? width - spaces : 20, longWords))
    text.append(spaces, ' ').append(part).append("\n");
}

// Its first line at the margin, the others behind it, so that notes of several lines can be told from one another.
static void hang(std::string &text, std::string_view note, size_t width) {
  constexpr size_t spaces = 2;
  std::string lines;
  indent(lines, note, width, spaces, LongWords::Break);
  text.append(lines, spaces);
}

// What rows without a time have to say, in words: a reason that several in a row have, once, and that of one that is
// unsupported, which a provider gives for problem after problem, once in a report.
static void explain(std::string &text, std::span<const Row *const> rows, size_t width, ToldOnce &told) {
  std::vector<const Row *> shown;
  std::vector<std::string> again;
  auto saying = [](const Row &row) { return row.provider() + "\n" + row.reason(); };
  for (const Row *row : rows)
    if (row->result->outcome == Outcome::Unsupported && told.unsupported.contains(saying(*row)))
      again.push_back(row->shortName());
    else
      shown.push_back(row);
  for (size_t i = 0; i < shown.size(); ++i) {
    const Row &row = *shown[i];
    told.unsupported.insert(saying(row));
    indent(text,
           fmt::format("{}: {}{}", outcomeName(row.result->outcome), row.shortName(),
                       row.failed() ? fmt::format(" (row {})", row.name()) : ""),
           width, 2);
    std::string reason = row.reason();
    bool repeated = i + 1 < shown.size() && shown[i + 1]->result->outcome == row.result->outcome &&
                    shown[i + 1]->reason() == reason;
    if (!repeated && !reason.empty())
      indent(text, reason, width, 6, LongWords::Break);
  }
  if (!again.empty())
    indent(text, fmt::format("unsupported, as said above: {}", fmt::join(again, ", ")), width, 2);
}

static std::string headline(const Row &row) {
  // The bytes of a program that could not be read are not known.
  std::string text = row.problem->bytes > 0 ? fmt::format("{}B", scaledText(row.problem->bytes)) : "size not known";
  if (row.problem->flops > 0)
    text = fmt::format("{}FLOP, ", scaledText(row.problem->flops)) + text;
  if (!row.cacheMode().empty())
    text += fmt::format(", {} cache", row.cacheMode());
  return fmt::format("{}, {} thread{}", text, row.candidate->threads, row.candidate->threads == 1 ? "" : "s");
}

static void writeProblem(std::string &text, const ProblemRows &problem, std::span<const Column *const> columns,
                         size_t width, bool several, ToldOnce &told) {
  const Row &first = problem.front();
  text += first.problem->title() + "\n";
  if (several)
    indent(text, runText(*first.run), width, 2);
  indent(text, headline(first), width, 2);
  if (first.group->status != store::GroupStatus::Finished)
    indent(text,
           fmt::format("{}: nothing is concluded of what was measured", store::groupStatusName(first.group->status)),
           width, 2);
  std::vector<const Row *> shown, untimed;
  for (const Row *row = problem.begin; row != problem.end; ++row)
    (row->estimate ? shown : untimed).push_back(row);
  auto unverified = std::count_if(shown.begin(), shown.end(),
                                  [](const Row *row) { return row->result->verification.method.empty(); });
  if (unverified > 0)
    indent(text, fmt::format("{} of {} are not verified", unverified, shown.size()), width, 2);
  for (auto [name, what] : {std::pair("self-consistent", "an unoptimized build of the same compiler"),
                            std::pair("f64 golden", "an unoptimized build of the same compiler that computes in f64")})
    if (std::ranges::any_of(shown,
                            [name](const Row *row) { return row->result->verification.selfComparison() == name; }))
      indent(text, fmt::format("{}: compared with {}, for want of expected results; that verifies nothing", name, what),
             width, 2);
  if (!shown.empty()) {
    std::vector<PrintedColumn> printed = print(shown, columns);
    told.wholeWidth = std::max(told.wholeWidth, totalWidth(printed));
    for (std::string_view header : fit(printed, width))
      if (std::ranges::find(told.hidden, header) == told.hidden.end())
        told.hidden.push_back(header);
    lineUp(printed, width);
    text += lineOf(printed, [](const PrintedColumn &column) { return column.column->header; });
    for (size_t i = 0; i < shown.size(); ++i)
      text += lineOf(printed, [&](const PrintedColumn &column) -> std::string_view { return column.cells[i]; });
  }
  if (std::optional<NoiseWarning> warning = noiseWarning(problem))
    indent(text, warning->text(), width, 2);
  for (const std::string &note : {defaultNote(problem), clockNote(problem), cutNote(problem)})
    if (!note.empty())
      indent(text, note, width, 2);
  explain(text, untimed, width, told);
}

static std::string summary(const Table &table) {
  std::map<std::string_view, size_t> counts;
  bool ties = false, noisy = false;
  for (const Row &row : table.rows) {
    ++counts[outcomeName(row.result->outcome)];
    ties |= row.ranked() && !row.estimate->ties.empty();
    noisy |= row.ranked() && isNoisy(*row.estimate);
  }
  std::string text = fmt::format("{} row{}", table.rows.size(), table.rows.size() == 1 ? "" : "s");
  for (const auto &[name, count] : counts)
    text += fmt::format(", {} {}", count, name);
  if (ties)
    text +=
        "\nRanks with = cannot be told apart from at least one neighbour, which may be of another rank; ranks are by "
        "common rounds, not by the times shown";
  if (noisy)
    text += "\nTimes that are noisy (ranks with ~) are not known to 20 %: measure them again when the machine is quiet";
  return text;
}

Result<std::string> formatConsole(const Table &table, const FormatOptions &options) {
  std::vector<const Column *> columns = columnsForReaders([](const Column &column) { return column.console > 0; });
  if (!options.columns.empty()) {
    KILN_ASSIGN_OR_RETURN(columns, columnsOf(options));
  }
  std::string text;
  ToldOnce told;
  for (const ProblemRows &problem : byProblem(table)) {
    writeProblem(text, problem, columns, options.width, severalRuns(table), told);
    text += "\n";
  }
  if (!told.hidden.empty())
    hang(text,
         fmt::format("no room for {}: COLUMNS={} or `report --columns=...` shows them", fmt::join(told.hidden, ", "),
                     told.wholeWidth),
         options.width);
  for (const std::string &note : providerNotes(table))
    hang(text, note, options.width);
  for (const store::StoredRun *run : runsWithRows(table))
    if (std::string warning = beginText(*run, severalRuns(table)); !warning.empty())
      indent(text, warning, options.width, 0);
  indent(text, summary(table), options.width, 0);
  if (const uint64_t left = table.unfinished.size() + table.notBegun; left > 0)
    indent(text,
           fmt::format("{} problem{} not finished; the same sweep, run again, measures {}", left,
                       left == 1 ? " is" : "s are", left == 1 ? "it" : "them"),
           options.width, 0);
  if (options.otherRuns > 0 && !table.runs.empty())
    indent(text,
           fmt::format("{}; {} more run{} in the store: --run=NAME or --all-runs shows {}",
                       severalRuns(table) ? fmt::format("{} runs", table.runs.size()) : runText(table.runs.front()),
                       options.otherRuns, options.otherRuns == 1 ? " is" : "s are",
                       options.otherRuns == 1 ? "it" : "them"),
           options.width, 0);
  return plainText(text); // names, too, are what a store says
}

} // namespace kiln::report
