// Random numbers that are the same for the same seed on every machine and with every standard library.
#ifndef KILN_BASE_RANDOM_H
#define KILN_BASE_RANDOM_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "kiln/base/random_bits.h"

namespace kiln {

// The next number of the stream that `state` stands for (SplitMix64).
inline uint64_t nextBits(uint64_t &state) {
  uint64_t bits = state += 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

// A stream, for what is drawn one after the other.
class Random {
public:
  // Streams of neighbouring seeds must not be one stream, shifted: hence the first step.
  explicit Random(uint64_t seed) : state(seed ^ 0x5851F42D4C957F2D) { state = bits(); }

  uint64_t bits() { return nextBits(state); }
  // Below `count`, which is positive.
  size_t below(size_t count) { return static_cast<size_t>(bits() % count); }
  // In [0, 1).
  double uniform() { return fraction(bits()); }
  // Of mean 0 and standard deviation 1.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  uint64_t state;
};

} // namespace kiln

#endif // KILN_BASE_RANDOM_H
