// Attention of single queries in f64: as the definition has it, and as mistaken programs compute it.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_ROWS_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_ROWS_H

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kiln/families/attention/workload/attention_inputs.h"
#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/narrowing.h"

namespace kiln::families {

// How a program finds the elements of a tensor of heads x rows x columns.
enum class Reading {
  AsItLies,
  Transposed,  // the matrix of each head as columns x rows
  HeadsInside, // as rows x heads x columns
  NextHead,    // of another head: the next one, or the first one
  FirstHead,
};

// What a program does. The default is the definition.
struct AttentionSteps {
  std::array<Reading, 3> readings = {};                          // of queries, keys and values
  bool writesHeadsInside = false;                                // the result as queries x heads x value depth
  std::optional<double> scale = {};                              // another one
  std::optional<uint64_t> depth = {}, keys = {}, valueKeys = {}; // so many of the first elements, keys, values
  std::optional<int64_t> visible = {}; // keys that query 0 sees; each other one sees one more than that before it
  bool subtractsMaximum = true, divides = true, isAlongQueries = false;
  std::optional<measure::verify::Narrowing> inputs = {}; // are rounded first
  // Weights are rounded before they meet the values, and before or after they were divided by their sum.
  std::optional<measure::verify::FloatFormat> exponentials = {}, weights = {};
  // Sums are kept in a narrower type, in so many lanes.
  std::optional<measure::verify::FloatFormat> scoreSums = {}, weightSums = {}, valueSums = {};
  size_t lanes = 1;
};

class AttentionRows {
public:
  AttentionRows(const AttentionSpec &spec, measure::Tensors inputs) : spec(spec), inputs(inputs) {}

  // The result of one query, of which keys outside of `keys` have no part, and how far a program that computes in f32
  // may be from it, in any order of sums.
  void weigh(uint64_t head, uint64_t query, KeyRange keys, std::span<measure::verify::Expectation> expected) const;
  // What a program that takes such steps computes, for an element of the output as it lies in memory.
  measure::verify::Expectation element(const AttentionSteps &steps, uint64_t element) const;

private:
  struct Row {
    std::vector<double> scores, weights;
    double sum = 0;       // of the weights
    double magnitude = 0; // of the products that make a score that weighs: the largest sum of their magnitudes
  };
  measure::TensorType tensor(size_t which) const;
  void read(size_t which, uint64_t head, uint64_t row, std::span<double> elements) const;
  std::vector<double> read(const AttentionSteps &steps, size_t which, uint64_t head, uint64_t row) const;
  double valueAt(const AttentionSteps &steps, uint64_t head, uint64_t key, uint64_t column) const;
  uint64_t place(size_t which, Reading reading, uint64_t head, uint64_t row, uint64_t column) const;
  std::vector<double> products(const AttentionSteps &steps, std::span<const double> query, uint64_t head,
                               uint64_t key) const;
  Row rowOf(const AttentionSteps &steps, uint64_t head, uint64_t query, uint64_t keys) const;
  // Weights whose sum is 1 over all queries for each key.
  void weighAlongQueries(const AttentionSteps &steps, uint64_t head, Row &row) const;

  const AttentionSpec spec;
  const measure::Tensors inputs;
};

// Sums of integer values over the keys of each head, from the first one on, so that any mean takes one step.
class ValueSums {
public:
  ValueSums(const AttentionSpec &spec, const io::TensorSpan &values);

  // The result of a query of which `keys` have equal scores and all others no part.
  void mean(uint64_t head, KeyRange keys, std::span<measure::verify::Expectation> expected) const;

private:
  const double *sumsBefore(uint64_t head, uint64_t key) const {
    return sums.data() + (head * (spec.keys + 1) + key) * spec.valueDepth;
  }

  const AttentionSpec spec;
  std::vector<double> sums;
  std::vector<double> largest; // magnitude of a value of each head
};

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_ROWS_H
