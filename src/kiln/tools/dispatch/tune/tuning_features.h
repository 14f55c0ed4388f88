// Configurations as numbers, for the model of a tuning search.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNING_FEATURES_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNING_FEATURES_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/measure/workload.h"

namespace kiln {

// What of a machine the best configuration depends on. A GPU has multiprocessors for threads, and shared memory for L1.
struct TuningMachine {
  double threads = 1;
  double l1Bytes = 32 << 10, l2Bytes = 1 << 20;
  bool isGpu = false;

  // Of the machine that this runs on.
  static TuningMachine detect(uint32_t threads);
  // Of a target such as "cuda:sm_90a".
  static TuningMachine ofGpu(std::string_view target);
};

// How many of the numbers tell kinds of configurations apart: register tile, instructions, packing; on a GPU, where
// register tiles follow from them, instructions, tiles and clusters.
inline constexpr size_t kTuningKinds = 6;

// For each configuration of the space, which has its best guess first: its tiles, what the last tiles and the last
// workgroups leave idle, what has to stay in the caches, and how good a guess it is. A name that is no tile
// configuration is described by its place alone.
std::vector<std::vector<double>> tuningFeatures(const measure::Problem &problem, const std::vector<std::string> &space,
                                                const TuningMachine &machine);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNING_FEATURES_H
