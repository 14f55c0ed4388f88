#include "kiln/measure/verify/element_inputs.h"

#include <vector>

#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

static std::vector<uint32_t> specialBits(ElementType type) {
  if (type == ElementType::I8)
    return {0, 1, 0xFF, 0x7F, 0x80};
  if (type == ElementType::I32)
    return {0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x10000, 0xFFFF};
  std::vector<uint32_t> bits;
  unsigned mantissa = type == ElementType::F32 ? 23 : type == ElementType::F16 ? 10 : 7;
  unsigned width = type == ElementType::F32 ? 32 : 16;
  uint32_t infinity = ((1U << (width - 1)) - 1) >> mantissa << mantissa, smallest = 1U << mantissa;
  uint32_t one = infinity / 2 >> mantissa << mantissa;
  for (uint32_t magnitude : {0U, 1U, smallest - 1, smallest, smallest + 1, one - 1, one, one + 1, infinity - 1,
                             infinity, infinity | smallest / 2})
    for (uint32_t sign : {0U, 1U << (width - 1)})
      bits.push_back(magnitude | sign);
  return bits;
}

template <typename T> static void fillSpecialBits(ElementType type, uint64_t key, std::span<uint8_t> bytes) {
  std::vector<uint32_t> special = specialBits(type);
  fillElements<T>(bytes, [&](uint64_t i) {
    uint64_t random = randomBits(key, i);
    return static_cast<T>(random % 4 == 0 ? special[(random >> 2) % special.size()] : random >> 32);
  });
}

void fillSpecial(ElementType type, uint64_t key, std::span<uint8_t> bytes) {
  switch (hal::elementTypeByteSize(type)) {
  case 1: return fillSpecialBits<uint8_t>(type, key, bytes);
  case 2: return fillSpecialBits<uint16_t>(type, key, bytes);
  default: return fillSpecialBits<uint32_t>(type, key, bytes);
  }
}

void fillWide(ElementType type, uint64_t key, std::span<uint8_t> bytes) {
  if (type == ElementType::I8)
    return fillElements<uint8_t>(bytes, [&](uint64_t i) { return static_cast<uint8_t>(randomBits(key, i) >> 56); });
  if (type == ElementType::I32)
    return fillElements<uint32_t>(bytes, [&](uint64_t i) { return static_cast<uint32_t>(randomBits(key, i) >> 32); });
  int digits = exactBits(type);
  auto wide = [&](uint64_t i) {
    uint64_t random = randomBits(key, i);
    auto magnitude = static_cast<int32_t>(random >> (64 - digits) | uint64_t(1) << (digits - 1) | 1);
    return random & 1 ? -magnitude : magnitude;
  };
  if (type == ElementType::F32)
    return fillElements<float>(bytes, [&](uint64_t i) { return static_cast<float>(wide(i)); });
  fillElements<uint16_t>(bytes, [&](uint64_t i) {
    uint8_t element[2];
    writeElement(type, wide(i), element);
    return static_cast<uint16_t>(element[0] | element[1] << 8);
  });
}

} // namespace kiln::measure::verify
