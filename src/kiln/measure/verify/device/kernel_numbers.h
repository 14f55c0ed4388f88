// For sources that clang compiles for GPUs: elements as bits and as numbers. Without the standard library, which has no
// headers for GPUs.
#ifndef KILN_MEASURE_VERIFY_DEVICE_KERNEL_NUMBERS_H
#define KILN_MEASURE_VERIFY_DEVICE_KERNEL_NUMBERS_H

#include "kiln/measure/verify/device/tasks.h"

#define KILN_KERNEL extern "C" [[clang::nvptx_kernel]] void
// Workgroup counts and scratch memory, which no kernel needs here.
#define KILN_OTHER_PARAMETERS uint64_t, uint64_t, uint64_t, uint64_t
#define KILN_SHARED __attribute__((address_space(3)))

namespace kiln::measure::verify {

inline constexpr int64_t kLargestInteger = int64_t(1) << 30; // kLargestElement of operand.h

inline int64_t threadIndex() {
  return __nvvm_read_ptx_sreg_tid_x();
}
inline int64_t blockIndex() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
inline int64_t blockCount() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
inline void awaitBlock() {
  __nvvm_bar_sync(0);
}

inline uint64_t loadBits(const uint8_t *tensor, const DeviceFormat &format, int64_t element) {
  switch (format.bytes) {
  case 1: return tensor[element];
  case 2: return reinterpret_cast<const uint16_t *>(tensor)[element];
  case 4: return reinterpret_cast<const uint32_t *>(tensor)[element];
  default: return reinterpret_cast<const uint64_t *>(tensor)[element];
  }
}

inline void storeBits(uint8_t *tensor, const DeviceFormat &format, int64_t element, uint64_t bits) {
  switch (format.bytes) {
  case 1: tensor[element] = uint8_t(bits); break;
  case 2: reinterpret_cast<uint16_t *>(tensor)[element] = uint16_t(bits); break;
  case 4: reinterpret_cast<uint32_t *>(tensor)[element] = uint32_t(bits); break;
  default: reinterpret_cast<uint64_t *>(tensor)[element] = bits;
  }
}

// Of an integer of less than 31 bits, which no format here is too small for; where it has too few bits, the nearest
// number, of two the even one.
inline uint64_t encode(const DeviceFormat &format, int32_t value) {
  if (!format.isFloat)
    return uint64_t(int64_t(value));
  if (value == 0)
    return 0;
  const uint64_t magnitude = value < 0 ? uint64_t(-int64_t(value)) : uint64_t(value);
  int32_t exponent = 63 - __builtin_clzll(magnitude);
  const int32_t dropped = exponent - format.fractionBits;
  uint64_t significand = 0;
  if (dropped <= 0) {
    significand = magnitude << -dropped;
  } else {
    const uint64_t half = uint64_t(1) << (dropped - 1), rest = magnitude & (2 * half - 1);
    significand = magnitude >> dropped;
    if (rest > half || (rest == half && (significand & 1)))
      ++significand;
    // Its fraction is zero then, and the exponent one more.
    exponent += int32_t(significand >> (format.fractionBits + 1));
  }
  const uint64_t fraction = significand & ((uint64_t(1) << format.fractionBits) - 1);
  const uint64_t sign = value < 0 ? uint64_t(1) << (format.exponentBits + format.fractionBits) : 0;
  return sign | uint64_t(exponent + format.exponentOfOne) << format.fractionBits | fraction;
}

// False where the element is no integer or too large; the value is 0 then. Without branches, but for those that all
// threads take alike.
inline bool decode(const DeviceFormat &format, uint64_t bits, int32_t &value) {
  if (!format.isFloat) {
    const int32_t unused = 64 - 8 * format.bytes;
    value = format.isSigned ? int32_t(int64_t(bits << unused) >> unused) : int32_t(bits);
    return true;
  }
  const uint64_t fractionMask = (uint64_t(1) << format.fractionBits) - 1, fraction = bits & fractionMask;
  const uint32_t largestExponent = (uint32_t(1) << format.exponentBits) - 1;
  const uint32_t exponentBits = uint32_t(bits >> format.fractionBits) & largestExponent;
  const bool isNumber = exponentBits != largestExponent || (!format.hasInfinity && fraction != fractionMask);
  // Of numbers below 1, beyond the largest one too.
  const uint32_t exponent = exponentBits - uint32_t(format.exponentOfOne);
  const uint64_t significand = fraction | uint64_t(1) << format.fractionBits;
  uint64_t magnitude = 0, dropped = 0;
  if (format.bytes < 8) { // with room for all exponents of integers
    const uint64_t shifted = significand << (exponent & 31);
    magnitude = shifted >> format.fractionBits;
    dropped = shifted & fractionMask;
  } else {
    const uint32_t unused = uint32_t(format.fractionBits) - (exponent & 31);
    magnitude = significand >> unused;
    dropped = significand & ((uint64_t(1) << unused) - 1);
  }
  const bool isInteger = isNumber && exponent <= 30 && dropped == 0 && magnitude <= uint64_t(kLargestInteger);
  const bool isZero = exponentBits == 0 && fraction == 0;
  const bool isNegative = bits >> (format.exponentBits + format.fractionBits) & 1;
  const int32_t number = isInteger ? int32_t(magnitude) : 0;
  value = isNegative ? -number : number;
  return isInteger || isZero;
}

// Of any float, or an integer.
inline double numberOf(const DeviceFormat &format, uint64_t bits) {
  if (!format.isFloat) {
    const int32_t unused = 64 - 8 * format.bytes;
    return format.isSigned ? double(int64_t(bits << unused) >> unused) : double(bits);
  }
  if (format.bytes == 8)
    return __builtin_bit_cast(double, bits);
  const uint64_t sign = bits >> (format.exponentBits + format.fractionBits) & 1;
  const uint64_t fraction = bits & ((uint64_t(1) << format.fractionBits) - 1);
  const int64_t largestExponent = (int64_t(1) << format.exponentBits) - 1;
  const int64_t exponent = int64_t(bits >> format.fractionBits) & largestExponent;
  const bool isNumber =
      exponent != largestExponent || (!format.hasInfinity && fraction != (uint64_t(1) << format.fractionBits) - 1);
  if (exponent == 0) {
    const double number = double(int64_t(fraction)) * powerOfTwo(1 - format.exponentOfOne - format.fractionBits);
    return sign ? -number : number;
  }
  const uint64_t exponentBits = isNumber ? uint64_t(exponent - format.exponentOfOne + 1023) : 2047;
  return __builtin_bit_cast(double, sign << 63 | exponentBits << 52 | fraction << (52 - format.fractionBits));
}

// Bits of floats in the order of their numbers: orderOf in elements.h.
inline int64_t orderOf(const DeviceFormat &format, uint64_t bits) {
  const uint64_t sign = uint64_t(1) << (8 * format.bytes - 1);
  const auto magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

// The nearest number of the format, of two the even one: its bits. Of NaN, any.
inline uint64_t roundedBits(const DeviceFormat &format, double number) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, number);
  if (format.bytes == 8)
    return bits;
  const uint64_t sign = bits >> 63 << (format.exponentBits + format.fractionBits);
  const int64_t exponent = int64_t(bits >> 52 & 2047) - 1023;
  const uint64_t infinity = ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits;
  if (exponent == 1024)
    return sign | infinity | (isNan(number) ? 1 : 0);
  // Below the smallest normal number the last bit stays where it is.
  const int64_t lowest = 1 - format.exponentOfOne;
  const int64_t dropped = 52 - format.fractionBits + (exponent < lowest ? lowest - exponent : 0);
  if (dropped > 53 || exponent == -1023)
    return sign;
  const uint64_t significand = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  const uint64_t half = uint64_t(1) << (dropped - 1), rest = significand & (2 * half - 1);
  uint64_t kept = significand >> dropped;
  kept += rest > half || (rest == half && (kept & 1)) ? 1 : 0;
  // A carry makes the exponent one more by itself; the leading one is part of it.
  const uint64_t rounded = exponent < lowest ? kept : kept + (uint64_t(exponent - lowest) << format.fractionBits);
  return sign | (rounded < infinity ? rounded : infinity);
}

// Equal as numbers, or both none.
inline bool sameNumber(const DeviceFormat &format, uint64_t a, uint64_t b) {
  const double left = numberOf(format, a), right = numberOf(format, b);
  return left == right || (isNan(left) && isNan(right));
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_KERNEL_NUMBERS_H
