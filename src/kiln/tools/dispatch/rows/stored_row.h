// The row that a user names on a command line: explain, show, repro, history.
#ifndef KILN_TOOLS_DISPATCH_ROWS_STORED_ROW_H
#define KILN_TOOLS_DISPATCH_ROWS_STORED_ROW_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/report/model/table.h"
#include "kiln/tools/dispatch/nearest_names.h"

namespace kiln {

// A row with the run that it is of; `row` points into `table`.
struct StoredRow {
  report::Table table;
  const report::Row *row = nullptr;

  // Of the same group: the one with rank 1, and of Kiln's the one with the best rank. Null where there is none.
  const report::Row *leader() const;
  const report::Row *bestOfKiln() const;
};

// That a command line names one row; `usage` is "explain <row>" and the like.
Status checkOneRow(const std::vector<std::string> &arguments, std::string_view usage);

// What the table's dispatches are called, for an error that lists the nearest.
std::vector<NamedProblem> namesOf(const report::Table &table);

// nearestText() for a row that a user named.
std::string nearestRows(std::string_view name, std::span<const NamedProblem> names);

// By a dispatch, or by the start of a row's key. Without runs in the filter, of the newest run that has such a row.
// A dispatch that was compiled in several ways is the plain one. Where there is none the error lists the nearest.
Result<StoredRow> findStoredRow(store::Reader &reader, const report::Filter &filter, std::string_view name);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_ROWS_STORED_ROW_H
