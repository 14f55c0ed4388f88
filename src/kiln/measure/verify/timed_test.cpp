// The error model of coarse checks: right programs of any order of sums stay far within it, at any length.
#include <algorithm>
#include <cmath>

#include "kiln/base/random.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/test_util.h"
#include "kiln/measure/verify/timed_contraction.h"

namespace kiln::measure::verify {

namespace {

// How a program sums up.
struct Order {
  const char *name;
  int64_t lanes; // sums that are kept side by side, and added up in the end
  int64_t block; // products after which a sum is added to another one; 0: never
  bool fused;    // products are not rounded
};
constexpr Order kOrders[] = {{"one by one", 1, 0, false},
                             {"fused", 1, 0, true},
                             {"16 lanes", 16, 0, true},
                             {"blocks of 64", 1, 64, false},
                             {"lanes and blocks", 8, 256, true}};

struct TimedData {
  Contraction c;
  std::vector<uint8_t> lhs, rhs, out;
  std::vector<double> left, right;

  TimedData(const Contraction &contraction, uint64_t seed) : c(contraction) {
    fill(c.lhs, c.batch * c.m * c.k, seed * 2, lhs, left);
    fill(c.rhs, c.batch * c.k * c.n, seed * 2 + 1, rhs, right);
    out.assign(c.outputCount() * hal::elementTypeByteSize(c.result), 0xFF);
  }
  // As tensors are timed with: rounded from uniform numbers in [-1, 1).
  static void fill(ElementType type, int64_t count, uint64_t key, std::vector<uint8_t> &bytes,
                   std::vector<double> &numbers) {
    uint64_t size = hal::elementTypeByteSize(type);
    bytes.resize(count * size);
    numbers.resize(count);
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = randomBits(key, static_cast<uint64_t>(i));
      double number = std::ldexp(double(bits >> 11), -52) - 1;
      if (isInteger(type))
        number = double(static_cast<int8_t>(bits));
      storeNumber(type, roundTo(type, number), bytes.data() + i * size);
      numbers[i] = roundTo(type, number);
    }
  }
  double sum(int64_t b, int64_t i, int64_t j, const Order &order) const {
    auto rounded = [&](double value) { return isInteger(c.result) ? value : roundTo(c.accumulator, value); };
    std::vector<double> lanes(order.lanes), totals(order.lanes);
    for (int64_t p = 0; p < c.k; ++p) {
      double product = left[(b * c.m + i) * c.k + p] * right[(b * c.k + p) * c.n + j];
      double &lane = lanes[p % order.lanes];
      lane = rounded(lane + (order.fused ? product : rounded(product)));
      if (order.block && p / order.lanes % order.block == order.block - 1) {
        totals[p % order.lanes] = rounded(totals[p % order.lanes] + lane);
        lane = 0;
      }
    }
    double total = 0;
    for (int64_t lane = 0; lane < order.lanes; ++lane)
      total = rounded(total + rounded(totals[lane] + lanes[lane]));
    return total;
  }
  void compute(const Order &order) {
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j)
          storeNumber(c.result, roundTo(c.result, sum(b, i, j, order)),
                      out.data() + c.outLayout.offset(b, i, j) * hal::elementTypeByteSize(c.result));
  }
  std::unique_ptr<TimedCheck> make(uint64_t seed) const { return timedContraction(c, lhs, rhs, {}, outShape(), seed); }
  std::vector<uint64_t> outShape() const { return {uint64_t(c.batch * c.m), uint64_t(c.n)}; }
  Verdict check(const TimedCheck &check) const {
    std::vector<uint64_t> shape = outShape();
    io::TensorSpan span{c.result, shape, out};
    return check.check({&span, 1});
  }
};

TEST(TimedTest, RightProgramsPassInEveryOrder) {
  int64_t trials = 0;
  for (const Types &types : kAllTypes) {
    if (types.operands == ElementType::F64 || types.operands == ElementType::UI8)
      continue; // Tensors of these are not made here.
    for (int64_t k : {1, 2, 3, 17, 256, 4096, 65536}) {
      int64_t repeats = std::clamp<int64_t>(20000 / k, 4, 100);
      for (const Order &order : kOrders)
        for (int64_t repeat = 0; repeat < repeats; ++repeat, ++trials) {
          TimedData data(makeContraction(types, {1, 2, repeat % 7 + 1, k}), static_cast<uint64_t>(trials));
          data.compute(order);
          Verdict verdict = data.check(*data.make(static_cast<uint64_t>(trials) + 5));
          ASSERT_TRUE(verdict.ok()) << types.name << " k " << k << ", " << order.name << ": " << verdict.explanation;
        }
    }
  }
  fmt::print("{} right results passed\n", trials);
}

// With many blocks their mean error is checked too. The method says how far it is from its limit.
TEST(TimedTest, MeanErrorsAreWithinTheModelAndThoseOfANarrowerAccumulatorAreNot) {
  for (const Types &types : kAllTypes) {
    if (isInteger(types.operands) || types.operands == ElementType::F64)
      continue;
    for (int64_t k : {4, 300, 5000}) {
      TimedData data(makeContraction(types, {1, 80, 3, k}), 9);
      std::unique_ptr<TimedCheck> check = data.make(5);
      data.compute(kOrders[0]);
      Verdict verdict = data.check(*check);
      EXPECT_TRUE(verdict.ok()) << types.name << " k " << k << ": " << verdict.explanation;
      fmt::print("{} k {}: {}\n", types.name, k, verdict.method);
      // Sums of f8 are exact in f16.
      if (types.result != ElementType::F32 || types.operands == ElementType::F8E4M3FN || k == 4)
        continue;
      data.c.accumulator = ElementType::F16;
      data.compute(kOrders[0]);
      EXPECT_FALSE(data.check(*check).ok()) << types.name << " k " << k;
    }
  }
}

// How far off some sets are together tells what no set tells by itself.
// Tensor cores add a few products at once, and cut off what f32 does not hold: in the mean as much as is promised.
TEST(TimedTest, SumsThatAreCutOffPassWhereTheyArePromised) {
  for (const Types &types : kAllTypes) {
    if (types.operands != ElementType::F16 || types.result != ElementType::F32)
      continue;
    for (int64_t k : {64, 1275, 6000}) {
      TimedData data(makeContraction(types, {1, 80, 40, k}), 7);
      auto store = [&](int64_t stepOfCut, auto narrowed) {
        for (int64_t i = 0; i < data.c.m; ++i)
          for (int64_t j = 0; j < data.c.n; ++j) {
            double sum = 0, some = 0;
            for (int64_t p = 0; p < k; ++p) {
              some += data.left[i * k + p] * data.right[p * data.c.n + j];
              if (p % stepOfCut == stepOfCut - 1 || p == k - 1)
                sum = narrowed(sum + std::exchange(some, 0));
            }
            storeNumber(types.result, sum, data.out.data() + data.c.outLayout.offset(0, i, j) * sizeof(float));
          }
      };
      store(4, cutToF32);
      if (k > 1000) {
        EXPECT_FALSE(data.check(*data.make(3)).ok()) << k;
      }
      data.c.cutsSums = true;
      Verdict verdict = data.check(*data.make(3));
      EXPECT_TRUE(verdict.ok()) << k << ": " << verdict.explanation;
      store(1, [](double sum) { return roundTo(ElementType::F16, sum); });
      EXPECT_FALSE(data.check(*data.make(3)).ok()) << k;
    }
  }
}

TEST(TimedTest, WeightsOfEightBitsAreFoundInSomeSets) {
  for (bool honest : {true, false}) {
    Deviations pooled;
    bool found = false;
    for (uint64_t set = 1; set <= 6; ++set) {
      Types types = {"bf16", ElementType::BF16, ElementType::BF16, ElementType::F32};
      TimedData data(makeContraction(types, {1, 1, 2048, 64}), set);
      std::unique_ptr<TimedCheck> check = data.make(set + 100);
      for (double &weight : data.right)
        weight = honest ? weight : std::round(weight * 127) / 127;
      data.compute(kOrders[0]);
      Verdict verdict = data.check(*check);
      found |= !verdict.ok();
      pooled += verdict.deviations;
    }
    EXPECT_EQ(found || pooled.tooLarge(), !honest) << pooled.mean() << " of " << pooled.largestMean();
  }
}

// Few inputs to each result, and many results: their roundings repeat, and so does what the shared operand holds.
TEST(TimedTest, ManyResultsOfFewTermsPass) {
  for (const Types &types : kAllTypes) {
    if (isInteger(types.operands) || types.operands == ElementType::F64)
      continue;
    for (auto [n, k] : {std::pair(2, 1), {2, 2}, {4, 4}, {3, 3}, {8, 2}, {64, 1}, {2, 16}, {1, 31}, {2, 32}, {1, 64}})
      for (uint64_t seed = 1; seed <= 40; ++seed) {
        TimedData data(makeContraction(types, {1, 1'000, n, k}), seed * 1000 + uint64_t(n));
        data.compute(kOrders[1]);
        Verdict verdict = data.check(*data.make(seed));
        ASSERT_TRUE(verdict.ok()) << types.name << " " << n << "x" << k << ": " << verdict.explanation;
      }
  }
}

// In as many sums as any sweep has, and in few, those that are as far off as the model says at most are right.
TEST(TimedTest, NoNumberOfRightSumsIsTooFarOff) {
  Random random(3);
  for (int candidate = 0; candidate < 2000; ++candidate) {
    Deviations pooled;
    for (int sum = 0; sum < 1000; ++sum) {
      double off = random.normal();
      pooled += {off * off, 1};
      ASSERT_FALSE(pooled.tooLarge()) << pooled.sums;
    }
  }
  EXPECT_LT((Deviations{0, 1'000'000}).largestMean(), 1.31);
}

// One element of a long line is as large as the error of many.
TEST(TimedTest, OneWrongElementOfF32IsFound) {
  TimedData data(makeContraction(kAllTypes[0], {1, 9, 2100, 64}), 3);
  std::unique_ptr<TimedCheck> check = data.make(4);
  data.compute(kOrders[0]);
  ASSERT_TRUE(data.check(*check).ok());
  for (int64_t element : {0, 2099, 2100, 9 * 2100 - 1}) {
    std::vector<uint8_t> right = data.out;
    std::fill_n(data.out.begin() + element * 4, 4, uint8_t(0));
    EXPECT_FALSE(data.check(*check).ok()) << element;
    data.out = right;
  }
}

} // namespace

} // namespace kiln::measure::verify
