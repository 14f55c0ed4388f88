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
      if (subject->hasContraction() && !DeviceCheck::supports(subject->contraction).ok())
        return;
      ++checks;
      std::vector<std::span<const uint8_t>> bytes;
      for (const io::TensorSpan &input : inputs)
        bytes.push_back(input.bytes);
      if (subject->check == DeviceCase::Check::Rows || subject->patches)
        expectSameInputs(problem, pass, *subject);
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
  // What the device makes is what the host makes, bit by bit.
  void expectSameInputs(const measure::Problem &problem, size_t pass, const DeviceCase &subject) {
    std::vector<std::vector<uint8_t>> made;
    std::vector<measure::MutableTensor> tensors;
    std::vector<Ref<hal::Buffer>> buffers;
    std::vector<hal::Buffer *> pointers;
    const std::vector<measure::TensorType> types = problem.inputs();
    for (const measure::TensorType &type : types) {
      uint64_t bytes = hal::elementTypeByteSize(type.type);
      for (uint64_t extent : type.shape)
        bytes *= extent;
      made.emplace_back(bytes);
      buffers.push_back(bufferOf(*device, std::vector<uint8_t>(bytes, 0xA5)));
      pointers.push_back(buffers.back().get());
    }
    for (size_t i = 0; i < types.size(); ++i)
      tensors.push_back({types[i].type, types[i].shape, made[i]});
    ASSERT_TRUE(problem.fillInputs(pass, subject.seed, tensors).ok());
    const Status filled =
        subject.patches ? check->fill(subject, *buffers[0], *buffers[1]) : check->fillRows(subject, pointers);
    ASSERT_TRUE(filled.ok()) << problem.name() << ": " << filled.toString();
    for (size_t i = 0; i < types.size(); ++i)
      EXPECT_EQ(bytesOf(*buffers[i]) == made[i], true) << problem.name() << ", pass " << pass << ", input " << i;
  }

  bool isChosen(const DeviceCase &subject) {
    const Contraction &c = subject.contraction;
    const DeviceRows &rows = subject.rows;
    const DeviceAttention &a = subject.attention;
    int64_t work = 0;
    if (subject.check == DeviceCase::Check::Elements)
      work = 4 * int64_t(subject.elements.elements);
    else if (subject.check == DeviceCase::Check::Rows)
      work = 16 * rows.rows * rows.columns;
    else if (subject.check == DeviceCase::Check::Attention)
      work = 8 * a.heads * (a.queries * (a.depth + 8 * a.valueDepth) + a.keys * a.valueDepth);
    else
      work = c.batch * (c.m * c.k + c.k * c.n + 4 * c.m * c.n);
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
