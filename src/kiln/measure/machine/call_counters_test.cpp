#include "kiln/measure/machine/call_counters.h"

#include <thread>

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

TEST(CallCounters, CountsAreScaledToTheWholeTime) {
  EXPECT_EQ(countBetween({100, 50, 50}, {400, 90, 90}), 300U);
  EXPECT_EQ(countBetween({100, 50, 50}, {400, 90, 70}), 600U); // it ran half of the time
  EXPECT_EQ(countBetween({0, 0, 0}, {0, 10, 10}), 0U);
  EXPECT_FALSE(countBetween({100, 50, 50}, {100, 90, 50})); // it never ran
  EXPECT_FALSE(countBetween({100, 50, 50}, {0, 0, 0}));     // it could not be read
}

TEST(CallCounters, FlopEventsOfKnownProcessors) {
  auto of = [](std::string_view vendor, int family, int model, std::string_view flags) {
    return flopEvents(fmt::format("processor\t: 0\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: A\n"
                                  "flags\t\t: fpu {} sse\n",
                                  vendor, family, model, flags));
  };
  std::vector<FlopEvent> one = {{0x0f03, 1}};
  EXPECT_EQ(of("AuthenticAMD", 25, 1, "avx2"), one);
  EXPECT_EQ(of("AuthenticAMD", 23, 49, "avx2"), one);
  EXPECT_TRUE(of("AuthenticAMD", 23, 1, "avx2").empty());
  std::vector<FlopEvent> several = of("GenuineIntel", 6, 85, "avx2 avx512f");
  ASSERT_EQ(several.size(), 5U);
  uint64_t umasks = 0;
  for (const FlopEvent &event : several) {
    EXPECT_EQ(event.config & 0xff, 0xc7U);
    EXPECT_EQ(umasks & (event.config >> 8), 0U) << "an event is counted twice";
    umasks |= event.config >> 8;
  }
  EXPECT_EQ(umasks, 0xffU);
  EXPECT_TRUE(of("GenuineIntel", 6, 151, "avx2").empty());
  EXPECT_TRUE(flopEvents("").empty());
}

// Where the machine has counters: a thread that is started later counts, too, and nothing does between stop and start.
TEST(CallCounters, ThreadsThatAreStartedLaterCount) {
  std::unique_ptr<CallCounters> counters = openCallCounters(SystemFiles());
  if (!counters)
    GTEST_SKIP() << "this machine has no counters";
  auto spend = [](uint64_t steps) {
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < steps; ++i)
      sum = sum + i;
  };
  counters->start();
  CallCounts none = counters->stop();
  spend(10'000'000);
  counters->start();
  std::thread([&] { spend(1'000'000); }).join();
  CallCounts some = counters->stop();
  ASSERT_TRUE(none.any() && some.any());
  if (some.instructions) {
    EXPECT_GT(*some.instructions, 1'000'000U);
    EXPECT_LT(*some.instructions, 10'000'000U + 1'000'000U);
    EXPECT_LT(none.instructions.value_or(0), 1'000'000U);
  }
}

} // namespace
} // namespace kiln::measure
