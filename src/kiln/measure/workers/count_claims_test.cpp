#include "kiln/measure/workers/count_claims.h"

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

TEST(CountClaims, WhatAProcessorDoesIsBelieved) {
  EXPECT_TRUE(checkCounts({}, 1, 1).ok());
  EXPECT_TRUE(checkCounts({0, 0, 0, 0}, 1, 1).ok());
  // A millisecond on two threads at 6 GHz, 6 instructions a cycle, 40 GB/s, and AMX in bf16.
  EXPECT_TRUE(checkCounts({12'000'000, 72'000'000, 1'250'000, uint64_t(12'000'000) * 2048}, 1'000'000, 2).ok());
}

TEST(CountClaims, WhatNoneDoesIsNot) {
  auto messageOf = [](const CallCounts &counts) { return std::string(checkCounts(counts, 1'000, 2).message()); };
  EXPECT_EQ(messageOf({20'001, {}, {}, {}}),
            "the worker says that it counted 20001 cycles; in 1000 ns on 2 threads no processor does more than 20000");
  EXPECT_NE(messageOf({{}, 200'001, {}, {}}).find("200001 instructions"), std::string::npos);
  EXPECT_NE(messageOf({{}, {}, 20'001, {}}).find("20001 cache misses"), std::string::npos);
  EXPECT_NE(messageOf({{}, {}, {}, 82'000'000}).find("82000000 floating-point operations"), std::string::npos);
  EXPECT_EQ(messageOf({20'000, 200'000, 20'000, 81'920'000}), "");
}

} // namespace
} // namespace kiln::measure
