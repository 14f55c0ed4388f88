// Whether a result is what was expected.
#ifndef KILN_RUNTIME_IO_COMPARE_H
#define KILN_RUNTIME_IO_COMPARE_H

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

enum class EqualityMode {
  // Floats: |actual - expected| <= atol + rtol * |expected|, where rtol is 1e-5 and atol 1e-3 for f16, 1e-2 for bf16,
  // 1e-4
  // for f32 and f64; infinities only equal themselves, and NaN equals NaN. Integers and the f8 types: exact.
  Approximate,
  // The same bits; NaN equals any NaN.
  Exact,
};

struct Tolerance {
  double atol = 1e-4, rtol = 0;
};

// Nothing where `actual` is of the type and shape of `expected` and equals it. Otherwise what differs, first of all
// elements: "element at index 0 (-2) does not match the expected (123)"; where more than one element differs, how many
// do and where the largest difference is stand on a second line. The index counts elements in row-major order; with a
// rank of 2 or more the second line has the coordinates.
std::optional<std::string> explainDifference(const TensorSpan &actual, const TensorSpan &expected, EqualityMode mode);
// The same, where floats of all types may be off by atol + rtol * |expected|.
std::optional<std::string> explainDifference(const TensorSpan &actual, const TensorSpan &expected,
                                             const Tolerance &tolerance);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_COMPARE_H
