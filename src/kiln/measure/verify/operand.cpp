#include "kiln/measure/verify/operand.h"

#include <algorithm>
#include <cmath>

#include "kiln/measure/verify/decode.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

namespace {

// One loop without branches, so that compilers make vectors of it where the stride is known.
template <auto toNumber, int64_t kBytes>
bool loadFloats(const uint8_t *from, int64_t stride, int64_t count, double largest, int32_t *out) {
  using Number = decltype(toNumber(from));
  auto limit = static_cast<Number>(largest);
  int bad = 0;
  for (int64_t i = 0; i < count; ++i) {
    Number value = toNumber(from + i * stride * kBytes);
    Number bounded = std::fabs(value) <= limit ? value : Number(0);
    auto integer = static_cast<int32_t>(bounded);
    out[i] = integer;
    bad |= static_cast<int>(static_cast<Number>(integer) != value);
  }
  return bad == 0;
}

template <auto toNumber, int64_t kBytes>
bool loadFloatRun(const uint8_t *from, int64_t stride, int64_t count, double largest, int32_t *out) {
  if (stride == 1)
    return loadFloats<toNumber, kBytes>(from, 1, count, largest, out);
  return loadFloats<toNumber, kBytes>(from, stride, count, largest, out);
}

// 0 + promotes, so that a signed char is read as the number that it is.
template <typename T> bool loadIntegers(const uint8_t *from, int64_t stride, int64_t count, int32_t *out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = 0 + readRaw<T>(from + i * stride * int64_t(sizeof(T)));
  return true;
}

// For the types that are rare.
bool loadSlowly(ElementType type, const uint8_t *from, int64_t strideBytes, int64_t count, int32_t *out) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    double value = io::elementAsDouble(type, from + i * strideBytes);
    bool isInteger = std::fabs(value) <= kLargestElement && std::trunc(value) == value;
    out[i] = isInteger ? static_cast<int32_t>(value) : 0;
    good &= isInteger;
  }
  return good;
}

} // namespace

bool TensorOperand::load(int64_t offset, int64_t stride, int64_t count, int32_t *out) const {
  if (count == 0)
    return true; // also of a tensor without memory
  const uint8_t *from = bytes + offset * elementBytes;
  switch (type) {
  case ElementType::F32: return loadFloatRun<floatOfF32, 4>(from, stride, count, kLargestElement, out);
  case ElementType::F16: return loadFloatRun<floatOfF16, 2>(from, stride, count, 65504, out);
  case ElementType::BF16: return loadFloatRun<floatOfBF16, 2>(from, stride, count, kLargestElement, out);
  case ElementType::F64: return loadFloatRun<doubleOfF64, 8>(from, stride, count, kLargestElement, out);
  case ElementType::I8:
  case ElementType::SI8: return loadIntegers<int8_t>(from, stride, count, out);
  case ElementType::UI8: return loadIntegers<uint8_t>(from, stride, count, out);
  case ElementType::I32:
  case ElementType::SI32: return loadIntegers<int32_t>(from, stride, count, out);
  default: return loadSlowly(type, from, stride * elementBytes, count, out);
  }
}

void TensorOperand::loadNumbers(int64_t offset, int64_t stride, int64_t count, double *out) const {
  if (stride == 1)
    return readElements(type, {bytes, SIZE_MAX}, static_cast<uint64_t>(offset), {out, static_cast<size_t>(count)});
  for (int64_t i = 0; i < count; ++i)
    out[i] = io::elementAsDouble(type, bytes + (offset + i * stride) * elementBytes);
}

double TensorOperand::number(int64_t b, int64_t row, int64_t column) const {
  return io::elementAsDouble(type, bytes + layout.offset(b, row, column) * elementBytes);
}

template <typename T>
bool PatchOperand::loadPatch(int64_t b, int64_t row, int64_t column, int64_t count, T *out) const {
  bool good = true;
  for (int64_t done = 0; done < count;) {
    // Channels lie one after the other in the common layout: a tap's are loaded at once.
    int64_t run = 1;
    if (!layout.channelsFirst && layout.channelStride == 1)
      run = std::min(count - done, layout.channels - (column + done) % layout.channels);
    int64_t from = offset(b, row, column + done);
    if (from < 0)
      std::fill_n(out + done, run, T(0));
    else
      good &= loadRun(from, 1, run, out + done);
    done += run;
  }
  return good;
}

template <typename T>
bool PatchOperand::loadPixels(int64_t b, int64_t row, int64_t column, int64_t count, T *out) const {
  bool good = true;
  for (int64_t done = 0; done < count;) {
    // Pixels of one row of the output, without its ends, are equally far apart.
    int64_t from = offset(b, row + done, column);
    int64_t rest = std::min(count - done, layout.outputWidth - (row + done) % layout.outputWidth);
    int64_t run = 1;
    if (from >= 0 && rest > 1 && offset(b, row + done + rest - 1, column) >= 0)
      run = rest;
    if (from < 0)
      out[done] = 0;
    else
      good &= loadRun(from, layout.strideX * layout.columnStride, run, out + done);
    done += run;
  }
  return good;
}

bool PatchOperand::loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const {
  return loadPatch(b, row, column, count, out);
}

bool PatchOperand::loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const {
  return loadPixels(b, row, column, count, out);
}

void PatchOperand::numbersAlong(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const {
  loadPatch(b, row, column, count, out);
}

void PatchOperand::numbersDown(int64_t b, int64_t row, int64_t column, int64_t count, double *out) const {
  loadPixels(b, row, column, count, out);
}

} // namespace kiln::measure::verify
