// Arithmetic modulo the prime 2^61-1. Everything is a function of its arguments: two runs with the same seed project
// onto the same vectors.
#ifndef KILN_MEASURE_VERIFY_FIELD_H
#define KILN_MEASURE_VERIFY_FIELD_H

#include <cstdint>
#include <vector>

#include "kiln/base/random.h"

namespace kiln::measure::verify {

__extension__ using Int128 = __int128;

using kiln::randomBits;
using kiln::scramble;

inline constexpr int64_t kPrime = (int64_t(1) << 61) - 1;

// The element of the field that equals `sum`, in [0, kPrime).
inline int64_t reduce(Int128 sum) {
  auto rest = static_cast<int64_t>(sum % kPrime);
  return rest < 0 ? rest + kPrime : rest;
}

// `count` elements of the field, each uniform in [0, kPrime): what is not less than kPrime is drawn again.
inline std::vector<int64_t> randomFieldVector(uint64_t key, int64_t count) {
  std::vector<int64_t> vector(count);
  uint64_t draw = 0;
  for (int64_t &element : vector) {
    do
      element = static_cast<int64_t>(scramble(key + ++draw * 0x9E3779B97F4A7C15u) >> 3);
    while (element >= kPrime);
  }
  return vector;
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_FIELD_H
