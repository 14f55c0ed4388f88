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

template <int kBytes> uint64_t loadBits(const uint8_t *tensor, int64_t element) {
  if constexpr (kBytes == 1)
    return tensor[element];
  else if constexpr (kBytes == 2)
    return reinterpret_cast<const uint16_t *>(tensor)[element];
  else if constexpr (kBytes == 4)
    return reinterpret_cast<const uint32_t *>(tensor)[element];
  else
    return reinterpret_cast<const uint64_t *>(tensor)[element];
}

// Calls `work` with an object whose kBytes is that number, known when this is compiled.
template <int kNumber> struct Bytes {
  static constexpr int kBytes = kNumber;
};
template <typename Work> auto withBytes(int32_t bytes, Work work) {
  switch (bytes) {
  case 1: return work(Bytes<1>());
  case 2: return work(Bytes<2>());
  case 4: return work(Bytes<4>());
  default: return work(Bytes<8>());
  }
}

inline uint64_t loadBits(const uint8_t *tensor, const DeviceFormat &format, int64_t element) {
  return withBytes(format.bytes, [&](auto known) { return loadBits<known.kBytes>(tensor, element); });
}

inline void storeBits(uint8_t *tensor, const DeviceFormat &format, int64_t element, uint64_t bits) {
  switch (format.bytes) {
  case 1: tensor[element] = uint8_t(bits); break;
  case 2: reinterpret_cast<uint16_t *>(tensor)[element] = uint16_t(bits); break;
  case 4: reinterpret_cast<uint32_t *>(tensor)[element] = uint32_t(bits); break;
  default: reinterpret_cast<uint64_t *>(tensor)[element] = bits;
  }
}

// Bits has room for the format's.
template <typename Bits> Bits encodeFloat(const DeviceFormat &format, int32_t value) {
  if (value == 0)
    return 0;
  const uint32_t magnitude = value < 0 ? uint32_t(-value) : uint32_t(value);
  int32_t exponent = 31 - __builtin_clz(magnitude);
  const int32_t dropped = exponent - format.fractionBits;
  Bits significand = 0;
  if (dropped <= 0) {
    significand = Bits(magnitude) << -dropped;
  } else {
    const uint32_t half = uint32_t(1) << (dropped - 1), rest = magnitude & (2 * half - 1);
    significand = magnitude >> dropped;
    if (rest > half || (rest == half && (significand & 1)))
      ++significand;
    // Its fraction is zero then, and the exponent one more.
    exponent += int32_t(significand >> (format.fractionBits + 1));
  }
  const Bits fraction = significand & ((Bits(1) << format.fractionBits) - 1);
  const Bits sign = value < 0 ? Bits(1) << (format.exponentBits + format.fractionBits) : 0;
  return sign | Bits(exponent + format.exponentOfOne) << format.fractionBits | fraction;
}

// Of an integer of less than 31 bits, which no format here is too small for; where it has too few bits, the nearest
// number, of two the even one.
inline uint64_t encode(const DeviceFormat &format, int32_t value) {
  if (!format.isFloat)
    return uint64_t(int64_t(value));
  return format.bytes == 8 ? encodeFloat<uint64_t>(format, value) : encodeFloat<uint32_t>(format, value);
}

template <typename Bits> bool decodeFloat(const DeviceFormat &format, Bits bits, int32_t &value) {
  const Bits fractionMask = (Bits(1) << format.fractionBits) - 1, fraction = bits & fractionMask;
  const uint32_t largestExponent = (uint32_t(1) << format.exponentBits) - 1;
  const uint32_t exponentBits = uint32_t(bits >> format.fractionBits) & largestExponent;
  const bool isNumber = exponentBits != largestExponent || (!format.hasInfinity && fraction != fractionMask);
  // Of numbers below 1, beyond the largest one too.
  const uint32_t exponent = exponentBits - uint32_t(format.exponentOfOne);
  const int32_t below = format.fractionBits - int32_t(exponent & 31); // bits of the significand for parts of one
  const int32_t right = below > 0 ? below : 0, left = right - below;
  const Bits significand = fraction | Bits(1) << format.fractionBits;
  const Bits magnitude = significand >> right << left, dropped = significand & ((Bits(1) << right) - 1);
  const bool isInteger = isNumber && exponent <= 30 && dropped == 0 && magnitude <= Bits(kLargestInteger);
  const bool isZero = exponentBits == 0 && fraction == 0;
  const bool isNegative = bits >> (format.exponentBits + format.fractionBits) & 1;
  const int32_t number = isInteger ? int32_t(magnitude) : 0;
  value = isNegative ? -number : number;
  return isInteger || isZero;
}

// False where the element is no integer or too large; the value is 0 then. Without branches, but for those that all
// threads take alike.
template <int kBytes> bool decode(const DeviceFormat &format, uint64_t bits, int32_t &value) {
  if (!format.isFloat) {
    constexpr int32_t kUnused = 64 - 8 * kBytes;
    value = format.isSigned ? int32_t(int64_t(bits << kUnused) >> kUnused) : int32_t(bits);
    return true;
  }
  if constexpr (kBytes == 8)
    return decodeFloat<uint64_t>(format, bits, value);
  else
    return decodeFloat<uint32_t>(format, uint32_t(bits), value);
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

// The nearest number of the format, which has infinities, of two the even one: its bits. Of NaN, any.
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
