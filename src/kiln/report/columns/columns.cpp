#include "kiln/report/columns/columns.h"

#include <algorithm>

namespace kiln::report {

static std::vector<Column> collect() {
  std::vector<Column> all;
  for (std::span<const Column> part :
       {documentColumns(), measuredColumns(), counterColumns(), configurationColumns(), provenanceColumns()})
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

// How many characters at the start two names share; upper and lower case are the same.
static size_t sharedStart(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  size_t count = 0;
  while (count < a.size() && count < b.size() && lower(a[count]) == lower(b[count]))
    ++count;
  return count;
}

Result<const Column *> findColumn(std::string_view name) {
  const Column *nearest = nullptr;
  size_t shared = 0;
  for (const Column &column : columns()) {
    if (column.name == name)
      return &column;
    if (size_t same = sharedStart(column.name, name); same > shared) {
      nearest = &column;
      shared = same;
    }
  }
  if (nearest)
    return notFound("there is no column '{}'; did you mean '{}'?", name, nearest->name);
  return notFound("there is no column '{}'", name);
}

Value textOrNothing(std::string_view text) {
  return text.empty() ? Value() : Value(std::string(text));
}

double relativeError(const store::Estimate &estimate) {
  return estimate.median > 0 ? (estimate.high - estimate.low) / 2 / estimate.median : -1;
}

bool isNoisy(const store::Estimate &estimate) {
  constexpr double most = 0.2;
  return relativeError(estimate) > most;
}

} // namespace kiln::report
