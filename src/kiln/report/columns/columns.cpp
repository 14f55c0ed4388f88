#include "kiln/report/columns/columns.h"

#include <algorithm>

#include "kiln/report/model/suggestion.h"

namespace kiln::report {

static std::vector<Column> collect() {
  std::vector<Column> all;
  for (std::span<const Column> part : {documentColumns(), measuredColumns(), counterColumns(), deviceColumns(),
                                       configurationColumns(), provenanceColumns()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::span<const Column> columns() {
  static const std::vector<Column> all = collect();
  return all;
}

size_t documentColumnCount() {
  return documentColumns().size();
}

Result<const Column *> findColumn(std::string_view name) {
  std::vector<std::string> names;
  const Column *byHeader = nullptr;
  for (const Column &column : columns()) {
    if (column.name == name)
      return &column;
    if (column.header == name && !byHeader)
      byHeader = &column;
    names.emplace_back(column.name);
  }
  if (byHeader)
    return byHeader;
  const std::string nearest = suggestion(name, names);
  return notFound("there is no column '{}'{}", name, nearest.empty() ? "; --columns=help lists them" : nearest);
}

Value textOrNothing(std::string_view text) {
  return text.empty() ? Value() : Value(std::string(text));
}

double relativeError(const Estimate &estimate) {
  return estimate.median > 0 ? (estimate.high - estimate.low) / 2 / estimate.median : -1;
}

bool isNoisy(const Estimate &estimate) {
  constexpr double most = 0.2;
  return std::max(estimate.high - estimate.median, estimate.median - estimate.low) > most * estimate.median;
}

} // namespace kiln::report
