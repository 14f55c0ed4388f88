// One dispatch over time: what each run said of it, and what changed from run to run.
#ifndef KILN_REPORT_MODEL_HISTORY_H
#define KILN_REPORT_MODEL_HISTORY_H

#include <optional>
#include <string>
#include <vector>

#include "kiln/report/model/compare.h"
#include "kiln/report/model/table.h"

namespace kiln::report {

struct HistoryEntry {
  const Row *row = nullptr;
  // To the run before of the same candidate that has a time and was made in the same way; nothing where there is none.
  std::optional<TimeRatio> change;
  Verdict verdict = Verdict::Same; // of that change
  // What was done otherwise than in the run before, so that there is no change to tell.
  std::string difference;
};

struct History {
  Table table;
  std::vector<HistoryEntry> entries; // oldest first
};

// Of all runs. NotFound where none has the dispatch.
Result<History> loadHistory(store::Reader &reader, const std::string &dispatch);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_HISTORY_H
