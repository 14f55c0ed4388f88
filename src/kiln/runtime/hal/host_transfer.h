// Fills and copies in host memory, for drivers whose device addresses it.
#ifndef KILN_RUNTIME_HAL_HOST_TRANSFER_H
#define KILN_RUNTIME_HAL_HOST_TRANSFER_H

#include "kiln/base/call_limit.h"

#include <cstdint>

namespace kiln::hal {

// Both end where the call that they work for is over, within some milliseconds, and give its status then. Null: it has
// no limit.

// Repeats the low `width` bytes (1, 2, 4 or 8) of `pattern`, low first, over `length` bytes, a multiple of the width.
// The target may have any alignment.
Status fillHostMemory(void *target, uint64_t length, uint64_t pattern, uint32_t width, const CallLimit *limit);

// The two do not overlap.
Status copyHostMemory(void *target, const void *source, uint64_t length, const CallLimit *limit);

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HOST_TRANSFER_H
