// What the tests of a family plant is also given to a simulated GPU, whose verdict must be the host's: all that a test
// plants while that takes a second or so, and then one in 32. Linked with these tests.
#include "kiln/measure/problem_trial.h"
#include "kiln/measure/verify/device/testing/on_simulator.h"

namespace kiln::families {
namespace {

using namespace measure::verify;

class OnDevice : public ::testing::Environment {
public:
  void SetUp() override {
    device = openDevice("cuda-sim");
    Result<std::unique_ptr<DeviceCheck>> made = DeviceCheck::create(*device);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    check = *std::move(made);
    measure::alsoCheckProblem() = [this](const measure::Problem &problem, size_t pass, uint64_t seed,
                                         measure::Tensors inputs, measure::Tensors outputs, const Verdict &verdict) {
      Result<DeviceCase> subject = problem.deviceCase(pass, seed);
      if (!subject.ok() || !isChosen(*subject))
        return;
      const bool hasContraction = subject->check != DeviceCase::Check::Elements;
      if (hasContraction && !DeviceCheck::supports(subject->contraction).ok())
        return;
      ++checks;
      std::vector<std::span<const uint8_t>> bytes;
      for (const io::TensorSpan &input : inputs)
        bytes.push_back(input.bytes);
      Result<bool> right = isRightOnDevice(*device, *check, *subject, bytes, outputs[0].bytes);
      // Inputs that are not those of the pass are told by both.
      const std::string what = fmt::format("{}, pass {}: {}", problem.name(), pass, verdict.explanation);
      if (right.ok())
        EXPECT_EQ(*right, verdict.ok()) << what;
      else
        EXPECT_FALSE(verdict.ok()) << what << right.status().toString();
      if (verdict.ok()) {
        EXPECT_EQ(subject->right.total, verdict.total) << what;
      }
    };
  }
  void TearDown() override {
    measure::alsoCheckProblem() = nullptr;
    EXPECT_GT(checks, 0) << "nothing was checked on the device";
    check.reset();
    device = nullptr;
  }

private:
  bool isChosen(const DeviceCase &subject) {
    const Contraction &c = subject.contraction;
    const int64_t work = subject.check == DeviceCase::Check::Elements
                             ? 4 * int64_t(subject.elements.elements)
                             : c.batch * (c.m * c.k + c.k * c.n + 4 * c.m * c.n);
    return work <= kMostWork && share.takes(uint64_t(work));
  }

  static constexpr int64_t kMostWork = 1'000'000;
  PlantedShare share{kMostWork, 32};
  Ref<hal::Device> device;
  std::unique_ptr<DeviceCheck> check;
  int checks = 0;
};

} // namespace
} // namespace kiln::families

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new kiln::families::OnDevice);
  return RUN_ALL_TESTS();
}
