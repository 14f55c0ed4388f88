// Calibration of a device, on the simulator: that each kernel does what its rate will be counted of.
#include "kiln/measure/device/device_calibration.h"

#include <gtest/gtest.h>
#include <map>

#include "kiln/measure/device/device_peaks.h"
#include "kiln/measure/device/peak_tasks.h"
#include "kiln/targets/drivers.h"

namespace kiln::measure {
namespace {

OpenedDevice open(const std::string &uri) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Result<OpenedDevice> opened = openDevice(registry, uri);
  EXPECT_TRUE(opened.ok()) << opened.status().toString();
  return opened.ok() ? *std::move(opened) : OpenedDevice();
}

constexpr double kWarps = kPeakThreads / 32.0;

// Multiplications and additions of a block in a round, from the shapes that PTX's manual gives its instructions.
using Operations = std::map<std::pair<std::string, std::string>, double>;
Operations operations() {
  return {
      {{"f32", "simt_ffma"}, 2.0 * kPeakThreads * 16 * 8},
      {{"f64", "simt_ffma"}, 2.0 * kPeakThreads * 16 * 8},
      {{"f64", "tensorcore_mmasync"}, 2 * kWarps * 32 * 8 * 8 * 4},
      {{"f64", "tensorcore_mmasync_k16"}, 2 * kWarps * 16 * 16 * 8 * 16},
      {{"tf32", "tensorcore_mmasync"}, 2 * kWarps * 32 * 16 * 8 * 8},
      {{"tf32", "tensorcore_wgmma"}, 2 * kWarps / 4 * 8 * 64 * 256 * 8},
      {{"f16", "tensorcore_mmasync"}, 2 * kWarps * 32 * 16 * 8 * 16},
      {{"f16", "tensorcore_mmasync_accf16"}, 2 * kWarps * 32 * 16 * 8 * 16},
      {{"f16", "tensorcore_wgmma"}, 2 * kWarps / 4 * 8 * 64 * 256 * 16},
      {{"bf16", "tensorcore_mmasync"}, 2 * kWarps * 32 * 16 * 8 * 16},
      {{"bf16", "tensorcore_wgmma"}, 2 * kWarps / 4 * 8 * 64 * 256 * 16},
      {{"i8", "tensorcore_mmasync"}, 2 * kWarps * 32 * 16 * 8 * 32},
      {{"i8", "tensorcore_wgmma"}, 2 * kWarps / 4 * 8 * 64 * 256 * 32},
  };
}

TEST(DevicePeaks, CountWhatTheyDo) {
  OpenedDevice opened = open("cuda-sim://5");
  ASSERT_TRUE(opened.device);
  Result<DevicePeaks> peaks = DevicePeaks::create(*opened.device, 8);
  ASSERT_TRUE(peaks.ok()) << peaks.status().toString();
  Result<std::vector<PeakWork>> works = peaks->works();
  ASSERT_TRUE(works.ok()) << works.status().toString();
  Operations counted;
  for (const PeakWork &work : *works)
    if (work.isArithmetic) {
      EXPECT_TRUE(counted.emplace(std::pair(work.what, work.how), work.amountOfRound).second) << work.what << work.how;
    }
  EXPECT_EQ(counted, operations());
  for (const PeakWork &work : *works)
    if (!work.isArithmetic) {
      EXPECT_EQ(work.amountOfRound, double(work.bytes)) << work.what << " " << work.how;
      EXPECT_EQ(work.what == "L2", work.bytes == opened.device->cacheBytes() / 4) << work.what;
      EXPECT_EQ(work.what == "memory", work.bytes == opened.device->cacheBytes() * 8) << work.what;
    }
}

TEST(DeviceCalibration, OfASimulatedDeviceIsNobodysCeiling) {
  OpenedDevice opened = open("cuda-sim");
  ASSERT_TRUE(opened.device);
  Result<Calibration> calibration = calibrateDevice(opened);
  ASSERT_TRUE(calibration.ok()) << calibration.status().toString();
  ASSERT_TRUE(calibration->device);
  EXPECT_TRUE(calibration->device->simulated);
  EXPECT_FALSE(calibration->device->isLike(opened.facts)) << "a simulator's numbers are no device's";
  EXPECT_EQ(calibration->arithmetic.size(), operations().size());
  for (const ArithmeticRate &rate : calibration->arithmetic)
    EXPECT_GT(rate.operations.best, 0) << rate.type << " " << rate.instructions;
  for (const char *level : {"shared", "L2", "memory"})
    EXPECT_GT(calibration->peakBytes(level, 1).value_or(0), 0) << level;
  ASSERT_EQ(calibration->launches.size(), 2U);
  EXPECT_EQ(calibration->launches[1].how, "in a graph");
  Result<Calibration> parsed = Calibration::parse(calibration->json());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(*parsed, *calibration);
}

TEST(DeviceCalibration, OlderDevicesHaveNoWarpgroups) {
  OpenedDevice opened = open("cuda-sim://sm_80");
  ASSERT_TRUE(opened.device);
  EXPECT_EQ(opened.facts.name, "simulated sm_80, seed 0");
  Result<DevicePeaks> peaks = DevicePeaks::create(*opened.device, opened.multiprocessors);
  ASSERT_TRUE(peaks.ok()) << peaks.status().toString();
  Result<std::vector<PeakWork>> works = peaks->works();
  ASSERT_TRUE(works.ok()) << works.status().toString();
  size_t arithmetic = 0;
  for (const PeakWork &work : *works) {
    arithmetic += work.isArithmetic;
    EXPECT_EQ(work.how.find("wgmma"), std::string::npos);
  }
  EXPECT_EQ(arithmetic, operations().size() - 5);
}

TEST(DeviceCalibration, WhatNewerTensorCoresReachIsNotTold) {
  OpenedDevice opened = open("cuda-sim://sm_100");
  ASSERT_TRUE(opened.device);
  Result<Calibration> calibration = calibrateDevice(opened);
  ASSERT_TRUE(calibration.ok()) << calibration.status().toString();
  ASSERT_FALSE(calibration->arithmetic.empty());
  for (const ArithmeticRate &rate : calibration->arithmetic)
    EXPECT_EQ(rate.instructions, "simt_ffma");
}

TEST(DeviceCalibration, SaysWhatDevicesLack) {
  OpenedDevice opened = open("discrete");
  ASSERT_TRUE(opened.device);
  const Status status = calibrateDevice(opened).status();
  EXPECT_EQ(status.code(), StatusCode::Unimplemented);
  EXPECT_EQ(status.message(), "the device discrete does not run the kernels for calibration, which are PTX for sm_80");
  const OpenedDevice cpu = open("local-sync");
  EXPECT_EQ(calibrateDevice(cpu).status().message(), "the device local-sync has no clock of its own");
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  EXPECT_EQ(openDevice(registry, "nowhere").status().code(), StatusCode::NotFound);
}

TEST(CalibratedDevice, AnotherOneOfItsNameIsTold) {
  const CalibratedDevice device{"Fast 9000", {{"multiprocessors", "132"}}, "CUDA 13.0", false};
  CalibratedDevice other = device;
  other.driver = "CUDA 13.1";
  EXPECT_TRUE(device.isLike(other));
  other.properties[0].second = "16"; // a part of it
  EXPECT_FALSE(device.isLike(other));
}

} // namespace
} // namespace kiln::measure
