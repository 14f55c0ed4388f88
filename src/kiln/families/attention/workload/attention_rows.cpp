#include "kiln/families/attention/workload/attention_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using hal::ElementType;
using namespace measure::verify;

// Half the distance from 1 to the next number of f32, in which attention is computed.
static constexpr double kRoundoff = 0x1p-24;
// What is below adds nothing to sums of f32.
static constexpr double kNoWeight = 0x1p-60;

measure::TensorType AttentionRows::tensor(size_t which) const {
  return which == 0 ? spec.query() : which == 1 ? spec.key() : spec.value();
}

//===--- What is right --------------------------------------------------------------------------------------------===//

void AttentionRows::read(size_t which, uint64_t head, uint64_t row, std::span<double> elements) const {
  readElements(spec.type, inputs[which].bytes, (head * tensor(which).shape[1] + row) * elements.size(), elements);
}

static Expectation withRounding(ElementType type, double value, double bound) {
  return rounded(widthOf(type), value, bound);
}

static Expectation meanOf(ElementType type, uint64_t count, double mean, double magnitude) {
  return meanOfEqual(widthOf(type), count, mean, roundTo(type, mean), magnitude);
}

void AttentionRows::weigh(uint64_t head, uint64_t query, KeyRange keys, std::span<Expectation> expected) const {
  std::vector<double> q(spec.depth), k(spec.depth), v(spec.valueDepth);
  std::vector<double> scores(keys.size()), errors(keys.size());
  read(0, head, query, q);
  for (uint64_t j = 0; j < keys.size(); ++j) {
    read(1, head, keys.begin + j, k);
    double sum = 0, magnitudes = 0, terms = 0;
    for (uint64_t axis = 0; axis < spec.depth; ++axis) {
      double product = q[axis] * k[axis];
      sum += product;
      magnitudes += std::fabs(product);
      terms += product != 0;
    }
    scores[j] = sum * double(spec.scale());
    errors[j] = scoreError(terms, magnitudes, double(spec.scale()));
  }
  weighKeys(scores.data(), errors.data(), static_cast<int64_t>(keys.size()), [](double x) { return std::exp(x); });
  std::ranges::fill(expected, Expectation{});
  for (uint64_t j = 0; j < keys.size(); ++j) {
    read(2, head, keys.begin + j, v);
    for (size_t c = 0; c < expected.size(); ++c)
      addWeighed(expected[c], scores[j], errors[j], v[c]);
  }
  const NumberWidth width = widthOf(spec.type);
  for (Expectation &element : expected)
    element = weighedElement(width, element);
}

ValueSums::ValueSums(const AttentionSpec &spec, const io::TensorSpan &values)
    : spec(spec), sums(spec.heads * (spec.keys + 1) * spec.valueDepth), largest(spec.heads) {
  auto heads = static_cast<int64_t>(spec.heads);
  forParts(heads, heads * static_cast<int64_t>(spec.keys * spec.valueDepth), 2, [&](int64_t begin, int64_t end) {
    std::vector<double> v(spec.valueDepth);
    for (auto head = static_cast<uint64_t>(begin); head < static_cast<uint64_t>(end); ++head)
      for (uint64_t key = 0; key < spec.keys; ++key) {
        readElements(spec.type, values.bytes, (head * spec.keys + key) * v.size(), v);
        double *after = sums.data() + (head * (spec.keys + 1) + key + 1) * v.size();
        for (size_t c = 0; c < v.size(); ++c) {
          after[c] = sumsBefore(head, key)[c] + v[c];
          largest[head] = std::max(largest[head], std::fabs(v[c]));
        }
      }
  });
}

void ValueSums::mean(uint64_t head, KeyRange keys, std::span<Expectation> expected) const {
  const double *from = sumsBefore(head, keys.begin), *to = sumsBefore(head, keys.end);
  auto count = static_cast<double>(keys.size());
  for (size_t c = 0; c < expected.size(); ++c)
    expected[c] = meanOf(spec.type, keys.size(), (to[c] - from[c]) / count, largest[head]);
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

uint64_t AttentionRows::place(size_t which, Reading reading, uint64_t head, uint64_t row, uint64_t column) const {
  measure::TensorType type = tensor(which);
  uint64_t rows = type.shape[1], columns = type.shape[2];
  switch (reading) {
  case Reading::AsItLies: break;
  case Reading::Transposed: return head * rows * columns + column * rows + row;
  case Reading::HeadsInside: return (row * spec.heads + head) * columns + column;
  case Reading::NextHead: head = (head + 1) % spec.heads; break;
  case Reading::FirstHead: head = 0; break;
  }
  return (head * rows + row) * columns + column;
}

static double narrowed(const AttentionSteps &steps, double number) {
  return steps.inputs ? steps.inputs->of(number) : number;
}

std::vector<double> AttentionRows::read(const AttentionSteps &steps, size_t which, uint64_t head, uint64_t row) const {
  std::vector<double> elements(spec.depth);
  for (uint64_t axis = 0; axis < spec.depth; ++axis)
    readElements(spec.type, inputs[which].bytes, place(which, steps.readings[which], head, row, axis),
                 {&elements[axis], 1});
  for (double &element : elements)
    element = narrowed(steps, element);
  elements.resize(steps.depth.value_or(spec.depth));
  return elements;
}

double AttentionRows::valueAt(const AttentionSteps &steps, uint64_t head, uint64_t key, uint64_t column) const {
  double number;
  readElements(spec.type, inputs[2].bytes, place(2, steps.readings[2], head, key, column), {&number, 1});
  return narrowed(steps, number);
}

// A sum in f64, or in the narrow format.
static double sumOf(const std::optional<FloatFormat> &format, size_t lanes, std::span<const double> numbers) {
  if (format)
    return narrowSum(*format, numbers, lanes);
  double sum = 0;
  for (double number : numbers)
    sum += number;
  return sum;
}

std::vector<double> AttentionRows::products(const AttentionSteps &steps, std::span<const double> query, uint64_t head,
                                            uint64_t key) const {
  std::vector<double> products = read(steps, 1, head, key);
  for (size_t axis = 0; axis < products.size(); ++axis)
    products[axis] *= query[axis];
  return products;
}

AttentionRows::Row AttentionRows::rowOf(const AttentionSteps &steps, uint64_t head, uint64_t query,
                                        uint64_t keys) const {
  Row row;
  double scale = steps.scale.value_or(spec.scale());
  std::vector<double> q = read(steps, 0, head, query), magnitudes;
  for (uint64_t key = 0; key < keys; ++key) {
    std::vector<double> terms = products(steps, q, head, key);
    row.scores.push_back(sumOf(steps.scoreSums, steps.lanes, terms) * scale);
    for (double &term : terms)
      term = std::fabs(term);
    magnitudes.push_back(sumOf({}, 1, terms) * scale);
  }
  double most = steps.subtractsMaximum ? *std::ranges::max_element(row.scores) : 0;
  for (uint64_t key = 0; key < keys; ++key) {
    row.weights.push_back(roundTo(kFormatF32, std::exp(row.scores[key] - most)));
    if (row.weights[key] > kNoWeight)
      row.magnitude = std::max(row.magnitude, magnitudes[key]);
  }
  row.sum = roundTo(kFormatF32, sumOf(steps.weightSums, steps.lanes, row.weights));
  return row;
}

void AttentionRows::weighAlongQueries(const AttentionSteps &steps, uint64_t head, Row &row) const {
  std::vector<double> sums(row.scores.size());
  for (uint64_t query = 0; query < spec.queries; ++query) {
    Row other = rowOf(steps, head, query, sums.size());
    for (uint64_t key = 0; key < sums.size(); ++key)
      sums[key] += std::exp(other.scores[key] - row.scores[key]);
  }
  for (uint64_t key = 0; key < sums.size(); ++key)
    row.weights[key] = 1 / sums[key];
  row.sum = 1;
}

Expectation AttentionRows::element(const AttentionSteps &steps, uint64_t element) const {
  uint64_t column = element % spec.valueDepth, line = element / spec.valueDepth;
  uint64_t head = line / spec.queries, query = line % spec.queries;
  if (steps.writesHeadsInside)
    head = line % spec.heads, query = line / spec.heads;
  uint64_t keys = spec.visibleKeys(query);
  if (steps.visible)
    keys = static_cast<uint64_t>(
        std::clamp<int64_t>(static_cast<int64_t>(query) + *steps.visible, 0, static_cast<int64_t>(spec.keys)));
  keys = std::min(keys, steps.keys.value_or(keys));
  if (keys == 0)
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  Row row = rowOf(steps, head, query, keys);
  if (steps.isAlongQueries)
    weighAlongQueries(steps, head, row);
  uint64_t used = std::min(keys, steps.valueKeys.value_or(keys)), terms = 0;
  std::vector<double> products;
  double magnitude = 0, mostWeight = *std::ranges::max_element(row.weights);
  bool areEqual = !steps.isAlongQueries;
  for (uint64_t key = 0; key < used; ++key) {
    double weight = row.weights[key];
    if (weight > kNoWeight) {
      areEqual = areEqual && weight == mostWeight;
      ++terms;
    }
    if (steps.exponentials)
      weight = roundTo(*steps.exponentials, weight);
    if (steps.divides)
      weight /= row.sum;
    if (steps.weights)
      weight = roundTo(*steps.weights, weight);
    products.push_back(weight * valueAt(steps, head, key, column));
    magnitude += std::fabs(products.back());
  }
  double value = sumOf(steps.valueSums, steps.lanes, products);
  // Of equal weights as little is lost as in the right result; else roughly as much as f32 loses, which is less than
  // mistakes differ by.
  if (areEqual)
    return meanOf(spec.type, terms, value, magnitude);
  double roundings = 64 + 4 * (static_cast<double>(terms) + row.magnitude);
  return withRounding(spec.type, value, std::isfinite(value) ? kRoundoff * roundings * magnitude : 0);
}

} // namespace kiln::families
