#include "kiln/measure/workers/timing_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/narrow_float.h"

namespace kiln::measure {

namespace {

using io::ElementType;

// Filling runs between timed requests, so that the loops over the commonest type are compiled for wide vectors, too.
#if defined(__x86_64__)
#define KILN_WIDE_VECTORS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define KILN_WIDE_VECTORS
#endif

// Philox4x32-10: whoever knows some words, or the secret itself, has to compute as much for each word as we did, which
// takes longer than reading it. Lanes are counters side by side, so that compilers make vectors of them.
constexpr size_t kLanes = 16, kWordsOfBlock = 4 * kLanes;
KILN_WIDE_VECTORS void makeBlocks(uint64_t seed, uint64_t first, size_t count, uint32_t *words) {
  for (size_t block = 0; block < count; ++block, words += kWordsOfBlock) {
    uint32_t counter[4][kLanes] = {}, keys[2] = {uint32_t(seed), uint32_t(seed >> 32)};
    for (size_t lane = 0; lane < kLanes; ++lane) {
      counter[0][lane] = uint32_t((first + block) * kLanes + lane);
      counter[1][lane] = uint32_t(((first + block) * kLanes) >> 32);
    }
    for (int round = 0; round < 10; ++round) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const uint64_t even = uint64_t(counter[0][lane]) * 0xD2511F53U, odd = uint64_t(counter[2][lane]) * 0xCD9E8D57U;
        counter[0][lane] = uint32_t(odd >> 32) ^ counter[1][lane] ^ keys[0];
        counter[1][lane] = uint32_t(odd);
        counter[2][lane] = uint32_t(even >> 32) ^ counter[3][lane] ^ keys[1];
        counter[3][lane] = uint32_t(even);
      }
      keys[0] += 0x9E3779B9U, keys[1] += 0xBB67AE85U;
    }
    std::memcpy(words, counter, sizeof(counter));
  }
}

// Random words, as many as a tensor needs, read from the first to the last.
class RandomWords {
public:
  RandomWords(uint64_t seed, size_t total) : seed(seed), total(total) {}

  // From `first` on, kMostAtOnce at most; valid until the next call.
  const uint32_t *at(size_t first, size_t count) {
    if (first < begin || first + count > begin + words.size()) {
      const size_t block = first / kWordsOfBlock;
      begin = block * kWordsOfBlock;
      const size_t blocks =
          (std::min(total - begin, kMostAtOnce + 2 * kWordsOfBlock) + kWordsOfBlock - 1) / kWordsOfBlock;
      words.resize(blocks * kWordsOfBlock);
      makeBlocks(seed, block, blocks, words.data());
    }
    return words.data() + (first - begin);
  }
  static constexpr size_t kMostAtOnce = 4096;

private:
  uint64_t seed;
  size_t total, begin = 0;
  std::vector<uint32_t> words;
};

// In [0, 1).
double fractionOf(uint32_t word) {
  return double(word) * 0x1p-32;
}

// make(word) or make(words), of one word for each element or of two where these are of 8 bytes.
template <typename T, typename Make> void fill(uint64_t seed, const MutableTensor &tensor, const Make &make) {
  constexpr size_t kEach = sizeof(T) == 8 ? 2 : 1, kTogether = RandomWords::kMostAtOnce / kEach;
  const size_t elements = tensor.bytes.size() / sizeof(T);
  RandomWords random(seed, elements * kEach);
  for (size_t first = 0; first < elements; first += kTogether) {
    const size_t count = std::min(kTogether, elements - first);
    const uint32_t *words = random.at(first * kEach, count * kEach);
    for (size_t i = 0; i < count; ++i) {
      uint64_t bits = words[i * kEach];
      if constexpr (kEach == 2)
        bits |= uint64_t(words[i * kEach + 1]) << 32;
      T value = T(make(bits));
      std::memcpy(tensor.bytes.data() + (first + i) * sizeof(T), &value, sizeof(T));
    }
  }
}

void fillBytes(uint64_t seed, std::span<uint8_t> bytes) {
  constexpr size_t kTogether = RandomWords::kMostAtOnce * sizeof(uint32_t);
  RandomWords random(seed, bytes.size() / sizeof(uint32_t) + 1);
  for (size_t first = 0; first < bytes.size(); first += kTogether) {
    const size_t count = std::min(kTogether, bytes.size() - first);
    const size_t words = (count + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    std::memcpy(bytes.data() + first, random.at(first / sizeof(uint32_t), words), count);
  }
}

double middle(const TimingNumbers &range) {
  return (range.low + range.high) / 2;
}
double halfWidth(const TimingNumbers &range) {
  return (range.high - range.low) / 2;
}

// Rounded to f32, so that small numbers have as many bits as large ones: all are no integers of few bits.
KILN_WIDE_VECTORS void toUniform(const uint32_t *words, float center, float halfWidth, float *numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = center + halfWidth * (float(int32_t(words[i])) * 0x1p-31F);
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

// Types of 8 bits have so few numbers that a table has all that are drawn.
void fillFromTable(uint64_t seed, const NarrowFloat &format, const TimingNumbers &range, const MutableTensor &tensor) {
  constexpr int kCount = 4096;
  std::vector<uint8_t> table;
  for (int i = 0; i < kCount; ++i)
    table.push_back(uint8_t(format.encode(middle(range) + halfWidth(range) * (2.0 * i / kCount - 1))));
  fill<uint8_t>(seed, tensor, [&](uint64_t bits) { return table[bits % kCount]; });
}

bool isUnsigned(ElementType type) {
  return type == ElementType::UI16 || type == ElementType::UI32 || type == ElementType::UI64;
}

template <typename T> void fillInteger(uint64_t seed, bool unsignedType, const MutableTensor &tensor) {
  fill<T>(seed, tensor, [&](uint64_t bits) { return int64_t(uint32_t(bits) % 2001) - (unsignedType ? 0 : 1000); });
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
KILN_WIDE_VECTORS void toSteps(const uint32_t *words, int bits, int32_t *steps, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto number = float(int32_t(words[i] >> 1) | 1);
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

// Calls make(first, count, slab, inner) for elements that lie together and are of one row, or one of each of as many
// neighbouring rows: row number `inner` and those that follow it of a slab, which is all rows of one first index.
template <typename Make> void forPieces(size_t elements, const TensorRows &rows, const Make &make) {
  const size_t slab = rows.columns * rows.inner, together = rows.inner == 1 ? rows.columns : rows.inner;
  for (size_t at = 0, count = 0; at < elements; at += count) {
    count = std::min({RandomWords::kMostAtOnce, together - at % together, elements - at});
    make(at, count, at / slab, rows.inner == 1 ? 0 : at % together);
  }
}

template <typename T> void fillExtremum(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &wanted) {
  const std::vector<T> numbers = numbersInOrder<T>(tensor.type, wanted.extremum);
  const int bits = fewBits(tensor.type) - 6; // so that half of the numbers are starts
  const size_t starts = numbers.size() - (size_t(kHalvings) << bits);
  const size_t inner = wanted.rows.inner, elements = tensor.bytes.size() / sizeof(T);
  RandomWords random(seed, elements), ofRows(~seed, elements / wanted.rows.columns + 1);
  std::vector<int32_t> steps(RandomWords::kMostAtOnce), startOf(inner);
  size_t known = SIZE_MAX; // the slab whose starts these are
  forPieces(elements, wanted.rows, [&](size_t at, size_t count, size_t slab, size_t first) {
    for (size_t row = 0; known != slab && row < inner; ++row)
      startOf[row] = int32_t(*ofRows.at(slab * inner + row, 1) % starts);
    known = slab;
    toSteps(random.at(at, count), bits, steps.data(), count);
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

// What the rows of a slab hold.
struct RowNumbers {
  std::vector<float> centers, widths, outliers; // outliers: the number itself
  std::vector<size_t> places;                   // of the outlier; SIZE_MAX for none

  explicit RowNumbers(size_t count) : centers(count), widths(count), outliers(count), places(count) {}

  void draw(size_t row, const uint32_t *words, const TimingNumbers &wanted) {
    const double scale =
        wanted.smallestScale * std::pow(wanted.largestScale / wanted.smallestScale, fractionOf(words[0]));
    const double center = scale * wanted.largestOffset * (2 * fractionOf(words[1]) - 1);
    centers[row] = float(center), widths[row] = float(scale);
    outliers[row] = float(center + scale + wanted.outlier);
    const bool hasOutlier = wanted.outlier != 0 && words[2] % kRowsForAnOutlier == 0;
    places[row] = hasOutlier ? words[3] % wanted.rows.columns : SIZE_MAX;
  }
  static constexpr size_t kWords = 4;
  static constexpr uint32_t kRowsForAnOutlier = 4;
};

bool isFilledInF32(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16;
}
bool fillsRows(ElementType type, const TimingNumbers &numbers) {
  return numbers.rowsDiffer() && isFilledInF32(type);
}

// Elements of f32, f16 or bf16.
void fillFloats(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &wanted) {
  const size_t size = hal::elementTypeByteSize(tensor.type), elements = tensor.bytes.size() / size;
  TensorRows rows = wanted.rows;
  if (!wanted.rowsDiffer())
    rows = {.columns = std::max<size_t>(elements, 1)};
  const size_t inner = rows.inner;
  RandomWords random(seed, elements), ofRows(~seed, (elements / rows.columns + 1) * RowNumbers::kWords);
  const auto center = float(middle(wanted)), width = float(halfWidth(wanted));
  std::vector<float> numbers(RandomWords::kMostAtOnce);
  RowNumbers known(inner);
  size_t knownSlab = SIZE_MAX;
  forPieces(elements, rows, [&](size_t at, size_t count, size_t slab, size_t first) {
    toUniform(random.at(at, count), center, width, numbers.data(), count);
    if (wanted.rowsDiffer()) {
      for (size_t row = 0; knownSlab != slab && row < inner; ++row)
        known.draw(row, ofRows.at((slab * inner + row) * RowNumbers::kWords, RowNumbers::kWords), wanted);
      knownSlab = slab;
      const size_t column = at / inner % rows.columns;
      if (inner == 1) {
        moveAndStretch(known.centers[0], known.widths[0], numbers.data(), count);
        if (known.places[0] - column < count)
          numbers[known.places[0] - column] = known.outliers[0];
      } else {
        moveAndStretchEach(&known.centers[first], &known.widths[first], numbers.data(), count);
        for (size_t i = 0; i < count; ++i)
          numbers[i] = known.places[first + i] == column ? known.outliers[first + i] : numbers[i];
      }
    }
    store(tensor.type, numbers.data(), tensor.bytes.data() + at * size, count);
  });
}

} // namespace

void fillForTiming(uint64_t seed, const MutableTensor &tensor, const TimingNumbers &range) {
  if (makesExtremum(tensor.type, range))
    return hal::elementTypeByteSize(tensor.type) == 1 ? fillExtremum<uint8_t>(seed, tensor, range)
                                                      : fillExtremum<uint16_t>(seed, tensor, range);
  if (isFilledInF32(tensor.type))
    return fillFloats(seed, tensor, range);
  if (const NarrowFloat *format = narrowFloat(tensor.type))
    return fillFromTable(seed, *format, range, tensor);
  if (tensor.type == ElementType::F64)
    return fill<double>(seed, tensor, [&](uint64_t bits) {
      return middle(range) + halfWidth(range) * (double(int64_t(bits)) * 0x1p-63);
    });
  if (tensor.type == ElementType::I1)
    return fill<uint8_t>(seed, tensor, [&](uint64_t bits) { return bits & 1; });
  bool unsignedType = isUnsigned(tensor.type);
  switch (hal::elementTypeByteSize(tensor.type)) {
  case 2: return fillInteger<uint16_t>(seed, unsignedType, tensor);
  case 4: return fillInteger<uint32_t>(seed, unsignedType, tensor);
  case 8: return fillInteger<uint64_t>(seed, unsignedType, tensor);
  default: return fillBytes(seed, tensor.bytes);
  }
}

std::string timingDistribution(ElementType type, const TimingNumbers &range) {
  if (makesExtremum(type, range))
    return fmt::format("exponential from a start of each row on, {} numbers", 1 << fewBits(type));
  std::string uniform = fmt::format("uniform in [{:.2g}, {:.2g})", range.low, range.high);
  if (fillsRows(type, range)) {
    std::string rows = fmt::format("rows s (o + u), u {}, s from {:.2g} to {:.2g}, o within {:.2g}", uniform,
                                   range.smallestScale, range.largestScale, range.largestOffset);
    return range.outlier == 0 ? rows : rows + fmt::format(", in one of four an element {:.2g} above", range.outlier);
  }
  if (isFilledInF32(type) || type == ElementType::F64)
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
