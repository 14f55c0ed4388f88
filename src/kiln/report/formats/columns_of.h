// Which columns a format writes.
#ifndef KILN_REPORT_FORMATS_COLUMNS_OF_H
#define KILN_REPORT_FORMATS_COLUMNS_OF_H

#include <algorithm>
#include <vector>

#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"

namespace kiln::report {

// Those that the options name, or else all.
inline Result<std::vector<const Column *>> columnsOf(const FormatOptions &options) {
  std::vector<const Column *> chosen;
  for (const std::string &name : options.columns) {
    KILN_ASSIGN_OR_RETURN(const Column *column, findColumn(name));
    if (std::ranges::find(chosen, column) != chosen.end())
      return invalidArgument("column '{}' is named twice; write each once", name);
    chosen.push_back(column);
  }
  if (options.columns.empty())
    for (const Column &column : columns())
      chosen.push_back(&column);
  return chosen;
}

// Those that `wanted` takes, with what a reader looks for first (rank, who, time) before the rest.
inline std::vector<const Column *> columnsForReaders(bool (*wanted)(const Column &column)) {
  std::vector<const Column *> chosen;
  auto leads = [](const Column &c) { return c.console > 0 ? c.console <= 2 : c.page == Page::Shown; };
  for (bool leading : {true, false})
    for (const Column &column : columns())
      if (wanted(column) && leads(column) == leading)
        chosen.push_back(&column);
  return chosen;
}

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_COLUMNS_OF_H
