// The columns of a model's report, each declared once: the table, CSV, JSON and the page go through this list.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_COLUMNS_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_COLUMNS_H

#include <span>
#include <string>
#include <vector>

#include "kiln/report/columns/columns.h"
#include "kiln/tools/bench_model/model_report.h"

namespace kiln {

// Where readers find a column: in all tables, where it depends on the measurement, on the page alone, or in files
// alone.
enum class Shown { Always, WithItems, WithoutItems, OnDevices, OnPage, InFiles };

struct ModelColumn {
  const char *csv;  // SHARK's runner gave those names that its files have; empty: not there
  const char *json; // empty: not there
  const char *header;
  report::Unit unit;
  report::Value (*value)(const ModelReport &, const ModelRow &);
  Shown shown = Shown::InFiles;
  int place = 0;           // among those that readers find, from the left
  int width = 0;           // of the table's cells
  bool ofFailures = false; // a runtime without numbers has it, too
};

// SHARK's first, in their order, then Kiln's.
std::span<const ModelColumn> modelColumns();
// Those that a reader of these reports wants, in their places: in a terminal, or on a page, which is wider.
enum class Medium { Terminal, Page };
std::vector<const ModelColumn *> columnsForReaders(std::span<const ModelReport> reports, Medium medium);
// Its header; that of the items' rate is their name.
std::string headerOf(const ModelColumn &column, const ModelReport &report);
// Nothing where the row has no such value.
report::Value valueOf(const ModelColumn &column, const ModelReport &report, const ModelRow &row);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_COLUMNS_H
