#include "kiln/measure/workers/timing_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/narrow_float.h"
#include "kiln/base/random.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// Filling runs between timed requests, so that the loops over the commonest type are compiled for wide vectors, too.
#if defined(__x86_64__)
#define KILN_WIDE_VECTORS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define KILN_WIDE_VECTORS
#endif

template <typename T, typename Make> void fill(const MutableTensor &tensor, const Make &make) {
  size_t count = tensor.bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T value = T(make(i));
    std::memcpy(tensor.bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

double middle(const TimingNumbers &range) {
  return (range.low + range.high) / 2;
}
double halfWidth(const TimingNumbers &range) {
  return (range.high - range.low) / 2;
}

KILN_WIDE_VECTORS void fillF32(const IndexedBits &random, const TimingNumbers &range, size_t first, float *numbers,
                               size_t count) {
  auto center = float(middle(range)), unit = float(halfWidth(range) * 0x1p-23);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = center + float(int32_t(random.bits(first + i)) >> 8) * unit;
}

const NarrowFloat *narrowFloat(ElementType type) {
  switch (type) {
  case ElementType::F16: return &kF16;
  case ElementType::BF16: return &kBF16;
  case ElementType::F8E4M3FN: return &kF8E4M3FN;
  case ElementType::F8E5M2: return &kF8E5M2;
  default: return nullptr;
  }
}

// Encoding is slow, so 4096 numbers are encoded, and drawn from.
template <typename T>
void fillNarrow(const NarrowFloat &format, const IndexedBits &random, const TimingNumbers &range,
                const MutableTensor &tensor) {
  constexpr int kCount = 4096;
  std::vector<T> table;
  for (int i = 0; i < kCount; ++i)
    table.push_back(T(format.encode(middle(range) + halfWidth(range) * (2.0 * i / kCount - 1))));
  fill<T>(tensor, [&](size_t i) { return table[random.bits(i) % kCount]; });
}

bool isUnsigned(ElementType type) {
  return type == ElementType::UI16 || type == ElementType::UI32 || type == ElementType::UI64;
}

template <typename T> void fillInteger(bool unsignedType, const IndexedBits &random, const MutableTensor &tensor) {
  fill<T>(tensor, [&](size_t i) { return int64_t(random.bits(i) % 2001) - (unsignedType ? 0 : 1000); });
}

// Of types with few numbers: how many bits count, the sign included. 0 where a type has many.
int fewBits(ElementType type) {
  switch (type) {
  case ElementType::I8:
  case ElementType::SI8: return 8;
  case ElementType::F16:
  case ElementType::BF16: return int(narrowFloat(type)->mantissaBits) + 1;
  default: return 0;
  }
}

// A number has 31 halvings of its chance; each is cut into 2^bits steps, by the leading bits of a logarithm.
constexpr int kHalvings = 31, kFloatBias = 127;
KILN_WIDE_VECTORS void drawSteps(const IndexedBits &random, size_t first, int bits, int32_t *steps, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto number = float(int32_t(random.bits(first + i) >> 1) | 1);
    int32_t pattern;
    std::memcpy(&pattern, &number, sizeof(pattern));
    steps[i] = ((kFloatBias + kHalvings) << bits) - (pattern >> (23 - bits));
  }
}

// All numbers that count, in the order in which they are farther.
template <typename T> std::vector<T> numbersInOrder(ElementType type, TimingNumbers::Extremum extremum) {
  int half = 1 << (fewBits(type) - 1);
  std::vector<T> numbers;
  for (int i = -half; i < half; ++i) {
    int number = extremum == TimingNumbers::Extremum::Smallest ? -1 - i : i;
    const NarrowFloat *format = narrowFloat(type);
    numbers.push_back(T(format ? format->encode(double(number) / half) : uint32_t(number)));
  }
  return numbers;
}

constexpr size_t kDrawnTogether = 4096;

// Calls make(first, count, slab, inner) for elements that lie together and are of one row, or one of each of as many
// neighbouring rows: row number `inner` and those that follow it of a slab, which is all rows of one first index.
template <typename Make> void forPieces(size_t elements, const TensorRows &rows, const Make &make) {
  const size_t slab = rows.columns * rows.inner, together = rows.inner == 1 ? rows.columns : rows.inner;
  for (size_t at = 0, count = 0; at < elements; at += count) {
    count = std::min({kDrawnTogether, together - at % together, elements - at});
    make(at, count, at / slab, rows.inner == 1 ? 0 : at % together);
  }
}

template <typename T> void fillExtremum(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &wanted) {
  const std::vector<T> numbers = numbersInOrder<T>(tensor.type, wanted.extremum);
  const int bits = fewBits(tensor.type) - 6; // so that half of the numbers are starts
  const size_t starts = numbers.size() - (size_t(kHalvings) << bits);
  const IndexedBits random(seed), randomStarts(~seed);
  const size_t inner = wanted.rows.inner;
  std::vector<int32_t> steps(kDrawnTogether), startOf(inner);
  size_t known = SIZE_MAX; // the slab whose starts these are
  forPieces(tensor.bytes.size() / sizeof(T), wanted.rows, [&](size_t at, size_t count, size_t slab, size_t first) {
    for (size_t row = 0; known != slab && row < inner; ++row)
      startOf[row] = int32_t(randomStarts.bits(slab * inner + row) % starts);
    known = slab;
    drawSteps(random, at, bits, steps.data(), count);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(tensor.bytes.data() + (at + i) * sizeof(T), &numbers[startOf[inner == 1 ? 0 : first + i] + steps[i]],
                  sizeof(T));
  });
}

bool makesExtremum(ElementType type, const TimingNumbers &numbers) {
  return numbers.extremum != TimingNumbers::Extremum::None && fewBits(type) > 0;
}

// The nearest number of the type, ties to even; for finite numbers that are not too large for it.
KILN_WIDE_VECTORS void narrowToBF16(const float *numbers, uint16_t *narrow, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, &numbers[i], sizeof(bits));
    narrow[i] = uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
}

KILN_WIDE_VECTORS void narrowToF16(const float *numbers, uint16_t *narrow, size_t count) {
  constexpr uint32_t kExponents = (kFloatBias - 15) << 10, kSmallestNormal = uint32_t(kFloatBias - 14) << 23;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits, small;
    std::memcpy(&bits, &numbers[i], sizeof(bits));
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    // Next to a half, f32 has the spacing of f16's subnormal numbers.
    float magnitude;
    std::memcpy(&magnitude, &bits, sizeof(bits));
    magnitude += 0.5F;
    std::memcpy(&small, &magnitude, sizeof(small));
    const uint32_t subnormal = small - 0x3F000000, normal = ((bits + 0xFFF + (bits >> 13 & 1)) >> 13) - kExponents;
    narrow[i] = uint16_t(sign | (bits < kSmallestNormal ? subnormal : normal));
  }
}

void store(ElementType type, const float *numbers, uint8_t *bytes, size_t count) {
  switch (type) {
  case ElementType::F32: std::memcpy(bytes, numbers, count * sizeof(float)); return;
  case ElementType::F16: return narrowToF16(numbers, reinterpret_cast<uint16_t *>(bytes), count);
  default: return narrowToBF16(numbers, reinterpret_cast<uint16_t *>(bytes), count);
  }
}

KILN_WIDE_VECTORS void moveAndStretch(float center, float width, float *numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = center + width * numbers[i];
}
KILN_WIDE_VECTORS void moveAndStretchEach(const float *centers, const float *widths, float *numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = centers[i] + widths[i] * numbers[i];
}

// Elements of f32, f16 or bf16.
void fillRows(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &wanted) {
  const IndexedBits random(seed), randomRows(~seed);
  const size_t inner = wanted.rows.inner, size = hal::elementTypeByteSize(tensor.type);
  const TimingNumbers uniform{.low = wanted.low, .high = wanted.high};
  std::vector<float> numbers(kDrawnTogether), centers(inner), widths(inner);
  size_t known = SIZE_MAX; // the slab whose rows these are
  const double growth = std::log(wanted.largestScale / wanted.smallestScale);
  forPieces(tensor.bytes.size() / size, wanted.rows, [&](size_t at, size_t count, size_t slab, size_t first) {
    for (size_t row = 0; known != slab && row < inner; ++row) {
      const double scale =
          wanted.smallestScale * std::exp(growth * fraction(randomRows.bits64(2 * (slab * inner + row))));
      const double offset = 2 * fraction(randomRows.bits64(2 * (slab * inner + row) + 1)) - 1;
      widths[row] = float(scale), centers[row] = float(scale * wanted.largestOffset * offset);
    }
    known = slab;
    fillF32(random, uniform, at, numbers.data(), count);
    if (inner == 1)
      moveAndStretch(centers[0], widths[0], numbers.data(), count);
    else
      moveAndStretchEach(&centers[first], &widths[first], numbers.data(), count);
    store(tensor.type, numbers.data(), tensor.bytes.data() + at * size, count);
  });
}

bool fillsRows(ElementType type, const TimingNumbers &numbers) {
  return numbers.rowsDiffer() && (type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16);
}

} // namespace

void fillForTiming(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &range) {
  if (makesExtremum(tensor.type, range))
    return hal::elementTypeByteSize(tensor.type) == 1 ? fillExtremum<uint8_t>(seed, tensor, range)
                                                      : fillExtremum<uint16_t>(seed, tensor, range);
  if (fillsRows(tensor.type, range))
    return fillRows(seed, tensor, range);
  const IndexedBits random(seed);
  if (const NarrowFloat *format = narrowFloat(tensor.type)) {
    if (hal::elementTypeByteSize(tensor.type) == 1)
      fillNarrow<uint8_t>(*format, random, range, tensor);
    else
      fillNarrow<uint16_t>(*format, random, range, tensor);
    return;
  }
  if (tensor.type == ElementType::F32)
    return fillF32(random, range, 0, reinterpret_cast<float *>(tensor.bytes.data()),
                   tensor.bytes.size() / sizeof(float));
  if (tensor.type == ElementType::F64)
    return fill<double>(tensor, [&](size_t i) {
      return middle(range) + halfWidth(range) * (double(int64_t(random.bits64(i)) >> 11) * 0x1p-52);
    });
  if (tensor.type == ElementType::I1)
    return fill<uint8_t>(tensor, [&](size_t i) { return random.bits(i) & 1; });
  bool unsignedType = isUnsigned(tensor.type);
  switch (hal::elementTypeByteSize(tensor.type)) {
  case 2: return fillInteger<uint16_t>(unsignedType, random, tensor);
  case 4: return fillInteger<uint32_t>(unsignedType, random, tensor);
  case 8: return fillInteger<uint64_t>(unsignedType, random, tensor);
  default: return fill<uint8_t>(tensor, [&](size_t i) { return random.bits(i); });
  }
}

std::string timingDistribution(ElementType type, const TimingNumbers &range) {
  if (makesExtremum(type, range))
    return fmt::format("exponential from a start of each row on, {} numbers", 1 << fewBits(type));
  std::string uniform = fmt::format("uniform in [{:.2g}, {:.2g})", range.low, range.high);
  if (fillsRows(type, range))
    return fmt::format("rows s (o + u), u {}, s from {:.2g} to {:.2g}, o within {:.2g}", uniform, range.smallestScale,
                       range.largestScale, range.largestOffset);
  if (type == ElementType::F32 || type == ElementType::F64)
    return uniform;
  if (narrowFloat(type))
    return "4096 values " + uniform;
  if (type == ElementType::I1)
    return "0 or 1";
  if (hal::elementTypeByteSize(type) == 1)
    return "any 8 bits";
  return isUnsigned(type) ? "uniform integers in [0, 2000]" : "uniform integers in [-1000, 1000]";
}

} // namespace kiln::measure
