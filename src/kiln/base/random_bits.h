// The part of random.h that needs no standard library: GPU code is compiled from it, too.
#ifndef KILN_BASE_RANDOM_BITS_H
#define KILN_BASE_RANDOM_BITS_H

#include <stdint.h>

namespace kiln {

// A bijection that changes half of all bits when one bit of `x` changes.
inline uint64_t scramble(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

// 64 bits for each (key, a, b), independent for all practical purposes.
inline uint64_t randomBits(uint64_t key, uint64_t a, uint64_t b = 0) {
  return scramble(key + a * 0x9E3779B97F4A7C15u + scramble(b + 0xA0761D6478BD642Fu));
}

// A number in [0, 1) from random bits.
inline double fraction(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace kiln

#endif // KILN_BASE_RANDOM_BITS_H
