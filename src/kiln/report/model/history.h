// One dispatch over time: what each run said of it, and what changed from run to run.
#ifndef KILN_REPORT_MODEL_HISTORY_H
#define KILN_REPORT_MODEL_HISTORY_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/report/model/compare.h"
#include "kiln/report/model/table.h"

namespace kiln::report {

struct HistoryEntry {
  const Row *row = nullptr;
  // To the runs before of the same candidate that were made in the same way, from the last one that changed something
  // on; nothing where there are none.
  std::optional<measure::Change> change;
  Verdict verdict = Verdict::Same; // of that change, with a confidence of 95 %
  // The same code as in the run before, so that the change from that run alone is told, as in a Comparison, and not
  // judged.
  bool control = false;
  // What was done otherwise than in the run before, so that there is no change to tell.
  std::string difference;

  std::optional<TimeRatio> ratio() const { return change ? std::optional(ratioOf(*change)) : std::nullopt; }
};

struct History {
  std::vector<std::unique_ptr<Table>> runs; // each with all of its rows, which hold the controls; oldest first
  std::vector<HistoryEntry> entries;        // oldest first
};

// Of all runs. NotFound where none has the dispatch.
Result<History> loadHistory(store::Reader &reader, const std::string &dispatch);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_HISTORY_H
