// Inputs that verify a product with zero points, and what they give. Every element of a requantized result is computed
// again from few numbers, in time O(mn); sums in i32 are left to the projection.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_INPUTS_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_INPUTS_H

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/families/matmul/workload/quantized_spec.h"

namespace kiln::families {

//   Sums      any numbers of 8 bits, among them runs of the smallest and of the largest, so that pairs of products
//   exceed
//             i16; scales with all bits of an f32
//   Ties      few products, and scales that make halves of many sums: shows how results are rounded
//   NearTies  few products, and scales whose product with a sum has a half once it is rounded to f32, and not before
enum class QuantizedPass { Sums, Ties, NearTies };
std::string_view passName(QuantizedPass pass);
// A result in i32 has the first alone.
std::span<const QuantizedPass> passesOf(const QuantizedSpec &spec);

// The inputs of a pass, by position.
class QuantizedInputs {
public:
  QuantizedInputs(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed);

  int32_t lhs(uint64_t row, uint64_t p) const;
  int32_t rhs(uint64_t p, uint64_t column) const;
  // 0 for the scale of all columns.
  float scale(uint64_t column) const { return scales[column]; }

  // Of requantized results: the sum with zero points.
  int64_t sum(uint64_t row, uint64_t column) const;

private:
  static constexpr uint64_t kBlocks = 4; // parts of the reduction
  static constexpr uint64_t kLines = 16; // different rows, and columns, of each part
  struct Term {
    uint64_t place;
    int32_t factor;
  };

  uint64_t blockOf(uint64_t p) const;
  // Which of the kLines a row or a column is in a part of the reduction.
  uint64_t lineOf(uint64_t which, uint64_t index, uint64_t block) const;
  int32_t dense(uint64_t which, uint64_t line, uint64_t p) const;
  int32_t lhsOfLine(uint64_t line, uint64_t p) const;
  int32_t rhsOfLine(uint64_t line, uint64_t p) const;
  void makeTable();
  void makeTerms();
  void makeScales();

  QuantizedSpec spec;
  QuantizedPass pass;
  uint64_t key;
  uint64_t sparse = 1;        // of so many positions of rhs, one is not its zero point
  std::vector<int64_t> table; // of each part, line of lhs and line of rhs: their sum
  std::vector<Term> terms;    // of each column, where there are few
  uint64_t termsOfColumn = 0;
  std::vector<float> scales;
};

Status fillQuantized(const QuantizedSpec &spec, QuantizedPass pass, uint64_t seed, measure::MutableTensors inputs);

// The definition: f32 arithmetic, rounded to nearest even.
int32_t requantize(const QuantizedSpec &spec, int64_t sum, float scale);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_QUANTIZED_INPUTS_H
