// What a reader has to know beside the numbers: what providers say of themselves, and what was cut short.
#ifndef KILN_REPORT_MODEL_NOTES_H
#define KILN_REPORT_MODEL_NOTES_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/report/model/table.h"

namespace kiln::report {

// The start of a run's key, as --run takes it.
std::string shortKey(const store::StoredRun &run);
// "onednn: all tensors in the problem's layouts": each once, in the order of the rows, of providers that have a row
// whose results count. A note that not all of the table's runs have of that provider says which do: "onednn (run
// 1a2b3c4d): ...".
std::vector<std::string> providerNotes(const Table &table);
// How Kiln's default configuration stands to the best one that was found for the problem, or that it ties with it: one
// line; empty where it did not take part, has no rank, or no other configuration has one.
std::string defaultNote(const ProblemRows &problem);
// That the device's clock moved in rounds of a problem, and what held it down: one line; empty where it did not, or
// nothing told it.
std::string clockNote(const ProblemRows &problem);
// Of a group whose rounds ended because their `seconds` were over: one line.
std::string cutNote(double seconds, size_t candidates, std::string_view flag = "--minutes");
// The same for a problem's rows; empty where its rounds had shown enough.
std::string cutNote(const ProblemRows &problem);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_NOTES_H
