#include <algorithm>

#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/runs.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/noise.h"
#include "kiln/report/model/notes.h"

namespace kiln::report {

static void writeRow(std::string &text, const std::vector<std::string> &cells) {
  text += "|";
  for (const std::string &cell : cells)
    text += " " + cell + " |";
  text += "\n";
}

static void writeProblem(std::string &text, const ProblemRows &problem, std::span<const Column *const> columns,
                         bool several) {
  const Row &first = problem.front();
  text += fmt::format("## {}{}\n\n", escapedMarkdown(first.problem->title()),
                      several ? escapedMarkdown(fmt::format(" ({})", runText(*first.run))) : "");
  std::vector<const Column *> used;
  for (const Column *column : columns)
    if (std::any_of(problem.begin, problem.end,
                    [&](const Row &row) { return !std::holds_alternative<std::monostate>(column->value(row)); }))
      used.push_back(column);
  std::vector<std::string> header, rule;
  for (const Column *column : used) {
    header.push_back(escapedMarkdown(column->header));
    rule.emplace_back(alignsRight(column->unit) ? "---:" : "---");
  }
  if (std::optional<NoiseWarning> warning = noiseWarning(problem))
    text += warning->text() + "\n\n";
  for (const std::string &note : {defaultNote(problem), clockNote(problem), cutNote(problem)})
    if (!note.empty())
      text += note + "\n\n";
  writeRow(text, header);
  writeRow(text, rule);
  for (const Row *row = problem.begin; row != problem.end; ++row) {
    std::vector<std::string> cells;
    for (const Column *column : used)
      cells.push_back(escapedMarkdown(displayText(column->value(*row), column->unit)));
    writeRow(text, cells);
  }
  text += "\n";
}

Result<std::string> formatMarkdown(const Table &table, const FormatOptions &options) {
  std::vector<const Column *> columns = columnsForReaders(
      [](const Column &column) { return column.console > 0 || column.name == "outcome" || column.name == "error"; });
  if (!options.columns.empty()) {
    KILN_ASSIGN_OR_RETURN(columns, columnsOf(options));
  }
  bool several = severalRuns(table);
  std::string text = fmt::format("# {}\n\n", escapedMarkdown(options.title));
  for (const store::StoredRun *each : runsWithRows(table)) {
    const store::StoredRun &run = *each;
    std::string name = runText(run);
    name.front() = 'R';
    text += fmt::format("{}: `{}`\n\n", escapedMarkdown(name), plainLine(run.commandLine));
    if (std::string warning = machineWarning(run); !warning.empty())
      text += fmt::format("When {} began: {}\n\n", several ? escapedMarkdown(runText(run)) : "it", plainLine(warning));
  }
  for (const ProblemRows &problem : byProblem(table))
    writeProblem(text, problem, columns, several);
  for (const std::string &note : providerNotes(table))
    text += fmt::format("- {}\n", escapedMarkdown(note));
  return text;
}

} // namespace kiln::report
