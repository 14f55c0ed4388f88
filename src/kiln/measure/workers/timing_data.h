// What tensors hold while a candidate is timed, and what outputs hold before one is verified.
#ifndef KILN_MEASURE_WORKERS_TIMING_DATA_H
#define KILN_MEASURE_WORKERS_TIMING_DATA_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "kiln/measure/workload.h"

namespace kiln::measure {

// Random numbers, the same for the same seed: floats uniform in the range, of the narrow types 4096 equally likely
// ones; i1 0 or 1; 8-bit integers any value; wider ones uniform in [-1000, 1000], unsigned ones in [0, 2000]. Where
// rows become their extremum, i8, f16 and bf16, which have few numbers, are made otherwise: each row has a start of its
// own, and numbers that are a step farther away are less frequent by the same factor, up to the end of the type. So the
// extremum is another one in each row, and a farther one may always follow. Rows of f32, f16 and bf16 that are to
// differ have an offset and a scale of their own; so have no other types.
void fillForTiming(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &numbers = {});
// The sentences above for one type: "uniform in [-1, 1)".
std::string timingDistribution(io::ElementType type, const TimingNumbers &numbers = {});

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_TIMING_DATA_H
