#include "kiln/runtime/hal/host_transfer.h"

#include <bit>
#include <cstring>

namespace kiln::hal {

static_assert(std::endian::native == std::endian::little, "patterns are little-endian in memory");

// The pattern at every width becomes one of eight bytes: the compiler turns the loop into wide stores.
static uint64_t widen(uint64_t pattern, uint32_t width) {
  switch (width) {
  case 1: return (pattern & 0xFF) * 0x0101010101010101u;
  case 2: return (pattern & 0xFFFF) * 0x0001000100010001u;
  case 4: return (pattern & 0xFFFFFFFF) * 0x0000000100000001u;
  default: return pattern;
  }
}

void fillHostMemory(void *target, uint64_t length, uint64_t pattern, uint32_t width) {
  uint64_t wide = widen(pattern, width);
  if (wide == (wide & 0xFF) * 0x0101010101010101u) {
    std::memset(target, int(wide & 0xFF), length);
    return;
  }
  auto *bytes = static_cast<unsigned char *>(target);
  uint64_t i = 0;
  for (; i + 8 <= length; i += 8)
    std::memcpy(bytes + i, &wide, 8);
  std::memcpy(bytes + i, &wide, length - i);
}

} // namespace kiln::hal
