#include "kiln/report/model/history.h"

#include <algorithm>
#include <map>

namespace kiln::report {

static std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : "; ") + part;
  return text;
}

static void compareWith(const Row &before, HistoryEntry &entry) {
  store::Run earlier = *before.run, later = *entry.row->run;
  earlier.machine = before.machine();
  later.machine = entry.row->machine();
  std::vector<std::string> differences = differencesOf(earlier, later);
  if (std::string other = problemDifference(*before.problem, *entry.row->problem); !other.empty())
    differences.push_back(std::move(other));
  uint64_t was = before.candidate->threads, is = entry.row->candidate->threads;
  if (was != is)
    differences.push_back(fmt::format("threads differ: '{}' before, '{}' after", was, is));
  entry.difference = joined(differences);
  if (!differences.empty())
    return;
  entry.change = ratioOf(before, *entry.row);
  entry.verdict = entry.change->high < 1 ? Verdict::Faster : entry.change->low > 1 ? Verdict::Slower : Verdict::Same;
}

// A dispatch's name as an expression that finds nothing else.
static std::string exactly(const std::string &name) {
  std::string text = "^";
  for (char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos)
      text += '\\';
    text += c;
  }
  return text + "$";
}

Result<History> loadHistory(store::Reader &reader, const std::string &dispatch) {
  History history;
  Filter filter;
  filter.allRuns = true;
  filter.dispatch = exactly(dispatch);
  Result<Table> table = loadTable(reader, filter);
  if (table.ok())
    history.table = *std::move(table);
  else if (table.status().code() != StatusCode::NotFound)
    return std::move(table).status();
  if (history.table.rows.empty())
    return notFound("no run has a dispatch '{}'; `kiln-dispatch report --all-runs --columns=dispatch` lists them",
                    dispatch);
  for (const Row &row : history.table.rows)
    history.entries.push_back({&row, {}, Verdict::Same, {}});
  std::ranges::sort(history.entries, [](const HistoryEntry &a, const HistoryEntry &b) {
    return std::pair(a.row->group->started, a.row) < std::pair(b.row->group->started, b.row);
  });
  // Variants are other candidates.
  std::map<std::string, const Row *> last;
  for (HistoryEntry &entry : history.entries) {
    if (!entry.row->estimate || entry.row->estimate->median <= 0 || !store::isSuccess(entry.row->result->outcome))
      continue;
    const Row *&before = last[entry.row->provider()];
    if (before)
      compareWith(*before, entry);
    before = entry.row;
  }
  return history;
}

} // namespace kiln::report
