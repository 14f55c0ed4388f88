#include <algorithm>

#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

static std::string quoted(std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(cell);
  std::string text = "\"";
  for (char c : cell) {
    if (c == '"')
      text += '"';
    text += c;
  }
  return text + '"';
}

// Names of all tags of all runs, in the order in which they come.
static std::vector<std::string> tagNames(const Table &table) {
  std::vector<std::string> names;
  for (const store::StoredRun &run : table.runs)
    for (const auto &[name, value] : run.tags)
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  return names;
}

static std::string tagOf(const Row &row, const std::string &name) {
  for (const auto &[tag, value] : row.run->tags)
    if (tag == name)
      return value;
  return {};
}

namespace {
struct CsvText {
  std::string header, rows;
};
} // namespace

static Result<CsvText> csvText(const Table &table, const FormatOptions &options) {
  KILN_ASSIGN_OR_RETURN(std::vector<const Column *> columns, columnsOf(options));
  std::vector<std::string> tags = tagNames(table);
  CsvText csv;
  auto add = [](std::string &line, std::string_view cell) {
    if (!line.empty() && line.back() != '\n')
      line += ',';
    line += quoted(cell);
  };
  for (const std::string &tag : tags)
    add(csv.header, tag);
  for (const Column *column : columns)
    add(csv.header, column->name);
  for (const Row &row : table.rows) {
    bool first = true;
    auto cell = [&](std::string_view text) {
      if (!std::exchange(first, false))
        csv.rows += ',';
      csv.rows += quoted(text);
    };
    for (const std::string &tag : tags)
      cell(tagOf(row, tag));
    for (const Column *column : columns)
      cell(rawText(column->value(row)));
    csv.rows += '\n';
  }
  return csv;
}

Result<std::string> formatCsv(const Table &table, const FormatOptions &options) {
  KILN_ASSIGN_OR_RETURN(CsvText csv, csvText(table, options));
  return csv.header + "\n" + csv.rows;
}

Result<std::string> appendCsv(const Table &table, const FormatOptions &options, std::string_view existing) {
  KILN_ASSIGN_OR_RETURN(CsvText csv, csvText(table, options));
  if (existing.empty())
    return csv.header + "\n" + csv.rows;
  std::string_view header = existing.substr(0, existing.find('\n'));
  if (header.ends_with('\r'))
    header.remove_suffix(1);
  if (header != csv.header)
    return failedPrecondition(
        "the CSV file has other columns or tags; write to a new file. It has:\n  {}\nand these are:"
        "\n  {}",
        header, csv.header);
  return (existing.ends_with('\n') ? "" : "\n") + csv.rows;
}

} // namespace kiln::report
