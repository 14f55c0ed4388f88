// Number formats as verification sees them: how many bits they keep, and how they round.
#ifndef KILN_MEASURE_VERIFY_NUMBER_H
#define KILN_MEASURE_VERIFY_NUMBER_H

#include <cstdint>
#include <optional>

#include "kiln/runtime/hal/element_type.h"

namespace kiln::measure::verify {

using hal::ElementType;

enum class Rounding {
  NearestEven,
  NearestAway, // what GPUs do when they convert to tf32
  TowardZero,  // what dropping bits does
};

// A binary floating-point format.
struct FloatFormat {
  const char *name;
  int significand;    // bits, with the leading one
  int lowestExponent; // of the smallest normal number, 2^lowestExponent
  double largest;     // finite number

  // Half the distance from 1 to the next number.
  double unitRoundoff() const;
};

inline constexpr FloatFormat kFormatF16 = {"f16", 11, -14, 65504.0};
inline constexpr FloatFormat kFormatBF16 = {"bf16", 8, -126, 0x1.FEp127};
inline constexpr FloatFormat kFormatTF32 = {"tf32", 11, -126, 0x1.FFCp127};
inline constexpr FloatFormat kFormatF32 = {"f32", 24, -126, 0x1.FFFFFEp127};
inline constexpr FloatFormat kFormatF64 = {"f64", 53, -1022, 0x1.FFFFFFFFFFFFFp1023};

// The element type of that name, if tensors of it can be filled and verified.
std::optional<ElementType> parseMeasuredType(std::string_view name);

// The format of an element type; nothing for integers.
std::optional<FloatFormat> floatFormat(ElementType type);

// Whether integers of 8 to 64 bits, and the range of such a type.
bool isInteger(ElementType type);
int64_t smallestInteger(ElementType type);
int64_t largestInteger(ElementType type);

// All integers up to 2^exactBits are numbers of the type, and so are those of at most that many bits in it.
int exactBits(ElementType type);

// What is beyond the largest number becomes infinity, or stays the largest where bits are dropped.
double roundTo(const FloatFormat &format, double value, Rounding rounding = Rounding::NearestEven);
// The same for any element type: an integer type takes integers in its range as they are and wraps what is beyond.
double roundTo(ElementType type, double value);

// How far two numbers are apart, in units of the last place of the larger; infinity where one is not finite.
double ulpsBetween(ElementType type, double a, double b);

// Equal, or both not a number.
bool sameNumber(double a, double b);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_NUMBER_H
