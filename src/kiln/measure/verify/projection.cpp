#include "kiln/measure/verify/projection.h"

#include <algorithm>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::measure::verify {

namespace {

constexpr int64_t kRun = 1024; // elements that are converted at once, in the first-level cache

// A matrix, or its transpose.
struct Matrix {
  const Operand &operand;
  int64_t b, rows, columns;
  bool transposed;

  bool loadRow(int64_t row, int64_t column, int64_t count, int32_t *out) const {
    return transposed ? operand.loadDown(b, column, row, count, out) : operand.loadAlong(b, row, column, count, out);
  }
  bool loadColumn(int64_t row, int64_t column, int64_t count, int32_t *out) const {
    return transposed ? operand.loadAlong(b, column, row, count, out) : operand.loadDown(b, row, column, count, out);
  }
  bool rowsAreFast() const { return operand.runsDown() == transposed; }
};

// |integer| < 2^31 and |element| < 2^61: 2^35 products fit into 128 bits.
Int128 dot(const int32_t *integers, const int64_t *elements, int64_t count) {
  Int128 sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += static_cast<Int128>(integers[i]) * elements[i];
  return sum;
}

void multiplyByRows(const Matrix &matrix, std::span<const int64_t> vector, int64_t begin, int64_t end, Product &out) {
  int32_t run[kRun];
  for (int64_t row = begin; row < end; ++row) {
    Int128 sum = 0;
    bool good = true;
    for (int64_t column = 0; column < matrix.columns; column += kRun) {
      int64_t count = std::min(kRun, matrix.columns - column);
      good &= matrix.loadRow(row, column, count, run);
      sum += dot(run, vector.data() + column, count);
    }
    out.elements[row] = reduce(sum);
    out.bad[row] = !good;
  }
}

void multiplyByColumns(const Matrix &matrix, std::span<const int64_t> vector, int64_t begin, int64_t end,
                       Product &out) {
  int32_t run[kRun];
  Int128 sums[kRun];
  for (int64_t row = begin; row < end; row += kRun) {
    int64_t count = std::min(kRun, end - row);
    std::fill_n(sums, count, Int128(0));
    for (int64_t column = 0; column < matrix.columns; ++column) {
      if (!matrix.loadColumn(row, column, count, run)) {
        int32_t ignored;
        for (int64_t i = 0; i < count; ++i)
          out.bad[row + i] |= static_cast<uint8_t>(!matrix.loadColumn(row + i, column, 1, &ignored));
      }
      for (int64_t i = 0; i < count; ++i)
        sums[i] += static_cast<Int128>(run[i]) * vector[column];
    }
    for (int64_t i = 0; i < count; ++i)
      out.elements[row + i] = reduce(sums[i]);
  }
}

Product multiply(const Matrix &matrix, std::span<const int64_t> vector, unsigned threads) {
  Product product;
  product.elements.resize(matrix.rows);
  product.bad.resize(matrix.rows);
  auto part = [&](int64_t begin, int64_t end) {
    (matrix.rowsAreFast() ? multiplyByRows : multiplyByColumns)(matrix, vector, begin, end, product);
  };
  forParts(matrix.rows, matrix.rows * std::max<int64_t>(matrix.columns, 1), threads, part);
  return product;
}

bool anyBad(const Product &product) {
  return std::find(product.bad.begin(), product.bad.end(), 1) != product.bad.end();
}

std::vector<int64_t> differences(const Product &expected, const Product &actual) {
  std::vector<int64_t> lines;
  for (size_t i = 0; i < actual.elements.size(); ++i)
    if (actual.bad[i] || actual.elements[i] != expected.elements[i])
      lines.push_back(static_cast<int64_t>(i));
  return lines;
}

constexpr uint64_t kRowVector = 0x726F77, kColumnVector = 0x636F6C;

} // namespace

Product multiply(const Operand &operand, int64_t b, int64_t rows, int64_t columns, std::span<const int64_t> vector,
                 unsigned threads) {
  return multiply({operand, b, rows, columns, false}, vector, threads);
}

Product multiplyTransposed(const Operand &operand, int64_t b, int64_t rows, int64_t columns,
                           std::span<const int64_t> vector, unsigned threads) {
  return multiply({operand, b, columns, rows, true}, vector, threads);
}

RowWeights rowWeights(const ColumnMap &columns, uint64_t seed, int64_t count) {
  RowWeights weights;
  weights.ofOutputs = randomFieldVector(randomBits(seed, kRowVector), count);
  weights.ofSums.resize(count);
  for (int64_t j = 0; j < count; ++j) {
    const int64_t weight = weights.ofOutputs[j];
    weights.ofSums[j] = reduce(static_cast<Int128>(columns.scaleAt(j)) * weight);
    weights.bias += static_cast<Int128>(columns.biasAt(j)) * weight;
  }
  return weights;
}

Result<std::vector<WrongLines>> findWrongRows(const ContractionCase &subject, const Operand &out, uint64_t seed,
                                              unsigned threads) {
  const Operand &lhs = *subject.lhs, &rhs = *subject.rhs;
  const RowWeights weights = rowWeights(subject.columns, seed, subject.n);
  std::vector<WrongLines> wrong;
  for (int64_t b = 0; b < subject.batch; ++b) {
    Product projected = multiply(rhs, b, subject.k, subject.n, weights.ofSums, threads);
    Product expected = multiply(lhs, b, subject.m, subject.k, projected.elements, threads);
    if (anyBad(projected) || anyBad(expected))
      return invalidArgument("batch {}: {} holds something else than integers; exact verification needs the inputs "
                             "that it makes",
                             b, anyBad(expected) ? "lhs" : "rhs");
    for (int64_t &element : expected.elements)
      element = reduce(weights.bias + element);
    std::vector<int64_t> rows =
        differences(expected, multiply(out, b, subject.m, subject.n, weights.ofOutputs, threads));
    if (!rows.empty())
      wrong.push_back({b, std::move(rows), {}});
  }
  return wrong;
}

void findWrongColumns(const ContractionCase &subject, const Operand &out, uint64_t seed, unsigned threads,
                      WrongLines &lines) {
  const Operand &lhs = *subject.lhs, &rhs = *subject.rhs;
  std::vector<int64_t> y = randomFieldVector(randomBits(seed, kColumnVector), subject.m);
  Int128 sumOfY = 0;
  for (int64_t element : y)
    sumOfY += element;
  Product projected = multiplyTransposed(lhs, lines.b, subject.m, subject.k, y, threads);
  Product expected = multiplyTransposed(rhs, lines.b, subject.k, subject.n, projected.elements, threads);
  for (int64_t j = 0; j < subject.n; ++j)
    expected.elements[j] = reduce(static_cast<Int128>(subject.columns.scaleAt(j)) * expected.elements[j] +
                                  static_cast<Int128>(subject.columns.biasAt(j)) * reduce(sumOfY));
  lines.columns = differences(expected, multiplyTransposed(out, lines.b, subject.m, subject.n, y, threads));
}

} // namespace kiln::measure::verify
