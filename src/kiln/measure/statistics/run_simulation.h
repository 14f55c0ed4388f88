// Simulated runs of many groups, to see whether what is said of changes between runs is true. For tests only.
#ifndef KILN_MEASURE_STATISTICS_RUN_SIMULATION_H
#define KILN_MEASURE_STATISTICS_RUN_SIMULATION_H

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/measure/statistics/run_changes.h"
#include "kiln/measure/statistics/simulation.h"

namespace kiln::measure::simulation {

// What differs from run to run. Spreads are standard deviations of the logarithm; whatever is 0 does not happen.
struct RunNoise {
  std::string_view name;
  Noise within;               // what happens within a group
  double runShift = 0;        // of all times of a run
  double runMemory = 0;       // correlation of that shift with the shift of the run before
  double groupShift = 0;      // of all times of one group in a run
  double processShift = 0;    // of one candidate in a run
  double unequal = 0;         // of the factor by which a candidate's own noise, within and between runs, is larger
  double hiddenUnequal = 0;   // of such a factor between runs alone, of which nothing is seen within
  double slowShare = 0;       // of a run, in one piece, in which the machine is slower
  double slowdown = 0;        // by how much
  double slowdownUnequal = 0; // by how much candidates differ in that
};

// The models that every claim is tested under.
std::span<const RunNoise> runNoiseModels();

struct RunShape {
  size_t groups = 4, controls = 3, others = 2; // controls and others are of each group
  size_t before = 1, after = 1;                // runs
};

// Candidates with traits of their own, and runs of them. `planted` is the logarithm of the factor by which all that are
// no control are slower in the runs after. The same seed gives the same noise.
std::vector<RunSeries> playRuns(const RunNoise &noise, const RunShape &shape, double planted, uint64_t seed);

} // namespace kiln::measure::simulation

#endif // KILN_MEASURE_STATISTICS_RUN_SIMULATION_H
