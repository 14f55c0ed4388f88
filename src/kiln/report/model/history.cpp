#include "kiln/report/model/history.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace kiln::report {

static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : "; ") + part;
  return text;
}

static std::string differenceOf(const Row &before, const Row &after) {
  store::Run earlier = *before.run, later = *after.run;
  earlier.machine = before.machine();
  later.machine = after.machine();
  std::vector<std::string> differences = differencesOf(earlier, later);
  if (std::string other = problemDifference(*before.problem, *after.problem); !other.empty())
    differences.push_back(std::move(other));
  uint64_t was = before.candidate->threads, is = after.candidate->threads;
  if (was != is)
    differences.push_back(fmt::format("threads differ: '{}' before, '{}' after", was, is));
  return joined(differences);
}

namespace {
// The newest runs of a candidate between which nothing changed.
struct Level {
  std::vector<const Table *> runs;
  const Row *last = nullptr;
};
} // namespace

// Judges the entry against the level, which then goes on with it or begins anew.
static void judge(HistoryEntry &entry, const Table &run, Level &level) {
  constexpr size_t most = 10; // older runs say little of what the machine does now
  if (level.last) {
    entry.difference = differenceOf(*level.last, *entry.row);
    const Table *after[] = {&run};
    entry.control = entry.difference.empty() && isSameCode(*level.last, *entry.row);
    const Runs before = entry.control ? Runs(level.runs).last(1) : Runs(level.runs);
    if (entry.difference.empty())
      entry.change = changeOf(*entry.row, before, after);
    if (entry.change && !entry.control)
      entry.verdict = verdictOf(ratioOf(*entry.change));
    if (!entry.difference.empty() || entry.verdict != Verdict::Same)
      level.runs.clear();
  }
  level.last = entry.row;
  if (level.runs.size() == most)
    level.runs.erase(level.runs.begin());
  level.runs.push_back(&run);
}

Result<History> loadHistory(store::Reader &reader, const std::string &dispatch) {
  Filter filter;
  filter.allRuns = true;
  filter.dispatch = "^" + literally(dispatch) + "$";
  Result<Table> found = loadTable(reader, filter);
  if (!found.ok() && found.status().code() != StatusCode::NotFound)
    return std::move(found).status();
  if (!found.ok() || found->rows.empty())
    return notFound("no run has a dispatch '{}'; `kiln-dispatch report --all-runs --columns=dispatch` lists them",
                    dispatch);
  std::map<std::string, int64_t> runs; // those that have it, by key
  for (const Row &row : found->rows)
    runs.emplace(row.run->key(), row.run->started);

  History history;
  std::map<const Row *, const Table *> tables;
  for (const auto &[key, started] : runs) {
    Filter whole;
    whole.runs = {key};
    KILN_ASSIGN_OR_RETURN(Table table, loadTable(reader, whole));
    history.runs.push_back(std::make_unique<Table>(std::move(table)));
    for (const Row &row : history.runs.back()->rows)
      if (row.dispatch() == dispatch) {
        tables[&row] = history.runs.back().get();
        history.entries.emplace_back().row = &row;
      }
  }
  std::ranges::sort(history.runs, {}, [](const auto &table) { return table->runs.front().started; });
  std::ranges::sort(history.entries, {}, [](const HistoryEntry &entry) {
    return std::tuple(entry.row->group->started, entry.row->run->started, entry.row->name());
  });
  std::map<std::string, Level> levels; // variants are other candidates, and devices other machines
  for (HistoryEntry &entry : history.entries)
    if (entry.row->estimate && entry.row->estimate->median > 0)
      judge(entry, *tables[entry.row], levels[entry.row->provider() + "\n" + entry.row->device]);
  return history;
}

} // namespace kiln::report
