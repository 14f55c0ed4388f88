// What a model is called with: the user's tensors, or random ones of the shapes that the model takes.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H

#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/vm/session.h"

namespace kiln {

// Writes a .npy file into the folder for each of the function's inputs, and gives their paths. `specs` are those of
// --input: none, or one for each. One without a value, 1x3x224x224xf32, is random: floats of mean 0 and deviation 1,
// integers from 0 to `largest`.
Result<std::vector<std::string>> writeInputs(const vm::Function &function, const std::vector<std::string> &specs,
                                             uint64_t seed, uint64_t largest, const std::string &folder);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H
