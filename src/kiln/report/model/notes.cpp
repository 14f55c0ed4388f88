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

} // namespace kiln::report
