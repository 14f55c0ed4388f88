// Freivalds' check in the field of 2^61-1 elements: a matrix times a vector of random elements takes one reading of the
// matrix, and a row of C that differs from A * B differs from it in C * x too, unless the random x happens to be
// orthogonal to the difference: for one in 2^61-1 of all x.
#ifndef KILN_MEASURE_VERIFY_PROJECTION_H
#define KILN_MEASURE_VERIFY_PROJECTION_H

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/operand.h"

namespace kiln::measure::verify {

struct Product {
  std::vector<int64_t> elements; // of the field
  std::vector<uint8_t> bad;      // for each row, whether it holds something that is no integer
};

// Matrix b of the operand, rows x columns, times the vector; or its transpose, columns x rows, times the vector.
Product multiply(const Operand &operand, int64_t b, int64_t rows, int64_t columns, std::span<const int64_t> vector,
                 unsigned threads);
Product multiplyTransposed(const Operand &operand, int64_t b, int64_t rows, int64_t columns,
                           std::span<const int64_t> vector, unsigned threads);

// What the columns of an output are multiplied by, and what stands for that where it is scale * sum + bias in each
// column: (scale * sum + bias) . x = sum . (scale * x) + bias . x
struct RowWeights {
  std::vector<int64_t> ofOutputs, ofSums; // x, and scale * x
  Int128 bias = 0;                        // bias . x
};
RowWeights rowWeights(const ColumnMap &columns, uint64_t seed, int64_t count);

// Where one batch is wrong.
struct WrongLines {
  int64_t b = 0;
  std::vector<int64_t> rows, columns; // ascending; each wrong element is in one of each

  bool operator==(const WrongLines &) const = default;
};

// The batches whose output is wrong, in ascending order, with their rows; columns are left empty. Fails where an
// operand holds something that is no integer.
Result<std::vector<WrongLines>> findWrongRows(const ContractionCase &subject, const Operand &out, uint64_t seed,
                                              unsigned threads);
// The columns of a batch that is wrong.
void findWrongColumns(const ContractionCase &subject, const Operand &out, uint64_t seed, unsigned threads,
                      WrongLines &lines);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_PROJECTION_H
