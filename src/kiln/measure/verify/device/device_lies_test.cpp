// What lies_test.cpp and real_test.cpp plant is also given to a simulated GPU, which must find the same wrong rows, or
// come to the same verdict: all that a test plants while that takes a second or so, and then one in 64.
#include "kiln/measure/verify/device/testing/on_simulator.h"

namespace kiln::measure::verify {
namespace {

class OnDevice : public ::testing::Environment {
public:
  void SetUp() override {
    device = openDevice("cuda-sim");
    Result<std::unique_ptr<DeviceCheck>> made = DeviceCheck::create(*device);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    check = *std::move(made);
    alsoCheck() = [this](const Data &data, const ColumnMap &columns, const Verdict &verdict) {
      if (!share.takes(elements(data.contraction)))
        return;
      ++checks;
      Result<std::vector<WrongLines>> rows = wrongRowsOnDevice(*device, *check, data, columns);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      EXPECT_EQ(rows->empty(), verdict.ok()) << verdict.explanation;
      EXPECT_EQ(*rows, wrongRowsOnHost(data, columns)) << verdict.explanation;
    };
    alsoCheckReal() = [this](const Contraction &contraction, uint64_t seed, std::span<const uint8_t> lhs,
                             std::span<const uint8_t> rhs, std::span<const uint8_t> out, const Verdict &verdict) {
      if (!realShare.takes(elements(contraction)))
        return;
      ++realChecks;
      DeviceCase subject{contraction, Pass::WideRhs, seed};
      subject.check = DeviceCase::Check::Real;
      Ref<hal::Buffer> left = bufferOf(*device, lhs), right = bufferOf(*device, rhs), output = bufferOf(*device, out);
      Result<std::vector<SampledSum>> sums = check->expectSums(subject, *left, *right);
      ASSERT_TRUE(sums.ok()) << sums.status().toString();
      Result<Verdict> found = check->judgeSums(subject, *sums, *output);
      ASSERT_TRUE(found.ok()) << found.status().toString();
      EXPECT_EQ(found->ok(), verdict.ok()) << verdict.explanation << "\n" << found->explanation;
      EXPECT_EQ(found->cause, verdict.cause) << verdict.explanation << "\n" << found->explanation;
      EXPECT_EQ(found->wrong, verdict.wrong) << verdict.explanation << "\n" << found->explanation;
    };
  }
  void TearDown() override {
    alsoCheck() = nullptr;
    alsoCheckReal() = nullptr;
    EXPECT_GT(checks, 0) << "nothing was checked on the device";
    EXPECT_GT(realChecks, 0) << "no real numbers were checked on the device";
    check.reset();
    device = nullptr;
  }

private:
  static uint64_t elements(const Contraction &contraction) {
    return contraction.k * (contraction.m + contraction.n) * contraction.batch;
  }

  // Of a real product each sum is judged, by several of its kind: that takes many times as long.
  PlantedShare share{200'000, 64}, realShare{30'000, 64};
  Ref<hal::Device> device;
  std::unique_ptr<DeviceCheck> check;
  int checks = 0, realChecks = 0;
};

} // namespace
} // namespace kiln::measure::verify

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  // Tests of right programs in many orders take minutes, of which the device's checks are seconds.
  if (GTEST_FLAG_GET(filter) == "*")
    GTEST_FLAG_SET(filter, "-RealTest.RightProgramsPassInAnyOrder:RealTest.SumsOneByOnePassEachTime");
  ::testing::AddGlobalTestEnvironment(new kiln::measure::verify::OnDevice);
  return RUN_ALL_TESTS();
}
