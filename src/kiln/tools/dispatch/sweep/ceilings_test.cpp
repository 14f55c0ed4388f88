#include "kiln/tools/dispatch/sweep/ceilings.h"

#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using measure::SpeedFloor;

// With a median of 0.97 of the best, or of 0.5 where the machine was busy.
measure::Calibration calibrationOf(double best, double median) {
  measure::Calibration calibration;
  calibration.arithmetic.push_back({"f32", "fma", 1, {best, median, 5}});
  calibration.bandwidth.push_back({"L1", "read", 1, 1 << 14, {10 * best, 10 * median, 5}});
  calibration.bandwidth.push_back({"memory", "read", 1, 1 << 30, {best / 10, median / 10, 5}});
  return calibration;
}

double floorOf(SpeedFloor::Of of, const measure::Calibration &calibration) {
  measure::testing::TinyMatmul problem; // 420 FLOPs, 428 bytes
  for (const SpeedFloor &floor : speedFloors(problem, 1, calibration))
    if (floor.of == of)
      return floor.nanoseconds;
  return 0;
}

TEST(Ceilings, FloorsHaveAMargin) {
  measure::Calibration quiet = calibrationOf(1e9, 0.97e9), busy = calibrationOf(1e9, 0.5e9);
  EXPECT_NEAR(floorOf(SpeedFloor::Of::Arithmetic, quiet), 420 / 1.15, 1e-6);
  EXPECT_NEAR(floorOf(SpeedFloor::Of::Arithmetic, busy), 420 / 2.0, 1e-6);
  EXPECT_NEAR(floorOf(SpeedFloor::Of::Caches, quiet), 428 / 10.0 / 1.15, 1e-6);
  EXPECT_NEAR(floorOf(SpeedFloor::Of::Memory, quiet), 4280 / 1.5, 1e-6);
}

// Whatever the candidates' threads on the host; of products in tf32 that is the rate that counts.
TEST(Ceilings, OfADeviceAreOfAllOfIt) {
  measure::Calibration calibration = calibrationOf(1e9, 0.97e9);
  calibration.device = measure::CalibratedDevice{"Fast 9000", {}, "CUDA 13.0", false};
  calibration.arithmetic.push_back({"tf32", "tensorcore_wgmma", 1, {8e9, 8e9, 5}});
  calibration.bandwidth.push_back({"L2", "read", 1, 1 << 20, {2e9, 2e9, 5}});
  measure::testing::TinyMatmul problem;
  const std::vector<SpeedFloor> floors = speedFloors(problem, 4, calibration);
  ASSERT_EQ(floors.size(), 3U);
  EXPECT_NEAR(floors[0].nanoseconds, 420 / 1.15, 1e-6);
  EXPECT_EQ(floors[0].reason,
            "f32 multiplies and adds 1 GFLOP/s at most on Fast 9000, as far as `kiln calibrate` has found");
  EXPECT_NEAR(floors[1].nanoseconds, 428 / 2.0 / 1.5, 1e-6) << "of L2, and not of the L1 of some processor";
  EXPECT_NEAR(floors[2].nanoseconds, 4280 / 2.0, 1e-6);
  EXPECT_NE(ceilingsJson(calibration, {4}, "Fast 9000").find("\"device\":\"Fast 9000\""), std::string::npos);
  EXPECT_NE(ceilingsJson(calibration, {4}).find(R"("tf32":8.0)"), std::string::npos) << ceilingsJson(calibration, {4});
}

TEST(Ceilings, WhatWasNotMeasuredIsNoFloor) {
  measure::testing::TinyMatmul problem;
  EXPECT_TRUE(speedFloors(problem, 1, {}).empty());
  problem.in = io::ElementType::I32;
  for (const SpeedFloor &floor : speedFloors(problem, 1, calibrationOf(1e9, 1e9)))
    EXPECT_NE(floor.of, SpeedFloor::Of::Arithmetic);
}

// Each rate is the best of both; a busy machine lowers none.
TEST(Ceilings, TheBestOfTwoCalibrationsIsKept) {
  measure::Calibration known = calibrationOf(1e9, 0.9e9), now = calibrationOf(0.8e9, 0.7e9);
  now.arithmetic.push_back({"f64", "fma", 1, {5e8, 5e8, 5}});
  now.bandwidth[1].bytes.best = 2e8;
  known.takeBest(now);
  EXPECT_EQ(known.peakOperations("f32", 1), 1e9);
  EXPECT_EQ(known.peakOperations("f64", 1), 5e8);
  EXPECT_EQ(known.peakBytes("memory", 1), 2e8);
  EXPECT_EQ(known.peakBytes("L1", 1), 1e10);
}

} // namespace
} // namespace kiln
