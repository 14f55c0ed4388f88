// What tensors hold while a candidate is timed, and what outputs hold before one is verified.
#ifndef KILN_MEASURE_WORKERS_TIMING_DATA_H
#define KILN_MEASURE_WORKERS_TIMING_DATA_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/measure/workload.h"

namespace kiln::measure {

// Random numbers, the same for the same seed: floats uniform in [-1, 1), of the narrow types 4096 equally likely ones;
// i1 0 or 1; 8-bit integers any value; wider ones uniform in [-1000, 1000], unsigned ones in [0, 2000].
void fillForTiming(uint64_t seed, const MutableTensor &tensor);
// The same for an input of a problem: without signs where it takes no negative numbers.
void fillForTiming(const Problem &problem, uint64_t seed, const MutableTensor &tensor);
// The sentence above for one type: "uniform in [-1, 1)".
std::string timingDistribution(io::ElementType type);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_TIMING_DATA_H
