// What a model is called with: the user's tensors, or random ones of the shapes that the model takes.
#ifndef KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H
#define KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/element_type.h"
#include "kiln/runtime/vm/session.h"

namespace kiln {

struct ModelInput {
  std::string path;     // a .npy file
  std::string spec;     // as --input gave it, or the model: "1x128xi64=1"
  std::string typeText; // "1x128xi64"
  hal::ElementType type = {};
  std::vector<uint64_t> shape;
};

struct InputOptions {
  std::vector<std::string> specs; // those of --input: none, or one for each
  uint64_t seed = 1;
  uint64_t largest = 99; // random integers are 0 to this
  // Stands for N in specs, and for an open extent of an input without a spec that has one; of a model with a length.
  std::optional<uint64_t> length;
};

// Writes a .npy file into the folder for each of the function's inputs. One without a value, 1x3x224x224xf32, is
// random: floats of mean 0 and deviation 1.
Result<std::vector<ModelInput>> writeInputs(const vm::Function &function, const InputOptions &options,
                                            const std::string &folder);

// Of "64,128,256": ascending or not, each at least 1. None of an empty text.
Result<std::vector<uint64_t>> parseLengths(const std::string &list);

// How many things a call is about, and what they are called.
struct CallItems {
  uint64_t count = 0;  // 0: not known
  std::string name;    // "tokens"
  std::string because; // why, where nobody said so; empty where somebody did
};
// Of a call with these inputs, where their shapes say it: a first input of integers and of rank 2 has tokens, one of
// floats and of rank 4 with at most four channels has images.
CallItems itemsOf(const std::vector<ModelInput> &inputs);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_MODEL_INPUTS_H
