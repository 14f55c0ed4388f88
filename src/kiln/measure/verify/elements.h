// Verification of outputs whose elements are known one by one: elementwise operations, and what is computed row by row.
// Computing the expected elements again takes as long as the operation does, so every element is looked at.
#ifndef KILN_MEASURE_VERIFY_ELEMENTS_H
#define KILN_MEASURE_VERIFY_ELEMENTS_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kiln/measure/verify/row_results.h"
#include "kiln/measure/verify/verdict.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::measure::verify {

using hal::ElementType;

// Numbers of a floating-point type in their order: the bits of those above zero, and below zero the same with a minus.
// NaN is beyond both infinities.
int64_t orderOf(ElementType type, uint64_t bits);
// All numbers from `low` to `high`, in that order; none where `high` is less.
struct ElementRange {
  int64_t low = 0, high = -1;
};
// What is right of elements that are numbers, infinities among them.
ElementRange rightRange(ElementType type, const Expectation &expected);

// What is right of an element of a floating-point type: a range, and what may be right besides.
struct RightElements {
  ElementRange range;
  bool nan = false, zero = false, all = false;
};
RightElements rightElements(ElementType type, const Expectation &expected, bool mayFlush);

// A mistake that would have made something else of an element. If it explains up to 32 wrong ones, it is the cause.
struct Suspicion {
  Cause cause;
  std::string reason; // "f16 sums give just these numbers"
  std::function<Expectation(uint64_t element)> expected;
};

struct ElementCase {
  ElementType type;
  std::vector<uint64_t> shape;
  std::span<const uint8_t> bytes; // of the output, dense and row-major
  // What the elements from `first` on should be. It is asked for whole units, from several threads at once.
  std::function<void(uint64_t first, std::span<Expectation> expected)> expected;
  uint64_t unit = 1;     // elements that are computed together: a row
  uint64_t unitWork = 1; // roughly the nanoseconds that a unit takes
  // What an element held before the run, and what it would be if the result was added to that.
  std::function<double(uint64_t element)> before;
  // Takes zero for a result that is below the smallest normal number of f32: many programs flush these.
  bool mayFlush = false;
  std::string method; // "exact: each element computed again"
  std::vector<Suspicion> suspicions = {};
};

Verdict checkElements(const ElementCase &subject, unsigned threads = 2);

// Elements as numbers: `numbers.size()` of them from `first` on.
void readElements(ElementType type, std::span<const uint8_t> bytes, uint64_t first, std::span<double> numbers);

// See row_results.h.
NumberWidth widthOf(ElementType type);
double halfSpacing(ElementType type, double value);

// A float rounded to nearest as an element, or an integer that the type has.
void writeElement(ElementType type, double value, uint8_t *bytes);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_ELEMENTS_H
