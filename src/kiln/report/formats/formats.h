// Ways to write a table. Each is a function of the table; this list is what a tool offers.
#ifndef KILN_REPORT_FORMATS_FORMATS_H
#define KILN_REPORT_FORMATS_FORMATS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/report/model/compare.h"
#include "kiln/report/model/table.h"

namespace kiln::report {

struct FormatOptions {
  size_t width = 80;                            // of the console, in characters
  std::string title = "Kiln";                   // of documents
  std::vector<Distribution> distributions = {}; // for the page: of each row, or none at all
  // Of the store, which the table does not have; a reader of the console is told of them.
  size_t otherRuns = 0;
  // Names of columns, for the console, CSV, JSON and Markdown; empty: what the format has by default.
  std::vector<std::string> columns = {};
};

struct Format {
  std::string_view name;      // "csv"
  std::string_view extension; // ".csv"
  std::string_view summary;   // for --help
  Result<std::string> (*write)(const Table &table, const FormatOptions &options);
};

std::span<const Format> formats();
// The error lists them.
Result<const Format *> findFormat(std::string_view name);
// By the extension of a file's name.
Result<const Format *> formatOfFile(std::string_view path);
// What a user asked for wins over the extension; empty: nothing was asked for.
Result<const Format *> formatFor(std::string_view path, std::string_view asked);

// Grouped by problem, best first, within the width; what failed is listed with its cause.
Result<std::string> formatConsole(const Table &table, const FormatOptions &options);
// The documents' blocks, between dashed lines.
Result<std::string> formatBlocks(const Table &table, const FormatOptions &options);
// RFC 4180 but for its line ends, which are \n. Tags stand first.
Result<std::string> formatCsv(const Table &table, const FormatOptions &options);
// {"runs":[...],"rows":[{...},...]}, numbers with all their digits.
Result<std::string> formatJson(const Table &table, const FormatOptions &options);
Result<std::string> formatMarkdown(const Table &table, const FormatOptions &options);
// A test suite for each problem, a case for each candidate.
Result<std::string> formatJunit(const Table &table, const FormatOptions &options);
// One HTML page, with everything that it needs in it.
Result<std::string> formatHtml(const Table &table, const FormatOptions &options);

// The block of one row, as it is printed while a sweep runs. Without the dashed line. What was found of the row is
// wrapped to `width`; 0: only where it has lines.
std::string blockOf(const Row &row, size_t width = 0);
inline constexpr std::string_view kBlockSeparator =
    "----------------------------------------------------------------\n";

// What to add to a CSV file that has `existing` in it: rows, without another header. FailedPrecondition where the file
// has other columns.
Result<std::string> appendCsv(const Table &table, const FormatOptions &options, std::string_view existing);

// Before there is a table: whether the rows of one whose runs have these tags can be added.
Status checkAppend(const std::vector<std::string> &tags, const FormatOptions &options, std::string_view existing);

// For a reader, at most `width` columns wide where names allow it. A regression is marked with !.
std::string formatComparison(const CompareReport &report, size_t width);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_FORMATS_H
