#include "kiln/measure/machine/call_counters.h"

#include <cstdlib>
#include <perfmon/pfmlib_perf_event.h>
#include <thread>
#include <unistd.h>

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

std::vector<uint64_t> flopCodes() {
  std::vector<uint64_t> codes;
  for (const FlopEvent &event : flopEvents()) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    if (::pfm_get_perf_event_encoding(event.name, PFM_PLM3, &attr, nullptr, nullptr) == PFM_SUCCESS)
      codes.push_back(attr.config);
  }
  return codes;
}

// In processes of their own, in each of which libpfm4 takes this machine's CPU for the one that it is told.
TEST(CallCountersDeathTest, FlopEventsOfKnownProcessors) {
  auto has = [](const char *processor, const std::vector<uint64_t> &codes) {
    auto compare = [&] {
      ::setenv("LIBPFM_FORCE_PMU", processor, 1); // NOLINT(concurrency-mt-unsafe)
      ::_exit(flopCodes() == codes ? 0 : 1);
    };
    EXPECT_EXIT(compare(), testing::ExitedWithCode(0), "") << processor;
  };
  has("amd64_fam17h_zen1", {});
  has("amd64_fam17h_zen2", {0x0f03});
  has("amd64_fam19h_zen4", {0x1f03});
  // Each bit of the upper byte is one kind of instruction, and none is counted twice.
  has("skx", {0x03c7, 0x04c7, 0x18c7, 0x60c7, 0x80c7});
  has("spr", {0x03c7, 0x04c7, 0x18c7, 0x60c7, 0x80c7});
  has("hsw", {});
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
