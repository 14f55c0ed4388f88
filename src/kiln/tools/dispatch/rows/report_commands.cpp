#include "kiln/tools/dispatch/commands.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <fmt/ranges.h>

#include "kiln/base/file.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/suggestion.h"
#include "kiln/tools/dispatch/nearest_names.h"
#include "kiln/tools/dispatch/patterns.h"
#include "kiln/tools/dispatch/rows/stored_row.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/printing.h"

namespace kiln {

size_t consoleWidth() {
  return terminalWidth(STDOUT_FILENO);
}

void ReportFlags::addStore(FlagParser &parser) {
  parser.group("Which results");
  parser.add({"db", "FILE", "The store; results.db of --generated-dir where it is not named."}, database);
}

void ReportFlags::addSelection(FlagParser &parser) {
  addStore(parser);
  parser.add(
      {"run", "NAME",
       "The start of a run's name, latest, latest~1, ... Without it the latest, or the latest that has the row."},
      runs);
  parser.add({"all-runs", "", "Results of all runs."}, allRuns);
  parser.add({"dispatches", "REGEX,...", "Dispatches whose names match one of these, as for a sweep."}, dispatches);
  parser.add({"provider", "NAME", "Those of one provider, such as onednn or onednn:preferred."}, provider);
}

void ReportFlags::addCompiler(FlagParser &parser) {
  parser.group("How to compile");
  parser.add({"compiler", "FILE",
              "The compiler to run for a row of another compiler than Kiln's own: a store only tells which it was."},
             compiler);
}

void ReportFlags::addFormat(FlagParser &parser) {
  parser.group("How to show them");
  parser.add({"format", "NAME", "console, blocks, csv, json, markdown, junit or html; the default is console."},
             format);
  parser.add({"columns", "NAME,...", "Columns to show; `--columns=help` lists them."}, columns);
  parser.add({"output", "FILE", "Writes them to a file; its extension says the format, unless --format does."},
             outputs);
  parser.add({"append", "", "Adds rows to the CSV file that is there."}, append);
}

Status checkOutputs(const std::vector<std::string> &paths, const std::string &generatedDir, std::string_view format) {
  for (auto it = paths.begin(); it != paths.end(); ++it) {
    const std::string &path = *it;
    KILN_RETURN_IF_ERROR(report::formatFor(path, format).status());
    if (std::find(paths.begin(), it, path) != it)
      return invalidArgument("--output={}: the file is named twice; write it once", path);
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      return invalidArgument("--output={}: that is a folder; name a file", path);
    std::filesystem::path parent = std::filesystem::path(path).parent_path();
    std::string folder = parent.empty() ? "." : parent.string();
    if (!std::filesystem::is_directory(folder, error)) {
      // This folder will be made.
      if (std::filesystem::path(folder).lexically_normal() == std::filesystem::path(generatedDir).lexically_normal())
        continue;
      return notFound("--output={}: there is no folder '{}'; make it first", path, folder);
    }
    bool exists = std::filesystem::exists(path, error);
    if (access(exists ? path.c_str() : folder.c_str(), W_OK) != 0)
      return errnoStatus(errno, fmt::format("--output={}: cannot write there", path));
  }
  return okStatus();
}

// What --append means must be there.
static Status checkAppends(const std::vector<std::string> &outputs, std::string_view asked = {}) {
  for (const std::string &path : outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatFor(path, asked));
    if (format->name == "csv")
      return okStatus();
  }
  return invalidArgument("--append adds rows to a CSV file; name it, as in --output=table.csv");
}

Status checkAppend(const DispatchFlags &flags) {
  if (!flags.append)
    return okStatus();
  KILN_RETURN_IF_ERROR(checkAppends(flags.outputs));
  // As the run will have them.
  KILN_ASSIGN_OR_RETURN(auto pairs, flags.parsedTags());
  std::vector<std::string> tags;
  for (const auto &[name, value] : pairs)
    if (std::ranges::find(tags, name) == tags.end())
      tags.push_back(name);
  for (const std::string &path : flags.outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatOfFile(path));
    Result<Ref<FileContents>> old = FileContents::open(path);
    if (format->name != "csv" || !old.ok())
      continue;
    Status status = report::checkAppend(tags, {}, (*old)->text());
    if (!status.ok())
      return std::move(status).withContext(fmt::format("--append --output={}", path));
  }
  return okStatus();
}

static std::string databaseOf(const Lab &lab, const ReportFlags &flags) {
  return flags.database.empty() ? lab.folder.database() : flags.database;
}

Result<std::unique_ptr<store::Reader>> openStore(const Lab &lab, const ReportFlags &flags) {
  std::string path = databaseOf(lab, flags);
  if (access(path.c_str(), F_OK) != 0)
    return notFound(
        "there are no results in '{}'; `kiln-dispatch sweep` makes some, and --generated-dir or --db says where "
        "they are",
        path);
  return store::Reader::open(path);
}

Result<report::Filter> ReportFlags::filter() const {
  report::Filter filter;
  filter.runs = runs;
  filter.allRuns = allRuns;
  // As a sweep takes them: several expressions, and providers with variants.
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(dispatches));
  if (!patterns.all())
    filter.takes = [patterns = std::move(patterns)](std::string_view dispatch) { return patterns.matches(dispatch); };
  size_t colon = std::min(provider.find(':'), provider.size());
  filter.provider = provider.substr(0, colon);
  if (colon < provider.size())
    filter.variant = provider.substr(colon + 1);
  return filter;
}

// Why no row was taken, when there are some.
static Status explainNoRows(store::Reader &reader, const ReportFlags &flags, Status status) {
  report::Filter all;
  all.runs = flags.runs;
  all.allRuns = flags.allRuns;
  Result<report::Table> table = report::loadTable(reader, all);
  if (!table.ok() || table->rows.empty())
    return status;
  if (!flags.provider.empty()) {
    std::set<std::string> sorted;
    for (const report::Row &row : table->rows)
      sorted.insert(row.candidate->provider +
                    (row.candidate->variant.empty() ? std::string() : ":" + row.candidate->variant));
    std::vector<std::string> names(sorted.begin(), sorted.end());
    bool known = std::ranges::any_of(names, [&](const std::string &name) {
      return name == flags.provider || name.starts_with(flags.provider + ":");
    });
    if (!known)
      return notFound("--provider={}: it has no rows; there are: {}{}", flags.provider, fmt::join(names, ", "),
                      report::suggestion(flags.provider, names));
  }
  if (flags.dispatches.empty())
    return status;
  KILN_ASSIGN_OR_RETURN(NamePatterns patterns, NamePatterns::parse(flags.dispatches));
  bool others =
      std::ranges::any_of(table->rows, [&](const report::Row &row) { return patterns.matches(row.dispatch()); });
  if (others)
    return notFound("--dispatches={} matches no rows of --provider={}, only of others", flags.dispatches,
                    flags.provider);
  return notFound("--dispatches={} matches none of {}{}", flags.dispatches, counted(table->rows.size(), "row"),
                  nearestText(flags.dispatches, namesOf(*table)));
}

static Result<report::Table> loadSelected(store::Reader &reader, const ReportFlags &flags) {
  KILN_ASSIGN_OR_RETURN(report::Filter filter, flags.filter());
  Result<report::Table> table = report::loadTable(reader, filter);
  // Groups that are not finished are no rows.
  bool none = table.ok() ? table->rows.empty() : table.status().code() == StatusCode::NotFound;
  if (!none && !flags.dispatches.empty())
    KILN_RETURN_IF_ERROR(checkPatterns(flags.dispatches, namesOf(*table)));
  if (!none || (flags.provider.empty() && flags.dispatches.empty()))
    return table;
  return explainNoRows(reader, flags, table.ok() ? notFound("no results fit") : std::move(table).status());
}

static Status writeTable(store::Reader &reader, const report::Table &table, const report::Format &format,
                         report::FormatOptions options, const std::string &path, bool append) {
  if (format.name == "html") {
    KILN_ASSIGN_OR_RETURN(options.distributions, report::loadDistributions(reader, table));
  }
  if (append && format.name == "csv") {
    Result<Ref<FileContents>> old = FileContents::open(path);
    if (old.ok()) {
      Result<std::string> more = report::appendCsv(table, options, (*old)->text());
      if (!more.ok())
        return std::move(more).status().withContext(path);
      return writeFile(path, std::string((*old)->text()) + *more);
    }
  }
  KILN_ASSIGN_OR_RETURN(std::string text, format.write(table, options));
  return writeFile(path, text);
}

static Status writeAll(store::Reader &reader, const report::Table &table, const std::vector<std::string> &outputs,
                       const std::vector<std::string> &columns, bool append, std::string_view asked = {}) {
  for (const std::string &path : outputs) {
    KILN_ASSIGN_OR_RETURN(const report::Format *format, report::formatFor(path, asked));
    report::FormatOptions options;
    options.columns = columns;
    KILN_RETURN_IF_ERROR(writeTable(reader, table, *format, options, path, append));
    print(fmt::format("Writing performance report to {}\n", path));
  }
  return okStatus();
}

Status writeReports(const Lab &lab, const std::string &run, bool asBlocks) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(lab.folder.database()));
  report::Filter filter;
  filter.runs = {run};
  KILN_ASSIGN_OR_RETURN(report::Table table, report::loadTable(*reader, filter));
  report::FormatOptions options;
  options.width = consoleWidth();
  KILN_ASSIGN_OR_RETURN(std::string text,
                        asBlocks ? report::formatBlocks(table, options) : report::formatConsole(table, options));
  print(text);
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  return writeAll(*reader, table, lab.flags.outputs, {}, lab.flags.append);
}

static std::vector<std::string> namesIn(const std::vector<std::string> &lists) {
  std::vector<std::string> names;
  for (const std::string &list : lists)
    for (std::string_view name : split(list, ','))
      names.emplace_back(name);
  return names;
}

static void listColumns() {
  HelpText help;
  help.heading("Columns");
  for (const report::Column &column : report::columns())
    help.item(std::string(column.name), std::string(column.docs));
  print(help.text());
}

Result<int> verbs::report(const Lab &lab, const ReportFlags &flags) {
  std::vector<std::string> columns = namesIn(flags.columns);
  if (columns == std::vector<std::string>{"help"}) {
    listColumns();
    return 0;
  }
  if (flags.append)
    KILN_RETURN_IF_ERROR(checkAppends(flags.outputs, flags.format));
  KILN_ASSIGN_OR_RETURN(const report::Format *format, report::findFormat(flags.shownFormat()));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  KILN_ASSIGN_OR_RETURN(report::Table table, loadSelected(*reader, flags));
  if (!flags.outputs.empty()) {
    KILN_RETURN_IF_ERROR(writeAll(*reader, table, flags.outputs, columns, flags.append, flags.format));
    return 0;
  }
  report::FormatOptions options;
  options.width = consoleWidth();
  options.columns = std::move(columns);
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader->runs());
  options.otherRuns = runs.size() - std::min(runs.size(), table.runs.size());
  if (format->name == "html") {
    KILN_ASSIGN_OR_RETURN(options.distributions, report::loadDistributions(*reader, table));
  }
  KILN_ASSIGN_OR_RETURN(std::string text, format->write(table, options));
  print(text);
  return 0;
}

// Of tables whose rows come alone; those of the others come with one of these.
struct RowName {
  std::string_view table, noun, what;
};
static constexpr RowName kRowNames[] = {{"grp", "problem", " begun"},
                                        {"grp_end", "problem", " finished"},
                                        {"grp_interrupted", "problem", " interrupted"},
                                        {"result", "result", ""},
                                        {"round", "round", ""},
                                        {"run_end", "end", " of a run"}};

// "1 new run", "no run that is new; in known runs: 2 problems finished, 8 results, 40 rounds"
static std::string mergedText(const store::MergedFacts &facts) {
  std::vector<std::string> rows;
  for (const auto &[table, noun, what] : kRowNames)
    if (auto found = facts.rowsOfKnownRuns.find(table); found != facts.rowsOfKnownRuns.end())
      rows.push_back(counted(found->second, noun) + std::string(what));
  return (facts.runs ? counted(facts.runs, "new run") : "no run that is new") +
         (rows.empty() ? "" : fmt::format("; in known runs: {}", fmt::join(rows, ", ")));
}

Result<int> verbs::merge(const Lab &lab, const ReportFlags &flags) {
  if (flags.arguments.empty())
    return invalidArgument("name the stores whose results to take: `kiln-dispatch merge other/generated/results.db`");
  std::string path = databaseOf(lab, flags);
  KILN_RETURN_IF_ERROR(store::Writer::checkMergeable(flags.arguments)); // else an empty store would stay
  store::WriterOptions options;
  options.allowNetwork = flags.allowNetworkStore;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Writer> writer, store::Writer::open(path, options));
  KILN_ASSIGN_OR_RETURN(std::vector<store::MergedFacts> added, writer->merge(flags.arguments));
  for (size_t i = 0; i < added.size(); ++i)
    print(fmt::format("{}: {}\n", flags.arguments[i], mergedText(added[i])));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, store::Reader::open(path));
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader->runs());
  print(fmt::format("{} in {}\n", counted(runs.size(), "run"), path));
  if (runs.size() > 1)
    print(fmt::format("`kiln-dispatch report --db={} --all-runs` shows them all\n", plainShellWord(path)));
  return 0;
}

// A table that is not there: which are.
static Status explainQuery(store::Reader &reader, Status status) {
  std::string text(status.message());
  constexpr std::string_view kNoTable = "no such table: ", kNoColumn = "no such column: ";
  if (text.starts_with(kNoColumn))
    return invalidArgument("{}; docs/store.md has the tables", text);
  if (!text.starts_with(kNoTable))
    return status;
  Result<store::QueryResult> tables = reader.query(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name");
  if (!tables.ok())
    return status;
  std::vector<std::string> names;
  for (const std::vector<std::string> &row : tables->rows)
    names.push_back(row.front());
  return invalidArgument("{}; there are: {}{}", text, fmt::join(names, ", "),
                         report::suggestion(text.substr(kNoTable.size()), names));
}

Result<int> verbs::query(const Lab &lab, const ReportFlags &flags) {
  if (flags.arguments.size() != 1)
    return invalidArgument("write one statement: `kiln-dispatch query \"SELECT ...\"`; docs/store.md has the tables");
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<store::Reader> reader, openStore(lab, flags));
  Result<store::QueryResult> answer = reader->query(flags.arguments.front());
  if (!answer.ok())
    return explainQuery(*reader, std::move(answer).status());
  const store::QueryResult &result = *answer;
  std::string text;
  // On a terminal, control characters of stored text are not printed; another program gets all of it.
  bool onTerminal = isatty(STDOUT_FILENO) == 1;
  auto addLine = [&](const std::vector<std::string> &fields) {
    for (size_t i = 0; i < fields.size(); ++i)
      text += (i ? "\t" : "") + (onTerminal ? plainLine(fields[i]) : fields[i]);
    text += "\n";
  };
  addLine(result.columns);
  for (const std::vector<std::string> &row : result.rows)
    addLine(row);
  print(text);
  return 0;
}

} // namespace kiln
