// What a worker claims that the CPU counted, held against what a processor can do in the time that passed.
#ifndef KILN_MEASURE_WORKERS_COUNT_CLAIMS_H
#define KILN_MEASURE_WORKERS_COUNT_CLAIMS_H

#include <cstdint>

#include "kiln/base/status.h"
#include "kiln/measure/machine/call_counters.h"

namespace kiln::measure {

// An error says what is claimed and how much is possible in so many nanoseconds on so many threads: each thread 10
// cycles a nanosecond, 10 instructions and one cache miss a cycle, and 4096 floating-point operations a cycle, twice
// what the widest matrix unit of a core does. No processor comes near any of these.
Status checkCounts(const CallCounts &counts, uint64_t elapsedNanoseconds, uint32_t threads);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_COUNT_CLAIMS_H
