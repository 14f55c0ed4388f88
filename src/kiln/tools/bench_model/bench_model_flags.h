// The flags of kiln-bench-model.
#ifndef KILN_TOOLS_BENCH_MODEL_BENCH_MODEL_FLAGS_H
#define KILN_TOOLS_BENCH_MODEL_BENCH_MODEL_FLAGS_H

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/tools/runtime_flags.h"

namespace kiln {

struct BenchModelFlags {
  RuntimeFlags runtime;
  std::vector<std::string> models, compileFlags;
  std::string lengths, against = "none", peersDir, format, output, items = "auto", itemName, store, fromStore,
                       storedRun = "latest";
  uint32_t threads = 0, rounds = 9;
  double seconds = 0.5, contestSeconds = 0.5, tolerance = 1e-3, answerSeconds = 600;
  bool perDispatch = false, fresh = false, allowNetworkStore = false;
  uint64_t seed = 1, largest = 99, batch = 1, tokens = 0;

  void add(FlagParser &parser);
  // Whether they fit together, with --format as --output's name says it where it is not given.
  Status check();
};

// The runtimes that --against names.
Result<std::vector<std::string>> rivalsOf(const std::string &list);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_BENCH_MODEL_FLAGS_H
