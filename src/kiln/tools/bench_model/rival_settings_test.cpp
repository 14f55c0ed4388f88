#include "kiln/tools/bench_model/rival_settings.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(RivalSettings, OfOneThreadThereIsNothingToChoose) {
  for (const std::string &rival : knownRivals()) {
    const std::vector<RivalSetting> settings = settingsOf(rival, 1, 1);
    ASSERT_EQ(settings.size(), 1U) << rival;
    EXPECT_EQ(settings[0].name, "") << rival;
    EXPECT_EQ(settings[0].threads, 1U) << rival;
  }
}

TEST(RivalSettings, OfSeveralThreadsTheMakersChoiceIsFirst) {
  const std::vector<RivalSetting> settings = settingsOf("onnxruntime", 4, 4);
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(settings[0].name, "spinning");
  EXPECT_TRUE(std::ranges::all_of(settings, [](const RivalSetting &setting) { return setting.threads == 4; }));
  EXPECT_TRUE(settings[0].environment.empty());
}

TEST(RivalSettings, ThreadsOfCoresAreTriedWhereTheyAreFewer) {
  const std::vector<RivalSetting> settings = settingsOf("openvino", 8, 4);
  ASSERT_EQ(settings.size(), 4U);
  EXPECT_EQ(settings[0].threads, 8U);
  EXPECT_EQ(settings[2].threads, 4U);
  // With one core there is one setting of one thread beside those of two.
  const std::vector<RivalSetting> few = settingsOf("openvino", 2, 1);
  ASSERT_EQ(few.size(), 3U);
  EXPECT_EQ(few[2].name, "");
  EXPECT_EQ(few[2].threads, 1U);
}

TEST(RivalSettings, WhatCompilesForLongIsTakenAsItIs) {
  EXPECT_EQ(settingsOf("torch-compile", 8, 4).size(), 1U);
  EXPECT_EQ(settingsOf("torch-compile", 8, 4)[0].threads, 8U);
}

TEST(RivalSettings, EnvironmentsDiffer) {
  const std::vector<RivalSetting> settings = settingsOf("torch", 2, 2);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_NE(settings[0].environment, settings[1].environment);
}

} // namespace
} // namespace kiln
