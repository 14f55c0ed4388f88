// What tensors hold while a candidate is timed, and what outputs hold before one is verified.
#ifndef KILN_MEASURE_WORKERS_TIMING_DATA_H
#define KILN_MEASURE_WORKERS_TIMING_DATA_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/measure/workload.h"

namespace kiln::measure {

// Random numbers, the same for the same seed: floats uniform in `range`, of the narrow types 4096 equally likely ones;
// i1 0 or 1; 8-bit integers any value; wider ones uniform in [-1000, 1000], unsigned ones in [0, 2000].
void fillForTiming(uint64_t seed, const MutableTensor &tensor, NumberRange range = {});
// The sentence above for one type: "uniform in [-1, 1)".
std::string timingDistribution(io::ElementType type, NumberRange range = {});

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_TIMING_DATA_H
