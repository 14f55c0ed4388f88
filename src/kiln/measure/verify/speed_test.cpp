// The bar of `bench/run`: verifying a product of 4096 x 4096 x 4096 takes at most a second. Here times are printed, and
// held to several times the bar, by the processor's clock: where others are at work beside a test, its own work takes
// up to three times as long by that clock, too, and code that does more than it should takes ten times as long.
#include "kiln/base/sanitized.h"
#include "kiln/measure/verify/large_product.h"
#include "kiln/measure/verify/test_util.h"
#include "kiln/measure/verify/timed_contraction.h"

namespace kiln::measure::verify {

namespace {

struct Buffers {
  Contraction contraction;
  std::vector<uint8_t> lhs, rhs, out;
};

Buffers makeBuffers(const Contraction &c) {
  auto bytes = [](ElementType type, int64_t rows, int64_t columns) {
    return std::vector<uint8_t>(rows * columns * hal::elementTypeByteSize(type));
  };
  return {c, bytes(c.lhs, c.m, c.k), bytes(c.rhs, c.k, c.n), bytes(c.result, c.m, c.n)};
}

// The whole verdict, and what explaining a wrong one takes. That it takes less time than the product is a row of
// bench/run, which measures both.
TEST(SpeedTest, VerdictOfALargeProduct) {
  constexpr int64_t extent = 4096;
  VerdictCost cost = costOfVerdict(extent, 3);
  EXPECT_EQ(cost.error, "");
  LargeProduct product(extent);
  ASSERT_TRUE(fillInputs(product.contraction, Pass::WideLhs, 1, product.lhs, product.rhs).ok());
  product.compute(Pass::WideLhs);
  auto check = [&] {
    return *checkContraction(product.contraction, Pass::WideLhs, 1, product.lhs, product.rhs, product.out);
  };
  reinterpret_cast<float *>(product.out.data())[extent * 77 + 5] += 1;
  double oneWrong = bestOf(1, [&] { EXPECT_EQ(check().wrong, 1u); }).wall;
  prefillOutput(ElementType::F32, Pass::WideLhs, product.out);
  double unwritten = bestOf(1, [&] { EXPECT_EQ(check().cause, Cause::NothingWritten); }).wall;
  reinterpret_cast<float *>(product.out.data())[0] += 1;
  double allWrong = bestOf(1, [&] { EXPECT_FALSE(check().ok()); }).wall;
  Spent total = cost.total();
  fmt::print(
      "4096 x 4096 x 4096 f32, all passes: {:.0f} ms: inputs {:.0f} ms, prefill {:.0f} ms, checks {:.0f} ms; "
      "{:.0f} ms of CPU time; a check with one wrong element {:.0f} ms, unwritten {:.0f} ms, all wrong {:.0f} ms\n",
      total.wall * 1e3, cost.inputs.wall * 1e3, cost.prefill.wall * 1e3, cost.check.wall * 1e3, total.cpu * 1e3,
      oneWrong * 1e3, unwritten * 1e3, allWrong * 1e3);
  EXPECT_LT(total.cpu, kSanitized ? 50.0 : 5.0);
}

// Other layouts and types, against a generous bound: on data that is all wrong, so that explaining is measured too.
TEST(SpeedTest, EveryTypeAndLayout) {
  constexpr int64_t extent = 2048;
  for (const Types &types : kAllTypes) {
    for (bool columns : {false, true}) {
      Contraction c = makeContraction(types, {1, extent, extent, extent});
      if (columns) {
        c.lhsLayout = Layout::columnMajor(c.m, c.k);
        c.rhsLayout = Layout::columnMajor(c.k, c.n);
        c.outLayout = Layout::columnMajor(c.m, c.n);
      }
      Buffers buffers = makeBuffers(c);
      double fill = bestOf(1, [&] { ASSERT_TRUE(fillInputs(c, Pass::Sums, 1, buffers.lhs, buffers.rhs).ok()); }).wall;
      // All zeros are wrong.
      Verdict verdict;
      CheckOptions options;
      double check = bestOf(1, [&] {
                       verdict = *checkContraction(c, Pass::Sums, 1, buffers.lhs, buffers.rhs, buffers.out, options);
                     }).cpu;
      EXPECT_FALSE(verdict.ok());
      fmt::print("2048 x 2048 x 2048 {}{}: inputs {:.0f} ms; rejected and explained in {:.0f} ms\n", types.name,
                 columns ? " column-major" : "", fill * 1e3, check * 1e3);
      EXPECT_LT(check, 4.0);
    }
  }
}

// The coarse check of timed calls runs inside of the measuring loop, at the speed of memory.
TEST(SpeedTest, TimedCheck) {
  constexpr int64_t extent = 2048;
  for (const Types &types : kAllTypes) {
    if (types.operands == ElementType::F64)
      continue;
    Contraction c = makeContraction(types, {1, extent, extent, extent});
    Buffers buffers = makeBuffers(c);
    std::vector<uint64_t> shape = {extent, extent};
    std::unique_ptr<TimedCheck> check;
    double make = bestOf(3, [&] { check = timedContraction(c, buffers.lhs, buffers.rhs, {}, shape, 1); }).cpu;
    io::TensorSpan out{c.result, shape, buffers.out};
    // The product of zeros is zero.
    double project = bestOf(5, [&] { EXPECT_TRUE(check->check({&out, 1}).ok()); }).cpu;
    double rate = double(buffers.out.size()) / project * 1e-9;
    fmt::print("2048 x 2048 x 2048 {}: timed check made in {:.1f} ms, then {:.2f} ms each time, {:.1f} GB/s\n",
               types.name, make * 1e3, project * 1e3, rate);
    EXPECT_LT(make, 1.0);
    EXPECT_GT(rate, kSanitized ? 0.2 : 0.5);
  }
}

} // namespace

} // namespace kiln::measure::verify
