// The bar: checking a product of 4096 x 4096 x 4096 takes at most a second, and less than computing it on two threads.
#include <chrono>
#include <thread>

#include "kiln/measure/verify/test_util.h"

namespace kiln::measure::verify {

namespace {

double seconds(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

// rhs selects a column of lhs for each column: the product is computed in no time.
void computeSelection(const Buffers &buffers, uint64_t seed, std::vector<uint8_t> &out) {
  const Contraction &c = buffers.contraction;
  InputPlan plan = InputPlan::make(c, Pass::WideLhs, seed);
  const auto *left = reinterpret_cast<const float *>(buffers.lhs.data());
  auto *result = reinterpret_cast<float *>(out.data());
  std::vector<std::pair<int64_t, float>> chosen(c.n, {0, 0.0F});
  for (int64_t j = 0; j < c.n; ++j)
    for (int64_t p = 0; p < c.k; ++p)
      if (int32_t sign = plan.rhs(0, 0, p, j))
        chosen[j] = {p, static_cast<float>(sign)};
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j)
      result[i * c.n + j] = left[i * c.k + chosen[j].first] * chosen[j].second;
}

constexpr int64_t kExtent = 4096;
// What a product of that size takes at 400 GFLOP/s.
constexpr double kProductSeconds = 2.0 * kExtent * kExtent * kExtent / 400e9;

TEST(SpeedTest, CheckOfALargeProduct) {
  Buffers buffers = makeBuffers(
      Contraction::dense(1, kExtent, kExtent, kExtent, ElementType::F32, ElementType::F32, ElementType::F32));
  double fill =
      seconds([&] { ASSERT_TRUE(fillInputs(buffers.contraction, Pass::WideLhs, 1, buffers.lhs, buffers.rhs).ok()); });
  double prefill = seconds([&] { prefillOutput(ElementType::F32, Pass::WideLhs, buffers.out); });
  computeSelection(buffers, 1, buffers.out);
  auto check = [&](const CheckOptions &options) {
    return *checkContraction(buffers.contraction, Pass::WideLhs, 1, buffers.lhs, buffers.rhs, buffers.out, options);
  };
  double best = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat)
    best = std::min(best, seconds([&] { EXPECT_TRUE(check({}).ok()); }));
  double alone = seconds([&] { EXPECT_TRUE(check({.threads = 1}).ok()); });
  reinterpret_cast<float *>(buffers.out.data())[kExtent * 77 + 5] += 1;
  double oneWrong = seconds([&] { EXPECT_EQ(check({}).wrong, 1u); });
  prefillOutput(ElementType::F32, Pass::Sums, buffers.out);
  double allWrong = seconds([&] { EXPECT_EQ(check({}).cause, Cause::NothingWritten); });
  reinterpret_cast<float *>(buffers.out.data())[0] += 1;
  double unknown = seconds([&] { EXPECT_FALSE(check({}).ok()); });
  fmt::print("4096 x 4096 x 4096 f32: inputs {:.0f} ms, prefill {:.0f} ms; check {:.0f} ms, on one thread {:.0f} ms; "
             "with one wrong element {:.0f} ms, unwritten {:.0f} ms, all wrong {:.0f} ms; a product takes {:.0f} ms\n",
             fill * 1e3, prefill * 1e3, best * 1e3, alone * 1e3, oneWrong * 1e3, allWrong * 1e3, unknown * 1e3,
             kProductSeconds * 1e3);
  EXPECT_LT(best, 1.0);
  EXPECT_LT(best, kProductSeconds);
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
      double fill = seconds([&] { ASSERT_TRUE(fillInputs(c, Pass::Sums, 1, buffers.lhs, buffers.rhs).ok()); });
      // All zeros are wrong.
      Verdict verdict;
      CheckOptions options;
      double check = seconds(
          [&] { verdict = *checkContraction(c, Pass::Sums, 1, buffers.lhs, buffers.rhs, buffers.out, options); });
      EXPECT_FALSE(verdict.ok());
      fmt::print("2048 x 2048 x 2048 {}{}: inputs {:.0f} ms; rejected and explained in {:.0f} ms\n", types.name,
                 columns ? " column-major" : "", fill * 1e3, check * 1e3);
      EXPECT_LT(check, 2.0);
    }
  }
}

} // namespace

} // namespace kiln::measure::verify
