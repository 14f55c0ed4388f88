// What lies_test.cpp plants is also given to a simulated GPU, which must find the same wrong rows: all that a test
// plants while that takes a tenth of a second or so, and then one in 64.
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
      if (!isChosen(data))
        return;
      ++checks;
      Result<std::vector<WrongLines>> rows = wrongRowsOnDevice(*device, *check, data, columns);
      ASSERT_TRUE(rows.ok()) << rows.status().toString();
      EXPECT_EQ(rows->empty(), verdict.ok()) << verdict.explanation;
      EXPECT_EQ(*rows, wrongRowsOnHost(data, columns)) << verdict.explanation;
    };
  }
  void TearDown() override {
    alsoCheck() = nullptr;
    EXPECT_GT(checks, 0) << "nothing was checked on the device";
    check.reset();
    device = nullptr;
  }

private:
  bool isChosen(const Data &data) {
    constexpr uint64_t kElementsOfTest = 200'000;
    const ::testing::TestInfo *test = ::testing::UnitTest::GetInstance()->current_test_info();
    if (std::exchange(current, test) != test)
      looked = offered = 0;
    const uint64_t elements = data.contraction.k * (data.contraction.m + data.contraction.n) * data.contraction.batch;
    if (offered++ % 64 != 0 && looked + elements > kElementsOfTest)
      return false;
    looked += elements;
    return true;
  }

  const ::testing::TestInfo *current = nullptr;
  uint64_t looked = 0, offered = 0; // elements, and checks, of the test that runs
  Ref<hal::Device> device;
  std::unique_ptr<DeviceCheck> check;
  int checks = 0;
};

} // namespace
} // namespace kiln::measure::verify

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new kiln::measure::verify::OnDevice);
  return RUN_ALL_TESTS();
}
