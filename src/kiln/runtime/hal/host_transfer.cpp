#include "kiln/runtime/hal/host_transfer.h"

#include <algorithm>
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

// Between two questions whether the call is over; a multiple of every pattern's width.
static constexpr uint64_t kStretch = 16 << 20;

// Calls `transfer(offset, length)` for one stretch after another.
template <typename Transfer> static Status inStretches(uint64_t length, const CallLimit *limit, Transfer transfer) {
  uint64_t most = limit ? kStretch : length;
  for (uint64_t offset = 0; offset < length; offset += most) {
    if (limit && limit->isOver())
      return limit->status();
    transfer(offset, std::min(most, length - offset));
  }
  return okStatus();
}

static void fill(unsigned char *bytes, uint64_t length, uint64_t wide) {
  if (wide == (wide & 0xFF) * 0x0101010101010101u) {
    std::memset(bytes, int(wide & 0xFF), length);
    return;
  }
  uint64_t i = 0;
  for (; i + 8 <= length; i += 8)
    std::memcpy(bytes + i, &wide, 8);
  std::memcpy(bytes + i, &wide, length - i);
}

Status fillHostMemory(void *target, uint64_t length, uint64_t pattern, uint32_t width, const CallLimit *limit) {
  auto *bytes = static_cast<unsigned char *>(target);
  uint64_t wide = widen(pattern, width);
  return inStretches(length, limit, [&](uint64_t offset, uint64_t part) { fill(bytes + offset, part, wide); });
}

Status copyHostMemory(void *target, const void *source, uint64_t length, const CallLimit *limit) {
  auto *to = static_cast<std::byte *>(target);
  const auto *from = static_cast<const std::byte *>(source);
  return inStretches(length, limit,
                     [&](uint64_t offset, uint64_t part) { std::memcpy(to + offset, from + offset, part); });
}

} // namespace kiln::hal
