// A call of the tool as a store keeps it: where it ran, what was asked for, and what it is resumed by.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_RUN_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_RUN_H

#include <map>
#include <string>

#include "kiln/base/status.h"
#include "kiln/tools/bench_model/bench_model_flags.h"
#include "kiln/tools/bench_model/model_measurement.h"

namespace kiln {

// Two runs with equal models and flags have the same sweep. `hashes` are of the models' files, by their paths.
ModelRun describeRun(const BenchModelFlags &flags, const std::string &commandLine,
                     const std::map<std::string, std::string> &hashes);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_RUN_H
