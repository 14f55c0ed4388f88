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

std::string cutNote(double seconds) {
  return fmt::format("time was up after {:.3g} s of rounds: give more `--minutes` to settle ranks", seconds);
}

std::string cutNote(const ProblemRows &problem) {
  const std::optional<double> &seconds = problem.front().group->cutSeconds;
  return seconds ? cutNote(*seconds) : std::string();
}

} // namespace kiln::report
