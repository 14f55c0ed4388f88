#include "kiln/tools/dispatch/rows/stored_row.h"

#include <algorithm>
#include <iterator>

namespace kiln {

template <typename Wanted>
static const report::Row *bestOf(const report::Table &table, const report::Row &of, const Wanted &wanted) {
  const report::Row *best = nullptr;
  for (const report::Row &row : table.rows)
    if (row.group == of.group && row.ranked() && wanted(row) &&
        (!best || row.estimate->rank < best->estimate->rank ||
         (row.estimate->rank == best->estimate->rank && row.estimate->median < best->estimate->median)))
      best = &row;
  return best;
}

const report::Row *StoredRow::leader() const {
  return bestOf(table, *row, [](const report::Row &) { return true; });
}

const report::Row *StoredRow::bestOfKiln() const {
  return bestOf(table, *row, [](const report::Row &r) { return r.candidate->provider == "kiln"; });
}

// Exactly one row; else an error, NotFound where there is none.
static Result<const report::Row *> rowIn(const report::Table &table, std::string_view name) {
  const report::Row *plain = nullptr;
  size_t plains = 0;
  for (const report::Row &row : table.rows)
    if (row.dispatch() == name && row.candidate->variant.empty()) {
      plain = &row;
      ++plains;
    }
  return plains == 1 ? Result<const report::Row *>(plain) : report::findRow(table, name);
}

static bool has(const report::Table &table, std::string_view name) {
  return std::ranges::any_of(table.rows, [&](const report::Row &row) {
    return !name.empty() && (row.name().starts_with(name) || row.dispatch() == name);
  });
}

Status checkOneRow(const std::vector<std::string> &arguments, std::string_view usage) {
  if (arguments.size() > 1)
    return invalidArgument("one row only: `kiln-dispatch {}`; '{}' is another", usage, arguments[1]);
  if (arguments.empty())
    return invalidArgument("say which row: `kiln-dispatch {}`; rows are named by the dispatch, or by the name that "
                           "`report --columns=row` shows",
                           usage);
  return okStatus();
}

std::vector<NamedProblem> namesOf(const report::Table &table) {
  std::vector<NamedProblem> names;
  for (const report::ProblemRows &problem : report::byProblem(table)) {
    NamedProblem &named = names.emplace_back(problem.front().problem->name, std::vector<std::string>());
    for (const report::Row *row = problem.begin; row != problem.end; ++row)
      named.dispatches.push_back(row->dispatch());
  }
  return names;
}

// Those of the problem of that name, in whichever runs; each once.
static std::vector<std::string> dispatchesOf(std::string_view problem, std::span<const NamedProblem> names) {
  std::vector<std::string> dispatches;
  for (const NamedProblem &named : names)
    if (named.problem == problem)
      for (const std::string &dispatch : named.dispatches)
        if (std::ranges::find(dispatches, dispatch) == dispatches.end())
          dispatches.push_back(dispatch);
  return dispatches;
}

std::string nearestRows(std::string_view name, std::span<const NamedProblem> names) {
  // A key of a row is not compared with names.
  bool key = name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (key)
    return "";
  constexpr size_t shownNames = 3, shownDispatches = 8;
  std::vector<std::string> rows = dispatchesOf(name, names);
  const bool isProblem = !rows.empty();
  if (!isProblem)
    for (const std::string &nearest : nearestDispatches(report::literally(name), names, shownNames)) {
      // A problem is no row, its dispatches are.
      std::vector<std::string> dispatches = dispatchesOf(nearest, names);
      if (dispatches.empty())
        rows.push_back(nearest);
      for (std::string &dispatch : dispatches)
        if (std::ranges::find(rows, dispatch) == rows.end())
          rows.push_back(std::move(dispatch));
    }
  const size_t shown = std::min(rows.size(), isProblem ? shownDispatches : shownNames);
  std::string text = rows.empty() ? "" : isProblem ? "; it is a problem, whose dispatches are:" : "; the nearest are:";
  for (size_t i = 0; i < shown; ++i)
    text += "\n  " + rows[i];
  if (isProblem && rows.size() > shown)
    text += fmt::format("\n  and {} more", rows.size() - shown);
  return text;
}

static Result<StoredRow> loadRun(store::Reader &reader, const report::Filter &filter) {
  StoredRow found;
  KILN_ASSIGN_OR_RETURN(found.table, report::loadTable(reader, filter));
  return found;
}

Result<StoredRow> findStoredRow(store::Reader &reader, const report::Filter &filter, std::string_view name) {
  if (filter.allRuns || !filter.runs.empty()) {
    KILN_ASSIGN_OR_RETURN(StoredRow found, loadRun(reader, filter));
    Result<const report::Row *> row = rowIn(found.table, name);
    if (!row.ok())
      return has(found.table, name) ? std::move(row).status()
                                    : notFound("{}{}", row.status().message(), nearestRows(name, namesOf(found.table)));
    found.row = *row;
    return found;
  }
  std::vector<NamedProblem> names;
  KILN_ASSIGN_OR_RETURN(std::vector<store::StoredRun> runs, reader.runs());
  for (size_t i = runs.size(); i-- > 0;) {
    report::Filter one = filter;
    one.runs = {runs[i].key()};
    Result<StoredRow> found = loadRun(reader, one);
    if (!found.ok() && found.status().code() == StatusCode::NotFound)
      continue; // nothing of it fits the filter
    if (!found.ok())
      return found;
    if (!has(found->table, name)) {
      std::ranges::move(namesOf(found->table), std::back_inserter(names));
      continue;
    }
    KILN_ASSIGN_OR_RETURN(found->row, rowIn(found->table, name));
    return found;
  }
  return notFound(
      "no row '{}' in any of {} runs; give a dispatch, or the start of what `report --columns=row,dispatch` "
      "shows{}",
      name, runs.size(), nearestRows(name, names));
}

} // namespace kiln
