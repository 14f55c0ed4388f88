// Reports of models as one HTML page that needs nothing else: bars with their intervals, tables, where Kiln's time
// goes, and where and how it was measured.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_PAGE_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_PAGE_H

#include <span>
#include <string>

#include "kiln/tools/bench_model/model_report.h"

namespace kiln {

// The reports of one model with several lengths stand one after the other.
std::string modelPage(const ModelRun &run, std::span<const ModelReport> reports);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_PAGE_H
