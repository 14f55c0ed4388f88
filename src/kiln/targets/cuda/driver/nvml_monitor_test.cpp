#include "kiln/targets/cuda/driver/nvml_monitor.h"

#include <cstdlib>
#include <string>
#include <vector>

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

// "topic: text", with ! where it disturbs, and - where it is not known.
std::vector<std::string> conditionsOf(const char *mode) {
  setenv("FAKE_NVML", mode, 1);
  Result<std::unique_ptr<DeviceMonitor>> monitor = openNvml(KILN_FAKE_NVML, kPlace);
  EXPECT_TRUE(monitor.ok()) << monitor.status().message();
  std::vector<std::string> texts;
  for (const DeviceCondition &condition : monitor.ok() ? (*monitor)->conditions() : std::vector<DeviceCondition>()) {
    using Effect = DeviceCondition::Effect;
    EXPECT_TRUE(condition.effect != Effect::Disturbs || !condition.advice.empty()) << condition.topic;
    texts.push_back(fmt::format("{}{}: {}",
                                condition.effect == Effect::Disturbs  ? "!"
                                : condition.effect == Effect::Unknown ? "-"
                                                                      : "",
                                condition.topic, condition.text));
  }
  return texts;
}

TEST(NvmlMonitor, TellsHowAGpuIsSetUpAndWhoUsesIt) {
  EXPECT_EQ(
      conditionsOf("steady"),
      (std::vector<std::string>{"driver: 580.95", "clocks: 1980 MHz, of 1980 at most", "power: 700 W, limited to 700",
                                "throttling: nothing holds its clock down", "persistence: on", "ecc: on", "mig: off",
                                "load: kernels ran 0 % of the last moments", "processes: no other has it open"}));
  std::vector<std::string> troubled = conditionsOf("troubled");
  ASSERT_EQ(troubled.size(), 9U);
  EXPECT_EQ(troubled[2], "!power: 700 W, limited to 500 and not to its usual 700");
  EXPECT_EQ(troubled[3], "!throttling: its clock is held down: heat,power limit");
  EXPECT_EQ(troubled[4], "persistence: off: the first program after a pause starts slowly");
  EXPECT_EQ(troubled[5], "!ecc: on, with 3 errors that it could not correct");
  EXPECT_TRUE(troubled[6].starts_with("!mig: on: this is a part of a GPU")) << troubled[6];
  EXPECT_EQ(troubled[7], "!load: kernels ran 97 % of the last moments");
  EXPECT_TRUE(troubled[8].starts_with("!processes: 1 other has it open: ") && troubled[8].ends_with("300 MiB"))
      << troubled[8];
  for (const std::string &text : conditionsOf("bare"))
    EXPECT_TRUE(text.starts_with("driver: ") || text.starts_with("clocks: 1980 MHz") ||
                (text.starts_with("-") && text.ends_with("NVML: Not Supported")))
        << text;
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
