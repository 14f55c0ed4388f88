// What a calibration of this machine measures. All tests look at one, so that ctest runs them in one process.
#include <gtest/gtest.h>

#include "kiln/measure/machine/calibration.h"

namespace kiln::measure {
namespace {

// The best of so many windows is one that nobody disturbed: where others have a processor for two thirds of the time,
// in slices of milliseconds, one of 40 windows of a millisecond is, but for once in 10^7 times.
class QuickCalibration : public testing::Test {
protected:
  static void SetUpTestSuite() {
    Result<Calibration> run = Calibration::run(
        {.threads = {1}, .windowSeconds = 0.001, .repetitions = 40, .secondsLimit = 10, .progress = {}});
    ASSERT_TRUE(run.ok()) << run.status().toString();
    calibration = new Calibration(*run);
  }
  static void TearDownTestSuite() { delete calibration; }
  static double rate(std::string_view type, std::string_view instructions) {
    for (const ArithmeticRate &entry : calibration->arithmetic)
      if (entry.type == type && entry.instructions == instructions)
        return entry.operations.best;
    return 0;
  }
  static Calibration *calibration;
};
Calibration *QuickCalibration::calibration = nullptr;

TEST_F(QuickCalibration, LevelsAreOrdered) {
  std::vector<std::string> names = {"L1", "L2", "L3", "memory"};
  std::optional<double> before;
  for (const std::string &name : names) {
    std::optional<double> bytes = calibration->peakBytes(name, 1);
    if (!bytes)
      continue; // this machine does not tell of such a cache
    EXPECT_GT(*bytes, 5e8) << name;
    EXPECT_LT(*bytes, 1e13) << name;
    if (before) {
      EXPECT_GT(*before, *bytes * 0.8) << name;
    }
    before = bytes;
  }
  EXPECT_TRUE(before);
}

TEST_F(QuickCalibration, WiderInstructionsAreFaster) {
  EXPECT_FALSE(calibration->arithmetic.empty());
  for (const ArithmeticRate &entry : calibration->arithmetic) {
    EXPECT_GT(entry.operations.best, 1e8) << entry.type << " " << entry.instructions;
    EXPECT_LT(entry.operations.best, 1e14) << entry.type << " " << entry.instructions;
    EXPECT_GE(entry.operations.best, entry.operations.median);
  }
#if defined(__x86_64__)
  EXPECT_GT(rate("f32", "sse"), 1.5 * rate("f32", "scalar"));
  EXPECT_GT(rate("f32", "sse"), 1.3 * rate("f64", "sse"));
  if (rate("f32", "avx2_fma") > 0) {
    EXPECT_GT(rate("f32", "avx2_fma"), 1.3 * rate("f32", "sse"));
  }
#endif
}

TEST_F(QuickCalibration, JsonComesBackAsItWas) {
  Result<Calibration> parsed = Calibration::parse(calibration->json());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(*parsed, *calibration);
}

} // namespace
} // namespace kiln::measure
