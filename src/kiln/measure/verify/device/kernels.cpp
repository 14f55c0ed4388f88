// Inputs of contractions, projections of their results, and sums of a sample of them, on a GPU. Clang compiles this to
// PTX when Kiln is built, and Kiln's own compiler has no part in it. device_check.h launches them; executables in
// schema/gpu_executable.fbs says what a kernel's parameters are. Without the standard library, which has no headers for
// GPUs.
#include "kiln/measure/verify/device/kernel_numbers.h"

using namespace kiln::measure::verify;
using kiln::randomBits;

namespace {

constexpr int64_t kPrime = (int64_t(1) << 61) - 1;
constexpr uint64_t kLimb = (uint64_t(1) << 21) - 1;
// Products of an integer of 32 bits and a limb of 21, so many of which fit into 64 bits.
constexpr int64_t kRun = 256;

KILN_SHARED int64_t sums[ProjectTask::kRowsOfThread * kCheckThreads];
KILN_SHARED uint32_t flags[kCheckThreads];
KILN_SHARED double exactSums[kCheckThreads], lostSums[kCheckThreads], magnitudes[kCheckThreads], squares[kCheckThreads];

// Sums in f64, with what rounding loses of each caught (Neumaier).
struct ExactSum {
  double sum = 0, lost = 0;
  void add(double term) {
    const double next = sum + term;
    lost += __builtin_fabs(sum) >= __builtin_fabs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
};

// Of the field's elements.
int64_t added(int64_t a, int64_t b) {
  const int64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}
// The element that an integer between -2^61 and 2^61 is, times 2^shift: 2^61 is 1 in the field, and bits come back in
// below.
int64_t elementOf(int64_t integer, int32_t shift) {
  const int64_t element = integer < 0 ? integer + kPrime : integer;
  return (element << shift & kPrime) | element >> (61 - shift);
}

} // namespace

KILN_KERNEL fill_operand(const FillTask *__restrict task, uint8_t *__restrict tensor, KILN_OTHER_PARAMETERS) {
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
    const int64_t start = fill.layout.offset(b, line, 0);
    int64_t position = firstPosition + (fill.linesAreInner ? 0 : threadIndex());
    for (int64_t i = 0; i < FillTask::kPositions && position < fill.positions; ++i, position += step) {
      const int32_t value = fill.isLhs ? fill.numbers.lhsOf(ofLine, position) : fill.rhsAt(ofLine, position);
      storeBits(tensor, fill.format, start + position * fill.layout.column, encode(fill.format, value));
    }
  }
}

KILN_KERNEL prefill_output(const PrefillTask *__restrict task, uint8_t *__restrict tensor, KILN_OTHER_PARAMETERS) {
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t element = blockIndex() * kCheckThreads + threadIndex(); element < task->elements; element += step)
    storeBits(tensor, task->format, element,
              task->zeros     ? 0
              : task->allBits ? ~uint64_t(0)
                              : encode(task->format, InputNumbers::prefill(uint64_t(element))));
}

namespace {

// Rows of a matrix whose elements have so many bytes. A thread has several rows at once, as an element of the vector is
// taken apart for all of them.
template <int kBytes, bool kIsPatches>
void projectRows(const ProjectTask &projection, const uint8_t *tensor, const int64_t *vector, int64_t *result) {
  constexpr int kRows = kIsPatches ? 1 : ProjectTask::kRowsOfThread;
  const DeviceMatrix &matrix = projection.matrix;
  const DeviceFormat format = matrix.format;
  const int64_t rows = projection.rows, columns = projection.columns, rowsPerBlock = projection.rowsPerBlock;
  const int64_t blocks = projection.blocksPerMatrix(), allBlocks = projection.blocks();
  const int64_t step = matrix.layout.column;
  const int64_t lanes = kCheckThreads / rowsPerBlock, lane = threadIndex() / rowsPerBlock;
  for (int64_t block = blockIndex(); block < allBlocks; block += blockCount()) {
    const int64_t b = block / blocks, firstRow = block % blocks * rowsPerBlock * kRows + threadIndex() % rowsPerBlock;
    const int64_t *weights = vector + b * projection.vectorStride;
    // Rows behind the last one are the last one.
    int64_t ownRows[kRows], starts[kRows], elements[kRows];
    bool good[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int64_t row = firstRow + r * rowsPerBlock;
      ownRows[r] = row < rows ? row : rows - 1;
      // Of what is no patch neighbours are as far apart everywhere.
      starts[r] = kIsPatches ? 0 : matrix.layout.offset(b, ownRows[r], 0);
      elements[r] = 0;
      good[r] = true;
    }
    for (int64_t column = lane; column < columns;) {
      // An element of the field as three limbs, the products with each of which are added up by themselves.
      int64_t low[kRows] = {}, middle[kRows] = {}, high[kRows] = {};
      const int64_t left = (columns - column + lanes - 1) / lanes;
      const auto run = int32_t(left < kRun ? left : kRun);
      for (int32_t i = 0; i < run; ++i, column += lanes) {
        const auto weight = uint64_t(weights[column]);
        const auto lowLimb = int32_t(weight & kLimb), middleLimb = int32_t(weight >> 21 & kLimb),
                   highLimb = int32_t(weight >> 42);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          int32_t value = 0;
          if constexpr (kIsPatches) {
            if (const int64_t at = matrix.patches.offset(b, ownRows[r], column); at >= 0)
              good[r] &= decode<kBytes>(format, loadBits<kBytes>(tensor, at), value);
          } else {
            good[r] &= decode<kBytes>(format, loadBits<kBytes>(tensor, starts[r] + column * step), value);
          }
          low[r] += int64_t(value) * lowLimb;
          middle[r] += int64_t(value) * middleLimb;
          high[r] += int64_t(value) * highLimb;
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        elements[r] =
            added(added(elements[r], elementOf(low[r], 0)), added(elementOf(middle[r], 21), elementOf(high[r], 42)));
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      sums[r * kCheckThreads + threadIndex()] = good[r] ? elements[r] : ProjectTask::kBad;
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      awaitBlock();
      for (int r = 0; r < kRows && lane < half; ++r) {
        const int64_t at = r * kCheckThreads + threadIndex();
        const int64_t own = sums[at], other = sums[at + half * rowsPerBlock];
        sums[at] = own < 0 || other < 0 ? ProjectTask::kBad : added(own, other);
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      if (const int64_t row = firstRow + r * rowsPerBlock; lane == 0 && row < rows)
        result[b * rows + row] = sums[r * kCheckThreads + threadIndex()];
    // The next rows' numbers come where these are.
    awaitBlock();
  }
}

} // namespace

KILN_KERNEL project(const ProjectTask *__restrict task, const uint8_t *__restrict tensor,
                    const int64_t *__restrict vector, int64_t *__restrict result, KILN_OTHER_PARAMETERS) {
  withBytes(task->matrix.format.bytes,
            [&](auto known) { projectRows<known.kBytes, false>(*task, tensor, vector, result); });
}

// Apart from the others, as it takes more registers.
KILN_KERNEL project_patches(const ProjectTask *__restrict task, const uint8_t *__restrict tensor,
                            const int64_t *__restrict vector, int64_t *__restrict result, KILN_OTHER_PARAMETERS) {
  withBytes(task->matrix.format.bytes,
            [&](auto known) { projectRows<known.kBytes, true>(*task, tensor, vector, result); });
}

KILN_KERNEL fill_scaled(const ScaledFillTask *__restrict task, const uint8_t *__restrict numbers,
                        uint8_t *__restrict tensor, KILN_OTHER_PARAMETERS) {
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
      const int64_t leftAt = dot.lhs.offset(b, i, p);
      const double left = leftAt < 0 ? 0 : numberOf(dot.lhs.format, loadBits(lhs, dot.lhs.format, leftAt)),
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
