// Inputs of reductions, softmax and norms, and checks of their results, on a GPU: as kernels.cpp, but of rows.
#include "kiln/measure/verify/device/kernel_numbers.h"

using namespace kiln::measure::verify;

namespace {

KILN_SHARED double partial[kCheckThreads];
KILN_SHARED uint32_t flags[kCheckThreads];

// A number that rounds to the element of a type, or that an integer is.
uint64_t elementOf(const DeviceFormat &format, double number) {
  return format.isFloat ? roundedBits(format, number) : encode(format, int32_t(number));
}

KILN_SHARED double scores[AttentionTask::kMostKeys], errors[AttentionTask::kMostKeys];

// exp of a number that is not above zero, within two roundings; 0 below the smallest normal number.
double exponential(double x) {
  if (x < -708)
    return 0;
  constexpr double kLog2e = 0x1.71547652b82fep0, kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
  const auto power = int64_t(x * kLog2e - 0.5);
  const double rest = (x - double(power) * kLn2High) - double(power) * kLn2Low; // at most half of ln 2
  double sum = 1;
  for (int32_t term = 14; term > 0; --term)
    sum = 1 + rest / term * sum;
  return sum * powerOfTwo(power);
}

// What all threads of a row have, made one by `join`; they are `rowsPerBlock` apart.
template <typename T, typename Join> T joined(KILN_SHARED T *of, T own, int32_t rowsPerBlock, Join join) {
  awaitBlock();
  of[threadIndex()] = own;
  for (int64_t half = kCheckThreads / 2; half >= rowsPerBlock; half /= 2) {
    awaitBlock();
    if (threadIndex() < half)
      of[threadIndex()] = join(of[threadIndex()], of[threadIndex() + half]);
  }
  awaitBlock();
  return of[threadIndex() % rowsPerBlock];
}

// A row of the input, of which each thread reads some columns.
struct Row {
  const RowsTask &task;
  const uint8_t *input;
  int64_t start, lane, lanes;
  bool isThere;

  double at(int64_t column) const {
    return numberOf(task.format, loadBits(input, task.format, start + column * task.inner));
  }
  template <typename Use> void each(Use use) const {
    for (int64_t column = isThere ? lane : task.columns; column < task.columns; column += lanes)
      use(column, at(column));
  }
  double sum(double own) const {
    return joined(partial, own, task.rowsPerBlock, [](double a, double b) { return a + b; });
  }
  double largest(double own) const {
    return joined(partial, own, task.rowsPerBlock, [](double a, double b) { return largerOf(a, b); });
  }
  bool all(bool own) const {
    return joined(flags, uint32_t(own), task.rowsPerBlock, [](uint32_t a, uint32_t b) { return a & b; });
  }
};

// The number of wrong ones among the elements that this thread looks at.
struct Results {
  const RowsTask &task;
  const uint8_t *out;
  uint32_t wrong = 0;

  void look(int64_t element, const Expectation &expected) {
    const double actual = numberOf(task.resultFormat, loadBits(out, task.resultFormat, element));
    wrong += isRight(task.largest, task.mayFlush, expected, actual) ? 0 : 1;
  }
};

void checkReduction(const RowsTask &task, const Row &row, int64_t which, Results &results) {
  Expectation expected;
  if (task.rule == RowsTask::kSum || task.rule == RowsTask::kMean) {
    double own = 0;
    row.each([&](int64_t, double x) { own += x; });
    const double sum = row.sum(own);
    if (task.rule == RowsTask::kMean)
      expected = meanOfSum(task.width, sum, double(task.columns));
    else
      expected.value =
          task.resultFormat.isFloat ? numberOf(task.resultFormat, roundedBits(task.resultFormat, sum)) : sum;
  } else {
    const double sign = task.rule == RowsTask::kSmallest ? -1 : 1;
    double own = -kInfinity;
    row.each([&](int64_t, double x) { own = largerOf(own, sign * x); });
    expected.value = sign * row.largest(own);
  }
  if (row.isThere && row.lane == 0)
    results.look(which, expected);
}

void checkSoftmax(const RowsTask &task, const Row &row, Results &results) {
  double own = -kInfinity;
  row.each([&](int64_t, double x) { own = largerOf(own, x); });
  const double most = row.largest(own);
  RowExponentials sums;
  row.each([&](int64_t, double x) { sums.add(exponential(x - most), most - x); });
  sums.sum = row.sum(sums.sum);
  sums.distances = row.sum(sums.distances);
  sums.areExact = row.all(sums.areExact);
  row.each([&](int64_t column, double x) {
    results.look(row.start + column,
                 softmaxElement(task.width, sums, double(task.columns), exponential(x - most), most - x));
  });
}

void checkNorm(const RowsTask &task, const Row &row, const uint8_t *gamma, const uint8_t *beta, Results &results) {
  const auto columns = double(task.columns);
  RowMoments moments;
  moments.epsilon = task.epsilon;
  if (task.rule == RowsTask::kLayerNorm) {
    const double first = row.isThere ? row.at(0) : 0;
    double sum = 0, magnitudes = 0;
    bool areEqual = true;
    row.each([&](int64_t, double x) {
      sum += x;
      magnitudes += magnitudeOf(x);
      areEqual = areEqual && x == first;
    });
    sum = row.sum(sum);
    magnitudes = row.sum(magnitudes);
    moments.setMean(sum, magnitudes, columns, RowMoments::isExactSum(row.all(areEqual), first, columns));
  }
  double squares = 0, distances = 0;
  row.each([&](int64_t, double x) {
    const double distance = x - moments.mean;
    squares += distance * distance;
    distances += magnitudeOf(distance);
  });
  squares = row.sum(squares);
  distances = row.sum(distances);
  moments.setVariance(squares, distances, columns);
  row.each([&](int64_t column, double x) {
    auto parameter = [&](const uint8_t *of) { return numberOf(task.format, loadBits(of, task.format, column)); };
    results.look(row.start + column, normalizedElement(task.width, moments, x, parameter(gamma),
                                                       task.rule == RowsTask::kLayerNorm ? parameter(beta) : 0));
  });
}

} // namespace

KILN_KERNEL fill_rows(const RowFillTask *task, uint8_t *tensor, KILN_OTHER_PARAMETERS) {
  const RowFillTask &fill = *task;
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < fill.elements; at += step) {
    const int64_t column = at / fill.inner % int64_t(fill.numbers.columns);
    const int64_t row = at / (fill.inner * int64_t(fill.numbers.columns)) * fill.inner + at % fill.inner;
    storeBits(tensor, fill.format, at, elementOf(fill.format, fill.numbers.at(uint64_t(row), uint64_t(column))));
  }
}

// `gamma` and `beta` are those of norms; `wrong` counts the elements of each block's rows.
KILN_KERNEL check_rows(const RowsTask *task, const uint8_t *input, const uint8_t *gamma, const uint8_t *beta,
                       const uint8_t *out, uint32_t *wrong, KILN_OTHER_PARAMETERS) {
  const RowsTask &check = *task;
  for (int64_t block = blockIndex(); block < check.blocks(); block += blockCount()) {
    const int64_t which = block * check.rowsPerBlock + threadIndex() % check.rowsPerBlock;
    const Row row{check,
                  input,
                  which / check.inner * check.columns * check.inner + which % check.inner,
                  threadIndex() / check.rowsPerBlock,
                  kCheckThreads / check.rowsPerBlock,
                  which < check.rows};
    Results results{check, out};
    if (check.rule <= RowsTask::kSmallest)
      checkReduction(check, row, which, results);
    else if (check.rule == RowsTask::kSoftmax)
      checkSoftmax(check, row, results);
    else
      checkNorm(check, row, gamma, beta, results);
    const uint32_t count = joined(flags, results.wrong, 1, [](uint32_t a, uint32_t b) { return a + b; });
    if (threadIndex() == 0)
      wrong[block] = count;
  }
}

// A thread goes along the keys of a column of a head: `before` gets the sums of its values before each key, and behind
// the last, and `largest` the largest magnitude of one.
KILN_KERNEL sum_values(const ValueSumsTask *task, const uint8_t *values, double *before, double *largest,
                       KILN_OTHER_PARAMETERS) {
  const ValueSumsTask &of = *task;
  const int64_t step = blockCount() * kCheckThreads;
  for (int64_t at = blockIndex() * kCheckThreads + threadIndex(); at < of.heads * of.columns; at += step) {
    const int64_t head = at / of.columns, column = at % of.columns;
    double sum = 0, most = 0;
    for (int64_t key = 0; key < of.keys; ++key) {
      before[(head * (of.keys + 1) + key) * of.columns + column] = sum;
      const double value =
          numberOf(of.format, loadBits(values, of.format, (head * of.keys + key) * of.columns + column));
      sum += value;
      most = largerOf(most, magnitudeOf(value));
    }
    before[(head * (of.keys + 1) + of.keys) * of.columns + column] = sum;
    largest[at] = most;
  }
}

// A block has a query. `before` and `largest` are those of sum_values, where it takes means.
KILN_KERNEL check_attention(const AttentionTask *task, const uint32_t *keysOf, const uint8_t *queries,
                            const uint8_t *keys, const uint8_t *values, const double *before, const double *largest,
                            const uint8_t *out, uint32_t *wrong, KILN_OTHER_PARAMETERS) {
  const AttentionTask &a = *task;
  auto number = [&](const uint8_t *tensor, int64_t element) {
    return numberOf(a.format, loadBits(tensor, a.format, element));
  };
  for (int64_t row = blockIndex(); row < a.blocks(); row += blockCount()) {
    const int64_t head = row / a.queries, first = keysOf[2 * row], count = int64_t(keysOf[2 * row + 1]) - first;
    double magnitude = 0;
    if (a.weighs) {
      for (int64_t j = threadIndex(); j < count; j += kCheckThreads) {
        const int64_t key = (head * a.keys + first + j) * a.depth;
        double sum = 0, magnitudes = 0, terms = 0;
        for (int64_t axis = 0; axis < a.depth; ++axis) {
          const double product = number(queries, row * a.depth + axis) * number(keys, key + axis);
          sum += product;
          magnitudes += magnitudeOf(product);
          terms += product != 0 ? 1 : 0;
        }
        scores[j] = sum * a.scale;
        errors[j] = scoreError(terms, magnitudes, a.scale);
      }
      awaitBlock();
      if (threadIndex() == 0)
        weighKeys<KILN_SHARED double *>(scores, errors, count, exponential);
      awaitBlock();
    } else {
      for (int64_t column = threadIndex(); column < a.columns; column += kCheckThreads)
        magnitude = largerOf(magnitude, largest[head * a.columns + column]);
      magnitude = joined(partial, magnitude, 1, [](double x, double y) { return largerOf(x, y); });
    }
    uint32_t mistakes = 0;
    for (int64_t column = threadIndex(); column < a.columns; column += kCheckThreads) {
      Expectation expected;
      if (a.weighs) {
        for (int64_t j = 0; j < count; ++j)
          addWeighed(expected, scores[j], errors[j], number(values, (head * a.keys + first + j) * a.columns + column));
        expected = weighedElement(a.width, expected);
      } else {
        const int64_t from = head * (a.keys + 1) + first;
        const double mean =
            (before[(from + count) * a.columns + column] - before[from * a.columns + column]) / double(count);
        expected =
            meanOfEqual(a.width, uint64_t(count), mean, numberOf(a.format, roundedBits(a.format, mean)), magnitude);
      }
      const double actual = number(out, row * a.columns + column);
      mistakes += isRight(a.width.largest, /*mayFlush=*/true, expected, actual) ? 0 : 1;
    }
    const uint32_t all = joined(flags, mistakes, 1, [](uint32_t x, uint32_t y) { return x + y; });
    if (threadIndex() == 0)
      wrong[row] = all;
  }
}
