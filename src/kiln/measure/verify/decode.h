// Elements of the common floating-point types as numbers, without branches, so that loops over them become vectors.
#ifndef KILN_MEASURE_VERIFY_DECODE_H
#define KILN_MEASURE_VERIFY_DECODE_H

#include <bit>
#include <cstdint>
#include <cstring>

namespace kiln::measure::verify {

template <typename T> T readRaw(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

inline float floatOfF32(const uint8_t *bytes) {
  return readRaw<float>(bytes);
}

inline float floatOfBF16(const uint8_t *bytes) {
  return std::bit_cast<float>(uint32_t(readRaw<uint16_t>(bytes)) << 16);
}

// Moves the exponent by a multiplication, which also makes normal numbers of subnormal ones; infinity and NaN get all
// exponent bits.
inline float floatOfF16(const uint8_t *bytes) {
  uint32_t bits = readRaw<uint16_t>(bytes), magnitude = (bits & 0x7FFF) << 13;
  uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  uint32_t allExponentBits = magnitude >= 0x0F800000U ? 0x7F800000U : 0U;
  return std::bit_cast<float>(scaled | allExponentBits | (bits & 0x8000) << 16);
}

inline double doubleOfF64(const uint8_t *bytes) {
  return readRaw<double>(bytes);
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DECODE_H
