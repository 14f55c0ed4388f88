// Inputs for operations on elements, each a function of a key and its position.
#ifndef KILN_MEASURE_VERIFY_ELEMENT_INPUTS_H
#define KILN_MEASURE_VERIFY_ELEMENT_INPUTS_H

#include <cstdint>
#include <cstring>
#include <span>

#include "kiln/measure/verify/parts.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::measure::verify {

using hal::ElementType;

// element(i) of type T for each element of a tensor, in a few threads.
template <typename T> void fillElements(std::span<uint8_t> bytes, auto element) {
  auto count = static_cast<int64_t>(bytes.size() / sizeof(T));
  forParts(count, count * 2, 2, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T value = element(static_cast<uint64_t>(i));
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

// A quarter is what code treats apart: zeros, infinities, NaN, the smallest and largest numbers of a format, and around
// 1. The rest is any bits, and so of all exponents.
void fillSpecial(ElementType type, uint64_t key, std::span<uint8_t> bytes);

// Integers that fill the significand of the type (24 bits in f32), always odd, of both signs; any integer of an integer
// type.
void fillWide(ElementType type, uint64_t key, std::span<uint8_t> bytes);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_ELEMENT_INPUTS_H
