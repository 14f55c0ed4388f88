// The pass `real`: right programs of any order pass, and those that compute with less than was promised do not.
#include <algorithm>
#include <cmath>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/real.h"
#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

using Matrix = std::vector<double>; // row-major

struct RealProduct {
  Contraction c;
  uint64_t seed;
  std::vector<uint8_t> lhs, rhs, out;
  Matrix a, b; // as numbers

  RealProduct(const Types &types, const Size &size, uint64_t seed) : c(makeContraction(types, size)), seed(seed) {
    lhs.resize(c.m * c.k * hal::elementTypeByteSize(c.lhs));
    rhs.resize(c.k * c.n * hal::elementTypeByteSize(c.rhs));
    out.resize(c.m * c.n * hal::elementTypeByteSize(c.result));
    EXPECT_TRUE(fillReal(c, seed, lhs, rhs).ok());
    a.resize(c.m * c.k);
    b.resize(c.k * c.n);
    TensorOperand(c.lhs, {0, 0, 1}, lhs).numbersAlong(0, 0, 0, c.m * c.k, a.data());
    TensorOperand(c.rhs, {0, 0, 1}, rhs).numbersAlong(0, 0, 0, c.k * c.n, b.data());
  }
  void store(const std::function<double(int64_t i, int64_t j)> &value) {
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j)
        storeNumber(c.result, roundTo(c.result, value(i, j)),
                    out.data() + (i * c.n + j) * hal::elementTypeByteSize(c.result));
  }
  Verdict check() const {
    const Verdict verdict =
        checkReal(c, seed, TensorOperand(c.lhs, c.lhsLayout, lhs), TensorOperand(c.rhs, c.rhsLayout, rhs), out);
    if (alsoCheckReal())
      alsoCheckReal()(c, seed, lhs, rhs, out, verdict);
    return verdict;
  }
  double left(int64_t i, int64_t p) const { return a[i * c.k + p]; }
  double right(int64_t p, int64_t j) const { return b[p * c.n + j]; }
};

// In the promised accumulator: `lanes` sums side by side, blocks of `block` products, products rounded or not.
double orderedSum(const RealProduct &data, int64_t i, int64_t j, int64_t lanes, int64_t block, bool fused) {
  auto rounded = [&](double value) { return roundTo(data.c.accumulator, value); };
  std::vector<double> sums(lanes), totals(lanes);
  for (int64_t p = 0; p < data.c.k; ++p) {
    double product = data.left(i, p) * data.right(p, j);
    double &sum = sums[p % lanes];
    sum = rounded(sum + (fused ? product : rounded(product)));
    if (p / lanes % block == block - 1) {
      totals[p % lanes] = rounded(totals[p % lanes] + sum);
      sum = 0;
    }
  }
  double total = 0;
  for (int64_t lane = 0; lane < lanes; ++lane)
    total = rounded(total + rounded(totals[lane] + sums[lane]));
  return total;
}

constexpr Types kReal[] = {kAllTypes[0], kAllTypes[1], kAllTypes[2], kAllTypes[3],
                           kAllTypes[4], kAllTypes[5], kAllTypes[7], kAllTypes[8]};

TEST(RealTest, RightProgramsPassInAnyOrder) {
  constexpr int64_t never = int64_t(1) << 40;
  for (const Types &types : kReal)
    for (const Size &size :
         {Size{1, 1, 1, 1}, Size{1, 5, 7, 3}, Size{1, 40, 50, 60}, Size{1, 24, 24, 500}, Size{1, 3, 3, 20000}})
      for (auto [lanes, block, fused] : {std::tuple<int64_t, int64_t, bool>{1, never, false},
                                         {1, never, true},
                                         {16, never, true},
                                         {1, 64, false},
                                         {8, 16, true}})
        for (uint64_t seed = 1; seed <= 2; ++seed) {
          RealProduct data(types, size, seed);
          data.store([&](int64_t i, int64_t j) { return orderedSum(data, i, j, lanes, block, fused); });
          Verdict verdict = data.check();
          ASSERT_TRUE(verdict.ok()) << sizeText(types, size) << ", lanes " << lanes << ", blocks of " << block << ": "
                                    << verdict.explanation << "; " << verdict.method;
        }
}

// The order that rounds most, often.
TEST(RealTest, SumsOneByOnePassEachTime) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RealProduct data(kAllTypes[0], {1, 64, 64, static_cast<int64_t>(seed * 7)}, seed);
    data.store([&](int64_t i, int64_t j) {
      float sum = 0;
      for (int64_t p = 0; p < data.c.k; ++p)
        sum += float(data.left(i, p)) * float(data.right(p, j));
      return sum;
    });
    Verdict verdict = data.check();
    ASSERT_TRUE(verdict.ok()) << seed << ": " << verdict.explanation;
  }
}

TEST(RealTest, TheModelIsThatOfSumsOneByOne) {
  for (const Types &types : kReal) {
    RealProduct data(types, {1, 64, 64, 600}, 3);
    data.store([&](int64_t i, int64_t j) { return orderedSum(data, i, j, 1, int64_t(1) << 40, true); });
    Verdict verdict = data.check();
    fmt::print("{}: {}\n", types.name, verdict.method);
    EXPECT_TRUE(verdict.ok()) << verdict.explanation;
  }
}

Matrix combine(const Matrix &a, const Matrix &b, float sign) {
  Matrix sum(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    sum[i] = float(a[i]) + sign * float(b[i]);
  return sum;
}

// n x n in f32.
Matrix multiply(const Matrix &a, const Matrix &b, int64_t n) {
  Matrix c(a.size());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < n; ++p)
        sum += float(a[i * n + p]) * float(b[p * n + j]);
      c[i * n + j] = sum;
    }
  return c;
}

Matrix quadrant(const Matrix &matrix, int64_t n, int64_t row, int64_t column) {
  Matrix part;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      part.push_back(matrix[(row * n + i) * 2 * n + column * n + j]);
  return part;
}

TEST(RealTest, OneLevelOfStrassenIsRejected) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    constexpr int64_t n = 32;
    RealProduct data(kAllTypes[0], {1, 2 * n, 2 * n, 2 * n}, seed);
    auto a = [&](int64_t i, int64_t j) { return quadrant(data.a, n, i, j); };
    auto b = [&](int64_t i, int64_t j) { return quadrant(data.b, n, i, j); };
    Matrix m1 = multiply(combine(a(0, 0), a(1, 1), 1), combine(b(0, 0), b(1, 1), 1), n);
    Matrix m2 = multiply(combine(a(1, 0), a(1, 1), 1), b(0, 0), n);
    Matrix m3 = multiply(a(0, 0), combine(b(0, 1), b(1, 1), -1), n);
    Matrix m4 = multiply(a(1, 1), combine(b(1, 0), b(0, 0), -1), n);
    Matrix m5 = multiply(combine(a(0, 0), a(0, 1), 1), b(1, 1), n);
    Matrix m6 = multiply(combine(a(1, 0), a(0, 0), -1), combine(b(0, 0), b(0, 1), 1), n);
    Matrix m7 = multiply(combine(a(0, 1), a(1, 1), -1), combine(b(1, 0), b(1, 1), 1), n);
    const Matrix parts[2][2] = {{combine(combine(m1, m4, 1), combine(m7, m5, -1), 1), combine(m3, m5, 1)},
                                {combine(m2, m4, 1), combine(combine(m1, m2, -1), combine(m3, m6, 1), 1)}};
    data.store([&](int64_t i, int64_t j) { return parts[i / n][j / n][i % n * n + j % n]; });
    Verdict verdict = data.check();
    EXPECT_EQ(verdict.cause, Cause::LessPrecise) << verdict.method;
    EXPECT_NE(verdict.explanation.find("Strassen"), std::string::npos) << verdict.explanation;
  }
}

// Each operand as the sum of two numbers of bf16, without the product of the small parts.
TEST(RealTest, ProductsOfTwoPartsInBf16AreRejected) {
  for (int64_t k : {16, 256, 2048})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      RealProduct data(kAllTypes[0], {1, 64, 64, k}, seed);
      data.store([&](int64_t i, int64_t j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          double x = data.left(i, p), y = data.right(p, j);
          double x1 = roundTo(kFormatBF16, x), x2 = roundTo(kFormatBF16, x - x1);
          double y1 = roundTo(kFormatBF16, y), y2 = roundTo(kFormatBF16, y - y1);
          sum += float(x1 * y1);
          sum += float(x1 * y2);
          sum += float(x2 * y1);
        }
        return sum;
      });
      Verdict verdict = data.check();
      EXPECT_EQ(verdict.cause, Cause::LessPrecise) << k << ": " << verdict.method;
      EXPECT_NE(verdict.explanation.find("alike"), std::string::npos) << verdict.explanation;
    }
}

// A sum as a large and a small part, both in a narrower type: 22 bits of f16, 16 of bf16.
TEST(RealTest, SumsInTwoHalvesAreRejected) {
  for (const FloatFormat &format : {FloatFormat{"f16 with the exponents of f32", 11, -126, 0x1p127}, kFormatBF16})
    for (int64_t k : {16, 256, 1024})
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        RealProduct data(kAllTypes[0], {1, 64, 64, k}, seed);
        data.store([&](int64_t i, int64_t j) {
          double high = 0, low = 0;
          for (int64_t p = 0; p < k; ++p) {
            double sum = high + low + data.left(i, p) * data.right(p, j);
            high = roundTo(format, sum);
            low = roundTo(format, sum - high);
          }
          return high + low;
        });
        EXPECT_EQ(data.check().cause, Cause::LessPrecise) << format.name << ", k " << k << ": " << data.check().method;
      }
}

// Tensor cores add a few products at once, and cut off what f32 does not hold.
TEST(RealTest, SumsThatAreCutOffPassWhereTheyArePromised) {
  for (const Types &types : kReal) {
    if (types.operands != ElementType::F16 || types.result != ElementType::F32)
      continue;
    for (int64_t k : {64, 1000, 6000}) {
      RealProduct data(types, {1, 48, 48, k}, 5);
      data.store([&](int64_t i, int64_t j) {
        double sum = 0;
        for (int64_t p = 0; p < k; p += 4) {
          double some = 0;
          for (int64_t q = p; q < std::min(p + 4, k); ++q)
            some += data.left(i, q) * data.right(q, j);
          sum = cutToF32(sum + some);
        }
        return sum;
      });
      if (k == 6000) {
        EXPECT_EQ(data.check().cause, Cause::LessPrecise) << data.check().method;
      }
      data.c.cutsSums = true;
      EXPECT_TRUE(data.check().ok()) << k << ": " << data.check().explanation;
      // What keeps its sums in fewer bits is none the better for it.
      data.store([&](int64_t i, int64_t j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum = roundTo(ElementType::F16, sum + data.left(i, p) * data.right(p, j));
        return sum;
      });
      EXPECT_FALSE(data.check().ok()) << k;
    }
  }
}

TEST(RealTest, ScalesGoAsFarAsTypesDo) {
  EXPECT_EQ(realScaleRange(makeContraction(kAllTypes[0], {1, 64, 64, 64})), 48);
  EXPECT_EQ(realScaleRange(makeContraction(kAllTypes[4], {1, 64, 64, 64})), 48);
  int narrow = realScaleRange(makeContraction(kAllTypes[1], {1, 64, 64, 64}));
  EXPECT_GT(narrow, 0);
  EXPECT_LT(narrow, 8);
}

} // namespace

} // namespace kiln::measure::verify
