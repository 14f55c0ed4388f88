#include "kiln/tools/dispatch/duration.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

double secondsOf(std::string_view text) {
  Result<double> seconds = parseDuration("minutes", text);
  return seconds.ok() ? *seconds : -1;
}

TEST(Duration, IsInMinutesUnlessItSaysItsUnit) {
  EXPECT_EQ(secondsOf("10"), 600);
  EXPECT_EQ(secondsOf("0.5"), 30);
  EXPECT_EQ(secondsOf(".5"), 30);
  EXPECT_EQ(secondsOf("90s"), 90);
  EXPECT_EQ(secondsOf("0.25s"), 0.25);
  EXPECT_EQ(secondsOf("2.5min"), 150);
  EXPECT_EQ(secondsOf("2m"), 120);
  EXPECT_EQ(secondsOf("1.5h"), 5400);
}

TEST(Duration, WhatIsNoneIsAnErrorThatNamesTheFlag) {
  for (const char *text : {"", "0", "-1", "s", "5 min", "1d", "ten", "nan", "inf", "1e9h", "2000h", "0.0s", "1:30"}) {
    Result<double> seconds = parseDuration("minutes", text);
    ASSERT_FALSE(seconds.ok()) << text;
    EXPECT_NE(seconds.status().message().find("--minutes="), std::string_view::npos) << text;
  }
}

TEST(Duration, IsToldAsPeopleSayIt) {
  EXPECT_EQ(durationText(20), "20 s");
  EXPECT_EQ(durationText(0.2), "1 s");
  EXPECT_EQ(durationText(-1), "0 s");
  EXPECT_EQ(durationText(60), "1 minute");
  EXPECT_EQ(durationText(90), "90 s");
  EXPECT_EQ(durationText(150), "2.5 minutes");
  EXPECT_EQ(durationText(600), "10 minutes");
  EXPECT_EQ(durationText(6120), "1.7 hours");
}

} // namespace
} // namespace kiln
