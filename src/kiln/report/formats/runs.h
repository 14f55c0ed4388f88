// Which run something is of, for reports of several.
#ifndef KILN_REPORT_FORMATS_RUNS_H
#define KILN_REPORT_FORMATS_RUNS_H

#include <string>
#include <vector>

#include "kiln/report/model/table.h"

namespace kiln::report {

// Of one run there is nothing to tell apart.
bool severalRuns(const Table &table);
// Those that have a row in the table; all where none has, as none is finished.
std::vector<const store::StoredRun *> runsWithRows(const Table &table);
// "branch:main, commit:1a2b"; empty where there are none.
std::string tagsText(const store::StoredRun &run);
// "run 1a2b3c4d of 2026-11-21 12:20:00 UTC, tags branch:main": what --run takes, and what a reader knows it by.
std::string runText(const store::StoredRun &run);
// What a look at the machine found when the run began, as a sentence; of several runs it says which. Empty where there
// was nothing to warn of.
std::string beginText(const store::StoredRun &run, bool several);

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_RUNS_H
