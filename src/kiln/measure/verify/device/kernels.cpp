// Inputs of contractions, projections of their results, and sums of a sample of them, on a GPU. Clang compiles this to
// PTX when Kiln is built, and Kiln's own compiler has no part in it. device_check.h launches them; executables in
// schema/gpu_executable.fbs says what a kernel's parameters are. Without the standard library, which has no headers for
// GPUs.
#include "kiln/measure/verify/device/tasks.h"

using namespace kiln::measure::verify;
using kiln::randomBits;

namespace {

using Int128 = __int128;

constexpr int64_t kPrime = (int64_t(1) << 61) - 1;
constexpr int64_t kLargestInteger = int64_t(1) << 30; // kLargestElement of operand.h
constexpr uint64_t kLimb = (uint64_t(1) << 21) - 1;
// Products of an integer of 32 bits and a limb of 21, so many of which fit into 64 bits.
constexpr int64_t kRun = 256;

__attribute__((address_space(3))) int64_t sums[kCheckThreads];
__attribute__((address_space(3))) uint32_t flags[kCheckThreads];
__attribute__((address_space(3))) double exactSums[kCheckThreads], lostSums[kCheckThreads], magnitudes[kCheckThreads],
    squares[kCheckThreads];

int64_t threadIndex() {
  return __nvvm_read_ptx_sreg_tid_x();
}
int64_t blockIndex() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
int64_t blockCount() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
void awaitBlock() {
  __nvvm_bar_sync(0);
}

uint64_t loadBits(const uint8_t *tensor, const DeviceFormat &format, int64_t element) {
  switch (format.bytes) {
  case 1: return tensor[element];
  case 2: return reinterpret_cast<const uint16_t *>(tensor)[element];
  case 4: return reinterpret_cast<const uint32_t *>(tensor)[element];
  default: return reinterpret_cast<const uint64_t *>(tensor)[element];
  }
}

void storeBits(uint8_t *tensor, const DeviceFormat &format, int64_t element, uint64_t bits) {
  switch (format.bytes) {
  case 1: tensor[element] = uint8_t(bits); break;
  case 2: reinterpret_cast<uint16_t *>(tensor)[element] = uint16_t(bits); break;
  case 4: reinterpret_cast<uint32_t *>(tensor)[element] = uint32_t(bits); break;
  default: reinterpret_cast<uint64_t *>(tensor)[element] = bits;
  }
}

// Of an integer of less than 31 bits, which no format here is too small for; where it has too few bits, the nearest
// number, of two the even one.
uint64_t encode(const DeviceFormat &format, int32_t value) {
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
bool decode(const DeviceFormat &format, uint64_t bits, int32_t &value) {
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

double powerOfTwo(int64_t exponent) {
  return __builtin_bit_cast(double, uint64_t(exponent + 1023) << 52);
}

// Of any float, or an integer.
double numberOf(const DeviceFormat &format, uint64_t bits) {
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
int64_t orderOf(const DeviceFormat &format, uint64_t bits) {
  const uint64_t sign = uint64_t(1) << (8 * format.bytes - 1);
  const auto magnitude = int64_t(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}

bool isNan(double number) {
  return number != number;
}

// The nearest number of the format, of two the even one: its bits. Of NaN, any.
uint64_t roundedBits(const DeviceFormat &format, double number) {
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
bool sameNumber(const DeviceFormat &format, uint64_t a, uint64_t b) {
  const double left = numberOf(format, a), right = numberOf(format, b);
  return left == right || (isNan(left) && isNan(right));
}

// Sums in f64, with what rounding loses of each caught (Neumaier).
struct ExactSum {
  double sum = 0, lost = 0;
  void add(double term) {
    const double next = sum + term;
    lost += __builtin_fabs(sum) >= __builtin_fabs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
};

// 2^61 is 1 in the field: what is above the lowest 61 bits is added to them, twice.
int64_t reduce(Int128 sum) {
  sum = (sum & kPrime) + (sum >> 61);
  int64_t element = int64_t(sum & kPrime) + int64_t(sum >> 61);
  if (element < 0)
    element += kPrime;
  return element >= kPrime ? element - kPrime : element;
}

} // namespace

#define KILN_KERNEL extern "C" [[clang::nvptx_kernel]] void
// Workgroup counts and scratch memory, which no kernel needs here.
#define KILN_OTHER_PARAMETERS uint64_t, uint64_t, uint64_t, uint64_t

KILN_KERNEL fill_operand(const FillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const FillTask &fill = *task;
  const int64_t positionBlocks = fill.positionBlocks(), lineBlocks = fill.lineBlocks();
  const int64_t step = fill.linesAreInner ? 1 : kCheckThreads;
  for (int64_t block = blockIndex(); block < fill.blocks(); block += blockCount()) {
    const int64_t lineBlock = block / positionBlocks, b = lineBlock / lineBlocks;
    const int64_t firstLine = lineBlock % lineBlocks * fill.linesOfBlock();
    const int64_t firstPosition = block % positionBlocks * fill.positionsOfBlock();
    const int64_t line = firstLine + (fill.linesAreInner ? threadIndex() : 0);
    if (line >= fill.lines)
      continue;
    const uint64_t ofLine = fill.isLhs ? fill.numbers.lhsLine(b, line) : fill.numbers.rhsLine(b, line);
    int64_t position = firstPosition + (fill.linesAreInner ? 0 : threadIndex());
    for (int64_t i = 0; i < FillTask::kPositions && position < fill.positions; ++i, position += step) {
      const int32_t value =
          fill.isLhs ? fill.numbers.lhsOf(ofLine, position) : fill.numbers.rhsOf(ofLine, /*tap=*/0, position);
      storeBits(tensor, fill.format, b * fill.batchStride + line * fill.lineStride + position * fill.positionStride,
                encode(fill.format, value));
    }
  }
}

KILN_KERNEL prefill_output(const PrefillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t element = blockIndex() * kCheckThreads + threadIndex(); element < task->elements; element += step)
    storeBits(tensor, task->format, element,
              task->zeros     ? 0
              : task->allBits ? ~uint64_t(0)
                              : encode(task->format, InputNumbers::prefill(uint64_t(element))));
}

// `bad` says of each row whether it holds something that is no integer.
KILN_KERNEL project(const ProjectTask *task, const uint8_t *tensor, const int64_t *vector, int64_t *result,
                    uint32_t *bad, KILN_OTHER_PARAMETERS) {
  const ProjectTask &matrix = *task;
  const DeviceFormat format = matrix.format;
  const int64_t blocks = matrix.blocksPerMatrix(), rowsPerBlock = matrix.rowsPerBlock;
  const int64_t lanes = kCheckThreads / rowsPerBlock;
  const int64_t lane = threadIndex() / rowsPerBlock;
  for (int64_t block = blockIndex(); block < matrix.blocks(); block += blockCount()) {
    const int64_t b = block / blocks, row = block % blocks * rowsPerBlock + threadIndex() % rowsPerBlock;
    int64_t element = 0;
    bool good = true;
    if (row < matrix.rows) {
      const int64_t start = b * matrix.batchStride + row * matrix.rowStride;
      const int64_t *weights = vector + b * matrix.vectorStride;
      for (int64_t column = lane; column < matrix.columns;) {
        // An element of the field as three limbs, the products with each of which are added up by themselves.
        int64_t low = 0, middle = 0, high = 0;
        for (int64_t i = 0; i < kRun && column < matrix.columns; ++i, column += lanes) {
          int32_t value = 0;
          good &= decode(format, loadBits(tensor, format, start + column * matrix.columnStride), value);
          const auto weight = uint64_t(weights[column]);
          low += int64_t(value) * int32_t(weight & kLimb);
          middle += int64_t(value) * int32_t(weight >> 21 & kLimb);
          high += int64_t(value) * int32_t(weight >> 42);
        }
        element = reduce(Int128(element) + low + (Int128(middle) << 21) + (Int128(high) << 42));
      }
    }
    sums[threadIndex()] = element;
    flags[threadIndex()] = good ? 0 : 1;
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      awaitBlock();
      if (lane < half) {
        const int64_t other = threadIndex() + half * rowsPerBlock;
        sums[threadIndex()] = reduce(Int128(sums[threadIndex()]) + sums[other]);
        flags[threadIndex()] = flags[threadIndex()] | flags[other];
      }
    }
    if (lane == 0 && row < matrix.rows) {
      result[b * matrix.rows + row] = sums[threadIndex()];
      bad[b * matrix.rows + row] = flags[threadIndex()];
    }
    // The next row's numbers come where these are.
    awaitBlock();
  }
}

KILN_KERNEL fill_scaled(const ScaledFillTask *task, const uint8_t *numbers, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const ScaledFillTask &fill = *task;
  const int64_t matrix = fill.rows * fill.columns, all = fill.batch * matrix, step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < all; at += step) {
    const int64_t b = at / matrix, element = at % matrix, row = element / fill.columns;
    const int64_t line = fill.scalesRows ? row : element - row * fill.columns;
    const uint64_t key = randomBits(fill.key, uint64_t(b)), bits = randomBits(key, uint64_t(element));
    const auto shifted = int64_t(randomBits(key ^ fill.scalesKey, uint64_t(line)) % uint64_t(2 * fill.range + 1));
    uint64_t value = 0;
    if (fill.isNarrow) {
      const int64_t chosen = shifted * fill.narrowNumbers + int64_t(bits % uint64_t(fill.narrowNumbers));
      value = loadBits(numbers, fill.format, chosen);
    } else {
      const auto *ends = reinterpret_cast<const double *>(numbers);
      const uint64_t part = bits >> (64 - fill.partBits);
      const double within = double(int64_t(bits << fill.partBits >> 11)) * 0x1p-53;
      const float number = float(ends[part] + (ends[part + 1] - ends[part]) * within);
      value = __builtin_bit_cast(uint32_t, number *float(powerOfTwo(shifted - fill.range))) & fill.keptBits;
    }
    storeBits(tensor, fill.format, b * fill.batchStride + element, value);
  }
}

// A unit is a power of two: the integer, with a smaller exponent.
KILN_KERNEL fill_units(const UnitFillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < task->elements; at += step) {
    const int32_t units = task->numbers.unitAt(at);
    const uint64_t bits = encode(task->format, units);
    storeBits(tensor, task->format, at,
              units == 0 ? 0 : bits - (uint64_t(task->numbers.fractionBits) << task->format.fractionBits));
  }
}

KILN_KERNEL scatter(const ScatterTask *task, const int64_t *places, const int32_t *values, uint8_t *tensor,
                    KILN_OTHER_PARAMETERS) {
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < task->count; at += step)
    storeBits(tensor, task->format, places[at], encode(task->format, values[at]));
}

// Of each sample the exact sum, the sum of magnitudes, and that of squares.
KILN_KERNEL dot_samples(const DotTask *task, const int64_t *places, const uint8_t *lhs, const uint8_t *rhs,
                        double *results, KILN_OTHER_PARAMETERS) {
  const DotTask &dot = *task;
  const int64_t thread = threadIndex();
  for (int64_t sample = blockIndex(); sample < dot.samples; sample += blockCount()) {
    const int64_t b = places[3 * sample], i = places[3 * sample + 1], j = places[3 * sample + 2];
    ExactSum sum;
    double magnitude = 0, square = 0;
    for (int64_t p = thread; p < dot.k; p += kCheckThreads) {
      const double left = numberOf(dot.lhs.format, loadBits(lhs, dot.lhs.format, dot.lhs.offset(b, i, p))),
                   right = numberOf(dot.rhs.format, loadBits(rhs, dot.rhs.format, dot.rhs.offset(b, p, j)));
      const double product = left * right;
      sum.lost += __builtin_fma(left, right, -product);
      sum.add(product);
      magnitude += __builtin_fabs(product);
      square += product * product;
    }
    exactSums[thread] = sum.sum;
    lostSums[thread] = sum.lost;
    magnitudes[thread] = magnitude;
    squares[thread] = square;
    for (int64_t half = kCheckThreads / 2; half > 0; half /= 2) {
      awaitBlock();
      if (thread < half) {
        ExactSum both{exactSums[thread], lostSums[thread] + lostSums[thread + half]};
        both.add(exactSums[thread + half]);
        exactSums[thread] = both.sum;
        lostSums[thread] = both.lost;
        magnitudes[thread] = magnitudes[thread] + magnitudes[thread + half];
        squares[thread] = squares[thread] + squares[thread + half];
      }
    }
    if (thread == 0) {
      results[3 * sample] = exactSums[0] + lostSums[0];
      results[3 * sample + 1] = magnitudes[0];
      results[3 * sample + 2] = squares[0];
    }
    // The next sample's sums come where these are.
    awaitBlock();
  }
}

KILN_KERNEL pick_samples(const PickTask *task, const int64_t *places, const uint8_t *out, double *results,
                         KILN_OTHER_PARAMETERS) {
  const DeviceMatrix &matrix = task->out;
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < task->samples; at += step)
    results[at] =
        numberOf(matrix.format,
                 loadBits(out, matrix.format, matrix.offset(places[3 * at], places[3 * at + 1], places[3 * at + 2])));
}

// `ranges` has two ends for each sum; `bad` says of each row whether an element is outside of its range.
KILN_KERNEL check_ranges(const RangeTask *task, const int64_t *places, const uint32_t *termPlaces,
                         const int32_t *termSigns, const int32_t *biases, const int64_t *ranges, const uint8_t *out,
                         uint32_t *bad, KILN_OTHER_PARAMETERS) {
  const RangeTask &check = *task;
  for (int64_t row = blockIndex(); row < check.rows; row += blockCount()) {
    bool good = true;
    for (int64_t column = threadIndex(); column < check.columns; column += kCheckThreads) {
      int32_t sum = biases[column];
      for (int64_t term = column * check.terms; term < (column + 1) * check.terms; ++term)
        sum += termSigns[term] * check.numbers.unitAt(check.lhs.offset(0, row, places[termPlaces[term]]));
      const int64_t order =
          orderOf(check.out.format, loadBits(out, check.out.format, check.out.offset(0, row, column)));
      good &= ranges[2 * sum] <= order && order <= ranges[2 * sum + 1];
    }
    flags[threadIndex()] = good ? 0 : 1;
    for (int64_t half = kCheckThreads / 2; half > 0; half /= 2) {
      awaitBlock();
      if (threadIndex() < half)
        flags[threadIndex()] = flags[threadIndex()] | flags[threadIndex() + half];
    }
    if (threadIndex() == 0)
      bad[row] = flags[0];
    awaitBlock();
  }
}

// `table` is that of a task with patterns; `second` that of one with two inputs.
KILN_KERNEL check_elements(const ElementsTask *task, const PatternRange *table, const uint8_t *first,
                           const uint8_t *second, const uint8_t *out, uint32_t *wrong, KILN_OTHER_PARAMETERS) {
  const ElementsTask &check = *task;
  const DeviceFormat format = check.format;
  const int64_t perBlock = ElementsTask::kElements * kCheckThreads;
  for (int64_t block = blockIndex(); block < check.blocks(); block += blockCount()) {
    uint32_t count = 0;
    for (int64_t i = 0; i < ElementsTask::kElements; ++i) {
      const int64_t at = block * perBlock + i * kCheckThreads + threadIndex();
      if (at >= check.elements)
        break;
      const uint64_t actual = loadBits(out, format, at);
      bool good = false;
      if (check.rule == 0) { // Moved
        int64_t rest = at, from = 0;
        for (int32_t d = check.rank - 1; d >= 0; --d) {
          from += rest % check.extents[d] * check.strides[d];
          rest /= check.extents[d];
        }
        good = loadBits(first, format, from) == actual;
      } else if (check.rule == 1) { // Table
        const PatternRange &range = table[loadBits(first, format, at)];
        const int64_t order = orderOf(format, actual);
        good = (range.flags & PatternRange::kAll) || (range.low <= order && order <= range.high) ||
               ((range.flags & PatternRange::kZero) && order == 0) ||
               ((range.flags & PatternRange::kNan) && isNan(numberOf(format, actual)));
      } else if (!format.isFloat) {
        const auto a = uint32_t(loadBits(first, format, at)), b = uint32_t(loadBits(second, format, at));
        good = uint32_t(actual) == (check.rule == 2 ? a + b : a * b);
      } else {
        const double a = numberOf(format, loadBits(first, format, at));
        double value = 0;
        if (check.rule == 2)
          value = a + numberOf(format, loadBits(second, format, at));
        else if (check.rule == 3)
          value = a * numberOf(format, loadBits(second, format, at));
        else if (check.rule == 4)
          value = a < 0 ? 0 : a;
        else
          value = __builtin_sqrt(a);
        good = (check.rule == 4 && isNan(a)) || sameNumber(format, roundedBits(format, value), actual);
      }
      count += good ? 0 : 1;
    }
    flags[threadIndex()] = count;
    for (int64_t half = kCheckThreads / 2; half > 0; half /= 2) {
      awaitBlock();
      if (threadIndex() < half)
        flags[threadIndex()] = flags[threadIndex()] + flags[threadIndex() + half];
    }
    if (threadIndex() == 0)
      wrong[block] = flags[0];
    awaitBlock();
  }
}
