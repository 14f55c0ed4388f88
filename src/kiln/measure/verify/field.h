// Arithmetic modulo the prime 2^61-1, and the random numbers that verification draws. Everything is a function of its
// arguments: two runs with the same seed project onto the same vectors.
#ifndef KILN_MEASURE_VERIFY_FIELD_H
#define KILN_MEASURE_VERIFY_FIELD_H

#include <cstdint>
#include <vector>

namespace kiln::measure::verify {

__extension__ using Int128 = __int128;

inline constexpr int64_t kPrime = (int64_t(1) << 61) - 1;

// The element of the field that equals `sum`, in [0, kPrime).
inline int64_t reduce(Int128 sum) {
  auto rest = static_cast<int64_t>(sum % kPrime);
  return rest < 0 ? rest + kPrime : rest;
}

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
