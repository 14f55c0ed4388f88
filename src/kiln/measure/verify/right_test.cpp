// A right product is never rejected, in whatever order it is summed; and the inputs are what they promise.
#include <algorithm>
#include <cmath>
#include <set>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

constexpr Size kSizes[] = {
    {1, 1, 1, 1},  {1, 1, 1, 2},   {1, 2, 1, 3},     {1, 1, 7, 300}, {1, 9, 1, 1},    {1, 5, 6, 1},
    {3, 4, 5, 16}, {1, 3, 2, 999}, {1, 17, 33, 127}, {2, 31, 8, 64}, {1, 2, 3, 5000}, {1, 1, 1, 40000},
};

// The ways in which programs add up. Each sum is rounded to the accumulator.
double sumForward(const std::vector<double> &terms, const FloatFormat &format) {
  double sum = 0;
  for (double term : terms)
    sum = roundTo(format, sum + term);
  return sum;
}

double sumBackward(const std::vector<double> &terms, const FloatFormat &format) {
  return sumForward({terms.rbegin(), terms.rend()}, format);
}

double sumPairwise(const std::vector<double> &terms, const FloatFormat &format) {
  std::vector<double> sums = terms;
  for (; sums.size() > 1; sums.resize((sums.size() + 1) / 2))
    for (size_t i = 0; i < sums.size(); i += 2)
      sums[i / 2] = i + 1 < sums.size() ? roundTo(format, sums[i] + sums[i + 1]) : sums[i];
  return sums.empty() ? 0 : sums[0];
}

double sumInLanes(const std::vector<double> &terms, const FloatFormat &format) {
  std::vector<double> sums(16, 0.0);
  for (size_t p = 0; p < terms.size(); ++p)
    sums[p % 16] = roundTo(format, sums[p % 16] + roundTo(format, terms[p]));
  return sumPairwise(sums, format);
}

// Positive terms first: as far from the final sum as any order goes.
double sumSorted(std::vector<double> terms, const FloatFormat &format) {
  std::sort(terms.begin(), terms.end(), std::greater<>());
  return sumForward(terms, format);
}

using Sum = double (*)(const std::vector<double> &, const FloatFormat &);
double sumSortedCopy(const std::vector<double> &terms, const FloatFormat &format) {
  return sumSorted(terms, format);
}
constexpr Sum kSums[] = {sumForward, sumBackward, sumPairwise, sumInLanes, sumSortedCopy};

std::vector<double> termsOf(const Data &data, int64_t b, int64_t i, int64_t j) {
  std::vector<double> terms(data.contraction.k);
  for (int64_t p = 0; p < data.contraction.k; ++p)
    terms[p] = data.left(b, i, p) * data.right(b, p, j);
  return terms;
}

TEST(RightTest, IsNeverRejected) {
  for (const Types &types : kAllTypes) {
    FloatFormat accumulator = floatFormat(types.accumulator).value_or(kFormatF64); // i32 does not round
    for (const Size &size : kSizes) {
      for (Pass pass : passesOf(makeContraction(types, size))) {
        for (uint64_t seed : {1, 2, 3}) {
          for (Sum sum : kSums) {
            Data data(makeContraction(types, size), pass, seed);
            data.compute([&](int64_t b, int64_t i, int64_t j) { return sum(termsOf(data, b, i, j), accumulator); });
            Verdict verdict = data.check();
            ASSERT_TRUE(verdict.ok()) << sizeText(types, size) << " " << verdict.method << ": " << verdict.explanation;
            EXPECT_LT(verdict.escapeProbability, 1e-18);
            EXPECT_GT(verdict.escapeProbability, 0);
          }
        }
      }
    }
  }
}

// What inputs.h promises, element by element.
void expectPromises(const Types &types, const Size &size, Pass pass, uint64_t seed) {
  Data data(makeContraction(types, size), pass, seed);
  double limit = InputPlan::make(data.contraction, pass, seed).sumLimit();
  int resultBits = std::min(exactBits(types.result), 53);
  for (int64_t b = 0; b < size.batch; ++b) {
    for (int64_t i = 0; i < size.m; ++i) {
      for (int64_t j = 0; j < size.n; ++j) {
        double magnitudes = 0, sum = 0;
        for (double term : termsOf(data, b, i, j)) {
          magnitudes += std::fabs(term);
          sum += term;
        }
        ASSERT_LE(magnitudes, limit) << sizeText(types, size) << " " << passName(pass);
        ASSERT_LE(std::fabs(sum), std::exp2(resultBits)) << sizeText(types, size) << " " << passName(pass);
        ASSERT_EQ(sum, std::trunc(sum));
        if (isInteger(types.result)) {
          ASSERT_LE(std::fabs(sum), 2147483647.0);
        }
      }
    }
  }
}

TEST(RightTest, InputsKeepTheirPromises) {
  for (const Types &types : kAllTypes)
    for (const Size &size : kSizes)
      for (Pass pass : passesOf(makeContraction(types, size)))
        for (uint64_t seed : {1, 2, 3})
          expectPromises(types, size, pass, seed);
}

// At lengths where the limits bind: few elements, many terms.
TEST(RightTest, InputsKeepTheirPromisesAtAnyLength) {
  for (const Types &types : kAllTypes)
    for (int64_t k : {2047, 2048, 2049, 4096, 65536, 131072, 262147, 1 << 20})
      for (Pass pass : passesOf(makeContraction(types, {1, 1, 1, 1})))
        expectPromises(types, {1, 2, k > 5000 ? 1 : 2, k}, pass, 7);
}

// A reduction that is longer than the accumulator can count.
TEST(RightTest, ImmenseReduction) {
  Contraction c =
      Contraction::dense(1, 1, 1, (int64_t(1) << 24) + 3, ElementType::F32, ElementType::F32, ElementType::F32);
  InputPlan plan = InputPlan::make(c, Pass::Sums, 1);
  double magnitudes = 0;
  for (int64_t p = 0; p < c.k; ++p)
    magnitudes += std::abs(plan.lhs(0, 0, p) * plan.rhs(0, 0, p, 0));
  EXPECT_LE(magnitudes, 0x1p24);
  EXPECT_GE(magnitudes, 0x1p22);
}

double largestPartialSum(const Data &data) {
  double largest = 0;
  for (int64_t i = 0; i < data.contraction.m; ++i) {
    for (int64_t j = 0; j < data.contraction.n; ++j) {
      double sum = 0;
      for (double term : termsOf(data, 0, i, j))
        largest = std::max(largest, std::fabs(sum += term));
    }
  }
  return largest;
}

// Partial sums leave what a narrower accumulator holds, and stay within f16's range.
TEST(RightTest, PartialSumsAreTooLargeForLess) {
  for (const Types &types : kAllTypes) {
    if (isInteger(types.operands) || types.accumulator == ElementType::F64 || types.accumulator == ElementType::BF16)
      continue;
    for (int64_t k : {16, 64, 127, 1024, 4096}) {
      if (types.operands == ElementType::F8E4M3FN && k < 64)
        continue; // its products are at most 2^8
      Data data(makeContraction(types, {1, 16, 16, k}), Pass::Sums, 3);
      double largest = largestPartialSum(data);
      EXPECT_GT(largest, types.accumulator == ElementType::F16 ? 256 : 2048) << types.name << " k " << k;
      EXPECT_LT(largest, 65504) << types.name << " k " << k;
    }
  }
}

TEST(RightTest, WideInputsFillTheSignificand) {
  for (const Types &types : kAllTypes) {
    if (isInteger(types.operands))
      continue;
    int bits = std::min({exactBits(types.operands), exactBits(types.result), 30});
    Data left(makeContraction(types, {1, 8, 8, 16}), Pass::WideLhs, 3);
    Data right(makeContraction(types, {1, 8, 8, 16}), Pass::WideRhs, 3);
    std::set<double> narrow;
    for (int64_t i = 0; i < 8; ++i) {
      for (int64_t p = 0; p < 16; ++p) {
        for (double wide : {left.left(0, i, p), right.right(0, p, i)}) {
          EXPECT_EQ(std::ilogb(wide), bits - 1) << types.name;
          EXPECT_EQ(std::fmod(wide, 2) == 0, false) << types.name;
        }
        narrow.insert(left.right(0, p, i));
        narrow.insert(right.left(0, i, p));
      }
    }
    EXPECT_EQ(narrow, (std::set<double>{-1, 0, 1})) << types.name;
  }
}

TEST(RightTest, InputsAreTheSameForTheSameSeedOnly) {
  Contraction c = makeContraction(kAllTypes[0], {2, 8, 9, 10});
  Data one(c, Pass::Sums, 1), again(c, Pass::Sums, 1), other(c, Pass::Sums, 2), wide(c, Pass::WideLhs, 1);
  EXPECT_EQ(one.lhs, again.lhs);
  EXPECT_EQ(one.rhs, again.rhs);
  EXPECT_NE(one.lhs, other.lhs);
  EXPECT_NE(one.lhs, wide.lhs);
}

TEST(RightTest, FullRangeOfI8) {
  Data data(makeContraction(kAllTypes[6], {1, 32, 32, 64}), Pass::Sums, 1);
  std::set<double> left;
  for (int64_t i = 0; i < 32; ++i)
    for (int64_t p = 0; p < 64; ++p)
      left.insert(data.left(0, i, p));
  EXPECT_EQ(*left.begin(), -128);
  EXPECT_EQ(*left.rbegin(), 127);
  EXPECT_GT(left.size(), 240u);
}

TEST(RightTest, EveryLayout) {
  Size size = {2, 7, 9, 11};
  for (const Types &types : kAllTypes) {
    for (int layouts = 0; layouts < 8; ++layouts) {
      Contraction c = makeContraction(types, size);
      if (layouts & 1)
        c.lhsLayout = Layout::columnMajor(c.m, c.k);
      if (layouts & 2)
        c.rhsLayout = Layout::columnMajor(c.k, c.n);
      if (layouts & 4)
        c.outLayout = Layout::columnMajor(c.m, c.n);
      for (Pass pass : passesOf(c)) {
        Data data(c, pass, 1), rowMajor(makeContraction(types, size), pass, 1);
        EXPECT_EQ(data.left(1, 3, 4), rowMajor.left(1, 3, 4)); // inputs do not depend on the layout
        data.computeRightly();
        EXPECT_TRUE(data.check().ok()) << types.name << " layouts " << layouts;
        data.setOutput(1, 2, 3, data.output(1, 2, 3) + 16);
        Verdict verdict = data.check();
        EXPECT_EQ(verdict.wrong, 1u) << types.name << " layouts " << layouts;
        EXPECT_EQ(verdict.examples.at(0).index, (std::vector<uint64_t>{1, 2, 3}));
      }
    }
  }
}

TEST(RightTest, NothingToCompute) {
  for (Size size : {Size{0, 3, 4, 5}, Size{1, 0, 4, 5}, Size{1, 3, 0, 5}}) {
    for (const Types &types : kAllTypes) {
      Verdict verdict = Data(makeContraction(types, size), Pass::Sums, 1).check();
      EXPECT_TRUE(verdict.ok());
      EXPECT_EQ(verdict.total, 0u);
    }
  }
  // An empty sum is zero.
  for (const Types &types : kAllTypes) {
    Data data(makeContraction(types, {1, 3, 4, 0}), Pass::Sums, 1);
    EXPECT_EQ(data.check().cause, Cause::NothingWritten);
    std::fill(data.out.begin(), data.out.end(), 0);
    EXPECT_TRUE(data.check().ok());
  }
}

TEST(RightTest, MinusZeroIsZero) {
  Data data(makeContraction(kAllTypes[0], {1, 3, 4, 0}), Pass::Sums, 1);
  data.compute([](int64_t, int64_t, int64_t) { return -0.0; });
  EXPECT_TRUE(data.check().ok());
}

// relu(lhs * rhs + bias), with a bias that makes a column linear, zero, or the one or the other by element.
double withRelu(double sum, double bias) {
  return std::max(0.0, sum + bias);
}

TEST(RightTest, ActivationsByColumn) {
  for (const Types &types : kAllTypes) {
    for (const Size &size : {Size{2, 17, 12, 33}, Size{1, 3, 4, 1}, Size{1, 2, 2, 2000}}) {
      Contraction c = makeContraction(types, size);
      for (Pass pass : passesOf(c)) {
        Data data(c, pass, 1, /*roomForBias=*/true);
        auto large = static_cast<int32_t>(InputPlan::make(c, pass, 1, 1, /*roomForBias=*/true).resultLimit()) + 16;
        ColumnMap columns;
        for (int64_t j = 0; j < c.n; ++j) {
          columns.scale.push_back(j % 3 != 0);
          columns.bias.push_back(j % 3 ? large : 0);
        }
        auto bias = [&](int64_t j) { return j % 3 ? large : -large; };
        data.compute([&](int64_t b, int64_t i, int64_t j) {
          double result = withRelu(data.exact(b, i, j), bias(j));
          EXPECT_EQ(roundTo(types.result, result), result) << sizeText(types, size);
          return result;
        });
        Verdict verdict = data.check({}, columns);
        EXPECT_TRUE(verdict.ok()) << sizeText(types, size) << " " << verdict.explanation;
        EXPECT_FALSE(data.check({}, {}).ok());
        for (int64_t j : {0, 1}) { // a zero one and a linear one
          double right = data.output(0, 1, j);
          data.setOutput(0, 1, j, right + 1);
          verdict = data.check({}, columns);
          EXPECT_EQ(verdict.wrong, 1u);
          EXPECT_EQ(verdict.examples.at(0).expected, right);
          data.setOutput(0, 1, j, right);
        }
        columns.bias.pop_back();
        Verdict refused = verdictOf(checkContraction(c, pass, 1, data.lhs, data.rhs, data.out, {}, columns));
        EXPECT_FALSE(refused.ok());
        EXPECT_NE(refused.explanation.find("columns"), std::string::npos) << refused.explanation;
      }
    }
  }
}

TEST(RightTest, BadInputIsAnError) {
  Data data(makeContraction(kAllTypes[0], {1, 4, 4, 4}), Pass::Sums, 1);
  auto check = [&] { return checkContraction(data.contraction, data.pass, 1, data.lhs, data.rhs, data.out).status(); };
  data.out.pop_back();
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  EXPECT_NE(check().toString().find("64"), std::string::npos) << check().toString();
  data.out.resize(64);
  data.contraction.m = -1;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  data.contraction.m = int64_t(1) << 40;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  data.contraction.m = 4;
  data.contraction.lhsLayout.row = int64_t(1) << 60;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  data.contraction.lhsLayout.row = -4;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  data.contraction.lhsLayout.row = 4;
  data.contraction.result = ElementType::I8;
  EXPECT_EQ(check().code(), StatusCode::Unimplemented);
  data.contraction.result = ElementType::I32;
  EXPECT_EQ(check().code(), StatusCode::InvalidArgument);
  data.contraction.result = ElementType::F32;
  float fraction = 0.5F;
  std::memcpy(data.rhs.data(), &fraction, sizeof(fraction));
  EXPECT_NE(check().toString().find("rhs"), std::string::npos) << check().toString();
}

} // namespace

} // namespace kiln::measure::verify
