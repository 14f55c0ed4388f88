#include "kiln/targets/cuda/driver/nvml_monitor.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace kiln::hal {
namespace {

constexpr const char *kPlace = "00000000:19:00.0";

DeviceState twice(const char *mode) {
  setenv("FAKE_NVML", mode, 1);
  Result<std::unique_ptr<DeviceMonitor>> monitor = openNvml(KILN_FAKE_NVML, kPlace);
  EXPECT_TRUE(monitor.ok()) << monitor.status().message();
  DeviceState state;
  for (int i = 0; i < 2 && monitor.ok(); ++i) {
    Result<DeviceState> now = (*monitor)->read();
    EXPECT_TRUE(now.ok()) << now.status().message();
    state.add(*now);
  }
  return state;
}

TEST(NvmlMonitor, TellsClocksPowerTemperatureAndWhatHoldsClocksDown) {
  EXPECT_EQ(twice("steady"), (DeviceState{1980, 1980, 700, 61, ""}));
  EXPECT_FALSE(twice("steady").moved());
  EXPECT_EQ(twice("moving"), (DeviceState{1755, 1980, 700, 61, "heat,power limit"}));
  EXPECT_TRUE(twice("moving").moved());
}

TEST(NvmlMonitor, WhatAGpuDoesNotTellIsAbsent) {
  EXPECT_EQ(twice("bare"), (DeviceState{1980, 1980, {}, {}, ""}));
}

TEST(NvmlMonitor, SaysWhatIsMissing) {
  auto messageOf = [](const char *library, const char *place) {
    Result<std::unique_ptr<DeviceMonitor>> monitor = openNvml(library, place);
    EXPECT_FALSE(monitor.ok());
    EXPECT_EQ(monitor.status().code(), StatusCode::Unavailable);
    return std::string(monitor.status().message());
  };
  EXPECT_NE(messageOf("libnvidia-nowhere.so.1", kPlace).find("cannot be loaded: libnvidia-nowhere.so.1"),
            std::string::npos);
  EXPECT_EQ(messageOf("libm.so.6", kPlace), "NVIDIA's library of clocks and power has no function nvmlInit_v2");
  EXPECT_EQ(messageOf(KILN_FAKE_NVML, "00000000:20:00.0"), "NVML cannot find the GPU at 00000000:20:00.0: Not Found");
}

} // namespace
} // namespace kiln::hal
