// For the tests of this folder: a contraction with its data, and programs that compute it, rightly or with a mistake.
#ifndef KILN_MEASURE_VERIFY_TEST_UTIL_H
#define KILN_MEASURE_VERIFY_TEST_UTIL_H

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/io/element_text.h"
#include "gtest/gtest.h"

namespace kiln::measure::verify {

// What is left of a number where f32 ends: not rounded, as by tensor cores.
inline double cutToF32(double value) {
  float nearest = float(value);
  return std::fabs(double(nearest)) > std::fabs(value) ? double(std::nextafter(nearest, 0.0F)) : double(nearest);
}

inline void storeNumber(ElementType type, double value, uint8_t *element) {
  if (isInteger(type))
    storeInteger(type, static_cast<int32_t>(value), element);
  else
    io::storeFloat(type, value, element);
}

struct Data;

// Looks at everything that Data::check is asked for and at what it found; empty but where a test's program fills it in.
using AlsoCheck = std::function<void(const Data &data, const ColumnMap &columns, const Verdict &verdict)>;
inline AlsoCheck &alsoCheck() {
  static AlsoCheck function;
  return function;
}

// The same of everything that the tests of the pass `real` check.
using AlsoCheckReal =
    std::function<void(const Contraction &contraction, uint64_t seed, std::span<const uint8_t> lhs,
                       std::span<const uint8_t> rhs, std::span<const uint8_t> out, const Verdict &verdict)>;
inline AlsoCheckReal &alsoCheckReal() {
  static AlsoCheckReal function;
  return function;
}

// Inputs of a pass and an output that is as it is before a run.
struct Data {
  Contraction contraction;
  Pass pass;
  uint64_t seed;
  std::vector<uint8_t> lhs, rhs, out;

  Data(const Contraction &contraction, Pass pass, uint64_t seed, bool roomForBias = false)
      : contraction(contraction), pass(pass), seed(seed) {
    const Contraction &c = contraction;
    lhs.resize(c.batch * c.m * c.k * hal::elementTypeByteSize(c.lhs));
    rhs.resize(c.batch * c.k * c.n * hal::elementTypeByteSize(c.rhs));
    out.resize(c.batch * c.m * c.n * hal::elementTypeByteSize(c.result));
    EXPECT_TRUE(fillInputs(contraction, pass, seed, lhs, rhs, 2, roomForBias).ok());
    prefillOutput(c.result, pass, out);
    lhsNumbers = numbers(c.lhs, lhs);
    rhsNumbers = numbers(c.rhs, rhs);
  }

  double left(int64_t b, int64_t i, int64_t p) const { return lhsNumbers[contraction.lhsLayout.offset(b, i, p)]; }
  double right(int64_t b, int64_t p, int64_t j) const { return rhsNumbers[contraction.rhsLayout.offset(b, p, j)]; }
  double output(int64_t b, int64_t i, int64_t j) const {
    uint64_t bytes = hal::elementTypeByteSize(contraction.result);
    return io::elementAsDouble(contraction.result, out.data() + contraction.outLayout.offset(b, i, j) * bytes);
  }
  void setOutput(int64_t b, int64_t i, int64_t j, double value) {
    uint64_t bytes = hal::elementTypeByteSize(contraction.result);
    storeNumber(contraction.result, value, out.data() + contraction.outLayout.offset(b, i, j) * bytes);
  }
  // Exact: all numbers are integers of few bits.
  double exact(int64_t b, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t p = 0; p < contraction.k; ++p)
      sum += left(b, i, p) * right(b, p, j);
    return sum;
  }
  // Every output is what the function gives, rounded to the result's type.
  void compute(const std::function<double(int64_t b, int64_t i, int64_t j)> &value) {
    const Contraction &c = contraction;
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j)
          setOutput(b, i, j, roundTo(c.result, value(b, i, j)));
  }
  void computeRightly() {
    compute([&](int64_t b, int64_t i, int64_t j) { return exact(b, i, j); });
  }
  Verdict check(const CheckOptions &options = {}, const ColumnMap &columns = {}) const {
    Result<Verdict> verdict = checkContraction(contraction, pass, seed, lhs, rhs, out, options, columns);
    EXPECT_TRUE(verdict.ok()) << verdict.status().toString();
    if (alsoCheck())
      alsoCheck()(*this, columns, *verdict);
    return *verdict;
  }

private:
  static std::vector<double> numbers(ElementType type, const std::vector<uint8_t> &bytes) {
    uint64_t elementBytes = hal::elementTypeByteSize(type);
    std::vector<double> numbers(bytes.size() / elementBytes);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = io::elementAsDouble(type, bytes.data() + i * elementBytes);
    return numbers;
  }

  std::vector<double> lhsNumbers, rhsNumbers;
};

struct Types {
  const char *name;
  ElementType operands, result, accumulator;
};

inline constexpr Types kAllTypes[] = {
    {"f32", ElementType::F32, ElementType::F32, ElementType::F32},
    {"f16_f16", ElementType::F16, ElementType::F16, ElementType::F32},
    {"f16_f32", ElementType::F16, ElementType::F32, ElementType::F32},
    {"bf16_bf16", ElementType::BF16, ElementType::BF16, ElementType::F32},
    {"bf16_f32", ElementType::BF16, ElementType::F32, ElementType::F32},
    {"f16_accf16", ElementType::F16, ElementType::F16, ElementType::F16},
    {"i8_i32", ElementType::I8, ElementType::I32, ElementType::I32},
    {"f64", ElementType::F64, ElementType::F64, ElementType::F64},
    {"bf16_accbf16", ElementType::BF16, ElementType::BF16, ElementType::BF16},
    {"f8_f32", ElementType::F8E4M3FN, ElementType::F32, ElementType::F32},
    {"u8_i32", ElementType::UI8, ElementType::I32, ElementType::I32},
};

struct Size {
  int64_t batch, m, n, k;
};

inline std::string sizeText(const Types &types, const Size &size) {
  return fmt::format("{} {}x{}x{}x{}", types.name, size.batch, size.m, size.n, size.k);
}

inline Contraction makeContraction(const Types &types, const Size &size) {
  return Contraction::dense(size.batch, size.m, size.n, size.k, types.operands, types.result, types.accumulator);
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_TEST_UTIL_H
