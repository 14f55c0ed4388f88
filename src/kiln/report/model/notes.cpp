#include "kiln/report/model/notes.h"

#include <algorithm>

namespace kiln::report {

std::vector<std::string> providerNotes(const Table &table) {
  std::vector<std::string> notes;
  for (const Row &row : table.rows) {
    if (!row.result->worker || row.result->worker->note.empty())
      continue;
    std::string note = fmt::format("{}: {}", row.provider(), row.result->worker->note);
    if (std::ranges::find(notes, note) == notes.end())
      notes.push_back(std::move(note));
  }
  return notes;
}

std::string cutNote(double seconds, size_t candidates, std::string_view flag) {
  std::string text = fmt::format("time was up after {:.3g} s of rounds", seconds);
  return candidates > 1 ? fmt::format("{}: give more `{}` to settle ranks", text, flag) : text;
}

std::string cutNote(const ProblemRows &problem) {
  const Row &front = problem.front();
  if (!front.group->cutSeconds)
    return "";
  auto timed = std::count_if(problem.begin, problem.end, [](const Row &row) { return row.estimate != nullptr; });
  bool isTuning = std::ranges::any_of(front.run->tags, [](const auto &tag) { return tag.first == "tuning"; });
  return cutNote(*front.group->cutSeconds, static_cast<size_t>(timed), isTuning ? "--budget-minutes" : "--minutes");
}

} // namespace kiln::report
