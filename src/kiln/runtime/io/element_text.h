// One element of a tensor, or one scalar of a call, between its bits and its text.
#ifndef KILN_RUNTIME_IO_ELEMENT_TEXT_H
#define KILN_RUNTIME_IO_ELEMENT_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::io {

using hal::ElementType;

enum class Digits {
  Six,   // printf's %g, what users of these tools are used to
  Exact, // the fewest digits that give the same number back
};

bool isFloat(ElementType type);

// Reads `text` into the element's bytes at `element`, little-endian.
//   floats    decimal, hexadecimal (0x1.8p3), inf, nan; rounded to nearest even. A finite number beyond the type's
//   range
//             is an error, never an infinity.
//   integers  decimal within the type's range, where iN is signed; or 0x and at most the type's bits, as a bit pattern
//   i1        0, 1, false, true
Status parseElement(ElementType type, std::string_view text, uint8_t *element);

// Integers in decimal, i1 as 0 or 1.
void appendElement(ElementType type, const uint8_t *element, Digits digits, std::string &out);

// Writes a number as an element of a float type, rounded to nearest even.
void storeFloat(ElementType type, double value, uint8_t *element);

// The element as a number; integers of more than 53 bits are rounded.
double elementAsDouble(ElementType type, const uint8_t *element);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_ELEMENT_TEXT_H
