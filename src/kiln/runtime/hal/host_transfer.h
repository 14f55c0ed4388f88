// Fills and copies in host memory, for drivers whose device addresses it.
#ifndef KILN_RUNTIME_HAL_HOST_TRANSFER_H
#define KILN_RUNTIME_HAL_HOST_TRANSFER_H

#include <cstdint>

namespace kiln::hal {

// Repeats the low `width` bytes (1, 2, 4 or 8) of `pattern`, low first, over `length` bytes, a multiple of the width.
// The target may have any alignment.
void fillHostMemory(void *target, uint64_t length, uint64_t pattern, uint32_t width);

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HOST_TRANSFER_H
