// A problem for tests: a matrix product of small integers, checked element by element.
#ifndef KILN_MEASURE_WORKERS_TESTING_TINY_MATMUL_H
#define KILN_MEASURE_WORKERS_TESTING_TINY_MATMUL_H

#include <cmath>
#include <cstring>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/narrow_float.h"
#include "kiln/base/random.h"
#include "kiln/measure/workers/group.h"
#include "kiln/measure/workload.h"

namespace kiln::measure::testing {

// Elements as numbers.
inline double readElement(io::ElementType type, const uint8_t *bytes) {
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  };
  switch (type) {
  case io::ElementType::F32: return as(float());
  case io::ElementType::F64: return as(double());
  case io::ElementType::F16: return kF16.decode(as(uint16_t()));
  case io::ElementType::BF16: return kBF16.decode(as(uint16_t()));
  case io::ElementType::I8: return as(int8_t());
  case io::ElementType::UI8: return as(uint8_t());
  default: return as(int32_t());
  }
}

inline void writeElement(io::ElementType type, uint8_t *bytes, double number) {
  auto as = [&](auto value) { std::memcpy(bytes, &value, sizeof(value)); };
  switch (type) {
  case io::ElementType::F32: return as(float(number));
  case io::ElementType::F64: return as(number);
  case io::ElementType::F16: return as(kF16.encode(number));
  case io::ElementType::BF16: return as(kBF16.encode(number));
  case io::ElementType::I8: return as(int8_t(number));
  case io::ElementType::UI8: return as(uint8_t(number));
  default: return as(int32_t(number));
  }
}

class TinyMatmul : public Problem {
public:
  uint64_t batch = 0, m = 5, n = 7, k = 6; // batch 0: no batch
  io::ElementType in = io::ElementType::F32, out = io::ElementType::F32;
  char lhs = 't', rhs = 't', result = 't';
  bool splitK = false;      // which changes nothing about the product
  bool weights = false;     // the right operand is one
  bool checksTimed = false; // timed results are known; without a batch, rows first
  bool sparing = false;     // they are told only where that is required
  mutable std::vector<size_t> checkedPasses;

  std::string_view family() const override { return splitK ? "matmul_splitk" : batch ? "batch_matmul" : "matmul"; }
  std::string name() const override {
    return fmt::format("{}_{}{}x{}x{}_{}_{}_{}", family(), batch ? fmt::format("{}x", batch) : "", m, n, k,
                       typed(in, lhs), typed(in, rhs), typed(out, result));
  }
  Fields fields() const override {
    std::vector<std::pair<std::string, std::string>> fields = {{"batch_count", std::to_string(batch ? batch : 1)},
                                                               {"m", std::to_string(m)},
                                                               {"n", std::to_string(n)},
                                                               {"k", std::to_string(k)},
                                                               {"lhs", typed(in, lhs)},
                                                               {"rhs", typed(in, rhs)},
                                                               {"result", typed(out, result)}};
    if (splitK)
      fields.insert(fields.end(), {{"split_k_mode", "serial"}, {"split_k_slices", "2"}, {"partials", "f32"}});
    return fields;
  }
  std::vector<TensorType> inputs() const override { return {tensor(in, lhs, m, k), tensor(in, rhs, k, n)}; }
  std::vector<TensorType> outputs() const override { return {tensor(out, result, m, n)}; }
  bool isWeight(size_t input) const override { return weights && input == 1; }
  // Of the first pass alone.
  Result<verify::DeviceCase> deviceCase(size_t pass, uint64_t seed) const override {
    if (pass != 0)
      return unimplemented("the host counts better");
    verify::DeviceCase subject;
    subject.right.method = "each row";
    subject.right.total = m * n;
    return subject;
  }
  std::unique_ptr<verify::TimedCheck> timedCheck(measure::Tensors inputs, uint64_t seed) const override {
    if (!checksTimed)
      return nullptr;
    auto check = std::make_unique<Expected>();
    std::vector<double> right(k * n);
    for (uint64_t l = 0; l < k; ++l)
      for (uint64_t j = 0; j < n; ++j)
        right[l * n + j] = at(inputs[1], rhs, 0, l, j, k, n);
    for (uint64_t i = 0; i < m; ++i) {
      std::vector<double> row(n);
      for (uint64_t l = 0; l < k; ++l)
        for (double left = at(inputs[0], lhs, 0, i, l, m, k); uint64_t j : std::views::iota(uint64_t(0), n))
          row[j] += left * right[l * n + j];
      check->elements.insert(check->elements.end(), row.begin(), row.end());
    }
    return check;
  }
  uint64_t fewestTimedChecks() const override { return checksTimed && sparing ? 8 : 0; }
  bool leavesOutTimedCheck(uint64_t) const override { return sparing; }
  double flops() const override { return 2.0 * double(m * n * k * (batch ? batch : 1)); }
  std::string mlir(std::string_view function, std::string_view configuration) const override { return {}; }
  std::vector<std::string> passes() const override { return {"small integers", "other small integers"}; }

  // From -3 to 3, so that every result is exact in every type.
  Status fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const override {
    Random random(seed + pass * 77 + 1);
    for (const MutableTensor &tensor : inputs)
      for (size_t i = 0; i < tensor.span().elementCount(); ++i)
        writeElement(tensor.type, tensor.bytes.data() + i * hal::elementTypeByteSize(tensor.type),
                     double(int64_t(random.below(7)) - 3));
    return okStatus();
  }

  verify::Verdict check(size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) const override {
    checkedPasses.push_back(pass);
    verify::Verdict verdict;
    verdict.method = "each element";
    for (uint64_t b = 0; b < (batch ? batch : 1); ++b)
      for (uint64_t i = 0; i < m; ++i)
        for (uint64_t j = 0; j < n; ++j) {
          double expected = this->expected(inputs, b, i, j);
          double actual = at(outputs[0], result, b, i, j, m, n);
          ++verdict.total;
          if (actual != expected && verdict.wrong++ == 0)
            verdict.explanation = fmt::format("element ({}, {}, {}) is {} and should be {}", b, i, j, actual, expected);
        }
    verdict.cause = verdict.wrong ? verify::Cause::Unknown : verify::Cause::None;
    return verdict;
  }

private:
  struct Expected final : verify::TimedCheck {
    std::vector<double> elements;
    verify::Verdict check(measure::Tensors outputs) const override {
      verify::Verdict verdict;
      for (size_t i = 0; i < elements.size(); ++i) {
        double actual =
            readElement(outputs[0].type, outputs[0].bytes.data() + i * hal::elementTypeByteSize(outputs[0].type));
        if (!(std::abs(actual - elements[i]) < 1e-3)) {
          verdict.cause = verify::Cause::Unknown;
          verdict.explanation = fmt::format("element {} is {} and should be {}", i, actual, elements[i]);
        }
      }
      return verdict;
    }
  };
  double expected(measure::Tensors inputs, uint64_t b, uint64_t i, uint64_t j) const {
    double sum = 0;
    for (uint64_t l = 0; l < k; ++l)
      sum += at(inputs[0], lhs, b, i, l, m, k) * at(inputs[1], rhs, b, l, j, k, n);
    return sum;
  }
  static std::string typed(io::ElementType type, char layout) {
    return fmt::format("{}{}", hal::elementTypeName(type), layout);
  }
  TensorType tensor(io::ElementType type, char layout, uint64_t rows, uint64_t columns) const {
    std::vector<uint64_t> shape = {rows, columns};
    if (layout == 'n')
      std::swap(shape[0], shape[1]);
    if (batch)
      shape.insert(shape.begin(), batch);
    return {type, shape};
  }
  static double at(const io::TensorSpan &tensor, char layout, uint64_t b, uint64_t i, uint64_t j, uint64_t rows,
                   uint64_t columns) {
    uint64_t index = b * rows * columns + (layout == 't' ? i * columns + j : j * rows + i);
    return readElement(tensor.type, tensor.bytes.data() + index * hal::elementTypeByteSize(tensor.type));
  }
};

// All candidates, in order, for a number of rounds.
class FixedRounds final : public RoundScheduler {
public:
  FixedRounds(uint32_t candidates, uint32_t rounds) : gone(candidates), left(rounds) {}

  std::vector<uint32_t> nextRound() override {
    std::vector<uint32_t> order;
    if (left == 0)
      return order;
    --left;
    ++current;
    for (uint32_t i = 0; i < gone.size(); ++i)
      if (!gone[i])
        order.push_back(i);
    return order;
  }
  uint32_t round() const override { return uint32_t(current); }
  Status addRound(const RoundSamples &samples) override {
    added.push_back(samples);
    return okStatus();
  }
  Status withdraw(uint32_t candidate) override {
    gone[candidate] = true;
    return okStatus();
  }

  std::vector<bool> gone;
  std::vector<RoundSamples> added;

private:
  uint32_t left;
  int64_t current = -1;
};

} // namespace kiln::measure::testing

#endif // KILN_MEASURE_WORKERS_TESTING_TINY_MATMUL_H
