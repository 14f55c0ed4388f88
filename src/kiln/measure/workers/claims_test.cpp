#include "kiln/measure/workers/claims.h"

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

constexpr uint64_t kElapsed = 10'000'000;

Answer answerOf(std::vector<int64_t> call, std::vector<int64_t> device = {}, std::vector<int64_t> launch = {}) {
  Answer answer;
  answer.batch = 4;
  answer.call = std::move(call);
  answer.device = std::move(device);
  answer.launch = std::move(launch);
  return answer;
}

std::string errorOf(const Answer &answer, uint64_t elapsed = kElapsed) {
  return std::string(checkClaims(answer, 4, elapsed).message());
}

TEST(Claims, WhatCanBeIsBelieved) {
  EXPECT_EQ(errorOf(answerOf({1'000'000, 1, 8'999'999})), ""); // all of the time
  EXPECT_EQ(errorOf(answerOf({5'000, 6'000}, {4'000, 6'000}, {1'000, 0})), "");
  EXPECT_EQ(errorOf(answerOf({5'000}, {4'000})), ""); // one part alone
  EXPECT_EQ(errorOf(answerOf({5'000}, {}, {4'000})), "");
  EXPECT_EQ(errorOf(answerOf({100'000}, {102'500}, {500})), ""); // within what clocks differ by
}

// 2 * (2^63 - 1) is -2 to who sums in 64 bits: what is left are times that look good.
TEST(Claims, SumsThatWrapAreSeen) {
  constexpr int64_t most = INT64_MAX;
  std::string error = errorOf(answerOf({most, most, 1000, 1020, 1010}));
  EXPECT_EQ(error,
            "the worker says that sample 1 of 5 took 9223372036854775807 ns; it had 10000000 ns for all of them");
  EXPECT_NE(errorOf(answerOf({1000, 1020, most, most, 1010})).find("sample 3 of 5 took"), std::string::npos);
  // Each of them is possible, and not all of them.
  EXPECT_EQ(errorOf(answerOf({6'000'000, 5'000'000, 1'000})),
            "the worker says that 2 of its 3 samples took 11000000 ns; it had 10000000 ns for all of them");
  EXPECT_NE(errorOf(answerOf(std::vector<int64_t>(40, INT64_MAX / 2)), uint64_t(INT64_MAX)), "");
}

TEST(Claims, NothingTakesNoTime) {
  EXPECT_EQ(errorOf(answerOf({1000, 0})), "the worker says that sample 2 of 2 took 0 ns");
  EXPECT_EQ(errorOf(answerOf({1000, -5})), "the worker says that sample 2 of 2 took -5 ns");
  EXPECT_NE(errorOf(answerOf({})), "");
  Answer other = answerOf({1000});
  other.batch = 5;
  EXPECT_EQ(errorOf(other), "the worker was asked to time batches of 4 calls, and answered with 1 of 5");
}

TEST(Claims, PartsAreNoMoreThanTheWhole) {
  EXPECT_NE(errorOf(answerOf({5'000, 6'000}, {4'000})).find("2 samples of \"call\" and 1 of \"device\""),
            std::string::npos);
  EXPECT_NE(errorOf(answerOf({5'000, 6'000}, {}, {1, 2, 3})).find("3 of \"launch\""), std::string::npos);
  std::string error = errorOf(answerOf({50'000, 60'000}, {50'000, 60'000'000}, {7, 7}));
  EXPECT_NE(error.find("sample 2 of 2 took 60000 ns, of which its device had 60000000 ns and the launch 7 ns"),
            std::string::npos)
      << error;
  EXPECT_NE(errorOf(answerOf({500'000}, {300'000}, {300'000})), ""); // together
  EXPECT_NE(errorOf(answerOf({500'000}, {INT64_MAX}, {INT64_MAX})), "");
  EXPECT_NE(errorOf(answerOf({500'000}, {}, {600'000})), "");
  EXPECT_NE(errorOf(answerOf({500'000}, {-1})), "");
  EXPECT_NE(errorOf(answerOf({500'000}, {1}, {-1})), "");
}

std::string untoldError(const std::vector<int64_t> &call, std::initializer_list<uint64_t> turns) {
  UntoldTime untold;
  for (uint64_t elapsed : turns)
    untold.addTurn(answerOf(call), elapsed);
  return std::string(untold.check().message());
}

TEST(Claims, TimeThatIsInNoSampleIsSeen) {
  std::vector<int64_t> call(80, 100'000); // 8 ms
  EXPECT_EQ(untoldError(call, {9'000'000, 9'000'000, 9'000'000, 9'400'000}), "");
  EXPECT_NE(untoldError(call, {10'000'000, 10'000'000, 10'000'000}).find("samples leave out 19 % of its turns"),
            std::string::npos);
  // What disturbed the fewer turns is not the worker's doing.
  EXPECT_EQ(untoldError(call, {20'000'000, 9'000'000, 9'000'000}), "");
  EXPECT_NE(untoldError(call, {20'000'000, 20'000'000, 9'000'000}), "");
  EXPECT_EQ(untoldError(call, {20'000'000, 20'000'000}), ""); // too few to say
  // Reading the clock is not left out, be it from Python: 1,000 samples of 6 us and 2 us between them.
  EXPECT_EQ(untoldError(std::vector<int64_t>(1'000, 6'000), {8'000'000, 8'000'000, 8'000'000}), "");
  // A turn that is about as short as what starts and ends it.
  EXPECT_EQ(untoldError({1'000}, {1'000'000, 1'000'000, 1'000'000}), "");
}

// What is no integer, or negative, is no answer at all.
TEST(Claims, SamplesThatAreNoNumbersAreNoAnswer) {
  for (const char *sample : {"NaN", "-1", "1.5", "1e3", "\"7\"", "null", "9223372036854775808", "1e999", "[1]"})
    for (const char *name : {"call", "device", "launch"})
      EXPECT_FALSE(parseAnswer(fmt::format(R"({{"ok":true,"batch":1,"call":[5],"{}":[{}]}})", name, sample)).ok())
          << name << " " << sample;
}

} // namespace
} // namespace kiln::measure
