// The vectors of the CPU that this runs on, for families that offer configurations for it.
#ifndef KILN_MEASURE_VECTOR_WIDTH_H
#define KILN_MEASURE_VECTOR_WIDTH_H

#include <cstdint>

namespace kiln::measure {

int64_t hostVectorBits();

} // namespace kiln::measure

#endif // KILN_MEASURE_VECTOR_WIDTH_H
