#include <algorithm>
#include <iterator>

#include "kiln/report/formats/columns_of.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"

namespace kiln::report {

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

// Of all cells of the header.
static std::vector<std::string> namesOf(const std::vector<std::string> &tags,
                                        const std::vector<const Column *> &columns) {
  std::vector<std::string> names = tags;
  for (const Column *column : columns)
    names.emplace_back(column->name);
  return names;
}

static std::string headerOf(const std::vector<std::string> &names) {
  std::string line;
  for (const std::string &name : names)
    line += (line.empty() ? "" : ",") + quotedCsv(name);
  return line;
}

static Result<CsvText> csvText(const Table &table, const FormatOptions &options) {
  KILN_ASSIGN_OR_RETURN(std::vector<const Column *> columns, columnsOf(options));
  std::vector<std::string> tags = tagNames(table);
  CsvText csv;
  csv.header = headerOf(namesOf(tags, columns));
  for (const Row &row : table.rows) {
    bool first = true;
    auto cell = [&](std::string_view text) {
      if (!std::exchange(first, false))
        csv.rows += ',';
      csv.rows += quotedCsv(text);
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

// "the column a", "3 columns (a, b, c)"
static std::string listText(const std::vector<std::string> &names) {
  constexpr size_t shown = 6;
  if (names.size() == 1)
    return "the column " + names.front();
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    text += (i ? ", " : "") + names[i];
  return fmt::format("{} columns ({}{})", names.size(), text, names.size() > shown ? ", ..." : "");
}

// Whether a file with rows of these columns begins as `existing` does; an error that says in what they differ.
static Status checkHeader(const std::vector<std::string> &names, std::string_view existing) {
  std::string_view header = existing.substr(0, existing.find('\n'));
  if (header.ends_with('\r'))
    header.remove_suffix(1);
  if (header == headerOf(names))
    return okStatus();
  // Names with commas or quotes are split here, which only makes the message less clear.
  std::vector<std::string> has, more, less;
  for (std::string_view rest = header; !rest.empty();) {
    size_t end = std::min(rest.find(','), rest.size());
    has.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  auto without = [](const std::vector<std::string> &all, const std::vector<std::string> &others) {
    std::vector<std::string> left;
    std::ranges::copy_if(all, std::back_inserter(left),
                         [&](const std::string &name) { return std::ranges::find(others, name) == others.end(); });
    return left;
  };
  more = without(has, names);
  less = without(names, has);
  std::string text;
  if (!less.empty())
    text += "lacks " + listText(less);
  if (!more.empty())
    text += fmt::format("{}has {}, which these rows have not", text.empty() ? "" : ", and ", listText(more));
  return failedPrecondition("the CSV file {}; write to a new file",
                            text.empty() ? "has the columns and tags in another order" : text);
}

Status checkAppend(const std::vector<std::string> &tags, const FormatOptions &options, std::string_view existing) {
  KILN_ASSIGN_OR_RETURN(std::vector<const Column *> columns, columnsOf(options));
  return existing.empty() ? okStatus() : checkHeader(namesOf(tags, columns), existing);
}

Result<std::string> appendCsv(const Table &table, const FormatOptions &options, std::string_view existing) {
  KILN_ASSIGN_OR_RETURN(CsvText csv, csvText(table, options));
  if (existing.empty())
    return csv.header + "\n" + csv.rows;
  KILN_RETURN_IF_ERROR(checkAppend(tagNames(table), options, existing));
  return (existing.ends_with('\n') ? "" : "\n") + csv.rows;
}

} // namespace kiln::report
