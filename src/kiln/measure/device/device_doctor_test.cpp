#include "kiln/measure/device/device_doctor.h"

#include <gtest/gtest.h>
#include <memory>

#include "kiln/targets/drivers.h"

namespace kiln::measure {
namespace {

CalibratedDevice fastDevice() {
  return {"Fast 9000", {{"multiprocessors", "132"}}, "CUDA 13.0", false};
}

Calibration calibrationOf(const CalibratedDevice &device) {
  Calibration calibration;
  calibration.time = "2026-01-02T03:04:05Z";
  calibration.device = device;
  calibration.arithmetic = {{"f32", "simt_ffma", 1, {6e13, 6e13, 5}}, {"f32", "other", 1, {9e13, 9e13, 5}}};
  return calibration;
}

TEST(DeviceDoctor, JudgesACalibration) {
  auto judge = [](const Result<Calibration> &calibration, double now = 0) {
    return judgeCalibration(calibration, fastDevice(), "cuda://1", now);
  };
  EXPECT_EQ(judge(notFound("")).health, Health::Unavailable);
  EXPECT_EQ(judge(notFound("")).advice, "`kiln calibrate --device=cuda://1` does it");
  EXPECT_EQ(judge(invalidArgument("'x' is no calibration")).health, Health::Warning);
  EXPECT_EQ(judge(calibrationOf(fastDevice())).text, "of 2026-01-02T03:04:05Z");
  const Finding quick = judge(calibrationOf(fastDevice()), 5.9e13), slow = judge(calibrationOf(fastDevice()), 5.4e13);
  EXPECT_EQ(quick.health, Health::Good);
  EXPECT_EQ(quick.text, "of 2026-01-02T03:04:05Z; f32 has 98.3 % of the speed that it had then");
  EXPECT_EQ(slow.health, Health::Warning);
  CalibratedDevice other = fastDevice();
  other.properties[0].second = "16";
  EXPECT_EQ(judge(calibrationOf(other)).text, "what is stored is of another device: Fast 9000");
  other = fastDevice();
  other.driver = "CUDA 12.8";
  EXPECT_EQ(judge(calibrationOf(other)).text, "of 2026-01-02T03:04:05Z with another driver (CUDA 12.8)");
  other.driver = fastDevice().driver, other.simulated = true;
  EXPECT_EQ(judge(calibrationOf(other)).health, Health::Warning) << "a simulator's numbers";
}

std::string textOf(const DeviceDiagnosis &diagnosis, const std::string &topic) {
  for (const Finding &finding : diagnosis.findings)
    if (finding.topic == topic)
      return fmt::format("{}: {}", healthName(finding.health), finding.text);
  return "nothing";
}

TEST(DeviceDoctor, OfDevicesThatTellNothing) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Result<DeviceDiagnosis> simulated = diagnoseDevice(registry, "cuda-sim://3", {.seconds = 0.01});
  ASSERT_TRUE(simulated.ok()) << simulated.status().toString();
  EXPECT_EQ(textOf(*simulated, "clocks"), "not available: devices of cuda-sim tell nothing of clocks and power");
  EXPECT_EQ(textOf(*simulated, "noise"), "not available: its clock counts what is executed");
  EXPECT_EQ(textOf(*simulated, "calibration"), "good: of a simulated device there is none");
  EXPECT_EQ(simulated->summary(), "There is no warning, but how much runs differ was not measured.");
  Result<DeviceDiagnosis> discrete = diagnoseDevice(registry, "discrete", {.seconds = 0.01});
  ASSERT_TRUE(discrete.ok()) << discrete.status().toString();
  EXPECT_EQ(textOf(*discrete, "noise"),
            "not available: the device discrete does not run the kernels for calibration, which are PTX for sm_80");
  EXPECT_EQ(textOf(*discrete, "calibration"), "nothing") << "it cannot be";
  EXPECT_NE(discrete->json().find("\"noise\": null"), std::string::npos);
  EXPECT_EQ(diagnoseDevice(registry, "nowhere", {}).status().code(), StatusCode::NotFound);
}

} // namespace
} // namespace kiln::measure
