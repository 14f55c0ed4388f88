#include "kiln/measure/workers/claims.h"

#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

constexpr uint64_t kElapsed = 10'000'000, kSent = 1'000'000'000;

TimedRequest timedOf(std::vector<int64_t> host, uint64_t elapsed = kElapsed, uint32_t batch = 4) {
  TimedRequest timed;
  timed.request.batch = timed.answer.batch = batch;
  timed.request.calls = host.size() * batch;
  timed.sent = kSent;
  timed.answered = kSent + elapsed;
  timed.answer.host = std::move(host);
  return timed;
}

std::string errorOf(const TimedRequest &timed) {
  return std::string(checkClaims(timed).message());
}

TEST(Claims, WhatCanBeIsBelieved) {
  EXPECT_EQ(errorOf(timedOf({1'000'000, 1, 8'999'999})), ""); // all of the time
}

// 2 * (2^63 - 1) is -2 to who sums in 64 bits: what is left are times that look good.
TEST(Claims, SumsThatWrapAreSeen) {
  constexpr int64_t most = INT64_MAX;
  EXPECT_EQ(errorOf(timedOf({most, most, 1000, 1020, 1010})),
            "the worker says that sample 1 of 5 took 9223372036854775807 ns; it had 10000000 ns for all of them");
  EXPECT_NE(errorOf(timedOf({1000, 1020, most, most, 1010})).find("sample 3 of 5 took"), std::string::npos);
  // Each of them is possible, and not all of them.
  EXPECT_EQ(errorOf(timedOf({6'000'000, 5'000'000, 1'000})),
            "the worker says that 2 of its 3 samples took 11000000 ns; it had 10000000 ns for all of them");
  EXPECT_NE(errorOf(timedOf(std::vector<int64_t>(40, INT64_MAX / 2), uint64_t(INT64_MAX))), "");
}

TEST(Claims, NothingTakesNoTime) {
  EXPECT_EQ(errorOf(timedOf({1000, 0})), "the worker says that sample 2 of 2 took 0 ns");
  EXPECT_EQ(errorOf(timedOf({1000, -5})), "the worker says that sample 2 of 2 took -5 ns");
  TimedRequest other = timedOf({1000});
  other.answer.batch = 5;
  EXPECT_EQ(errorOf(other), "the worker was asked to time 1 batches of 4 calls, and answered with 1 of 5");
  other = timedOf({1000, 1000});
  other.answer.host.pop_back();
  EXPECT_EQ(errorOf(other), "the worker was asked to time 2 batches of 4 calls, and answered with 1 of 4");
}

TEST(Claims, SpansComeWhereTheyWereAskedFor) {
  TimedRequest timed = timedOf({1000, 1000});
  timed.request.byDevice = true;
  EXPECT_EQ(errorOf(timed), "the worker was asked for 2 times by its device's clock, and told 0");
  timed.answer.spans = {900, 0};
  EXPECT_EQ(errorOf(timed), "the worker says that a batch took its device 0 ns");
  timed.answer.spans = {900, 800};
  EXPECT_EQ(errorOf(timed), "");
  timed.request.byDevice = false;
  EXPECT_EQ(errorOf(timed), "the worker was asked for 0 times by its device's clock, and told 2");
}

// Its clock is the lab's where it says so, and then it cannot have worked before it was asked.
TEST(Claims, DeviceTimesLieWithinTheRequest) {
  auto withDevice = [](const char *clock, int64_t submitted, int64_t started, int64_t ended) {
    TimedRequest timed = timedOf({5'000}, kElapsed, 1);
    timed.answer.device = DeviceTimes{clock, 1'000'000'000, {submitted}, {started}, {ended}};
    return errorOf(timed);
  };
  int64_t now = kSent;
  EXPECT_EQ(withDevice("monotonic", now + 10, now + 20, now + 4'000), "");
  EXPECT_EQ(withDevice("globaltimer", 10, 20, 4'000), "");
  EXPECT_NE(withDevice("monotonic", now - 10, now + 20, now + 4'000).find("before it was asked"), std::string::npos);
  EXPECT_NE(withDevice("monotonic", now, now + 20, now + kElapsed + 1).find("after it had answered"),
            std::string::npos);
  EXPECT_NE(withDevice("globaltimer", 30, 20, 4'000).find("submitted at 30, started at 20"), std::string::npos);
  EXPECT_NE(withDevice("globaltimer", 10, 5'000, 4'000).find("ended at 4000"), std::string::npos);
  TimedRequest many = timedOf({5'000}, kElapsed, 1);
  many.answer.device = DeviceTimes{"globaltimer", 1'000'000'000, {}, {1, 2}, {2, 3}};
  EXPECT_NE(errorOf(many).find("device times of 2 calls, and made 1"), std::string::npos);
}

// 100 calls of 100 us each, which the worker says to have taken `part` of that.
TimedRequest tellingPart(double part) {
  TimedRequest timed = timedOf(std::vector<int64_t>(100, int64_t(100'000 * part)), 10'000'000, 1);
  timed.running = 10'000'000;
  return timed;
}

std::string untoldAfter(int requests, const TimedRequest &timed) {
  UntoldTime untold;
  for (int i = 0; i < requests; ++i)
    untold.add(timed);
  return std::string(untold.check().message());
}

TEST(Claims, TimeThatIsLeftOutIsTold) {
  EXPECT_EQ(untoldAfter(30, tellingPart(0.97)), "");
  EXPECT_NE(untoldAfter(30, tellingPart(0.7))
                .find("leaves out time: calls took 1.41 times as long as the worker's samples say"),
            std::string::npos)
      << untoldAfter(30, tellingPart(0.7));
  EXPECT_NE(untoldAfter(7, tellingPart(0.4)).find("leaves out time"), std::string::npos); // of who leaves early
  EXPECT_EQ(untoldAfter(6, tellingPart(0.4)), ""); // of two turns, which may be disturbed
  UntoldTime few;
  EXPECT_FALSE(few.suspicious());
  few.add(tellingPart(0.4));
  EXPECT_TRUE(few.suspicious());
  few.add(tellingPart(0.97));
  EXPECT_FALSE(few.suspicious());
  TimedRequest bunched = tellingPart(0.02);
  bunched.answer.host[0] = 9'000'000;
  EXPECT_NE(untoldAfter(9, bunched).find("leaves out time"), std::string::npos);
}

// A host that takes a machine's memory away makes some of the samples long, of whoever computes: the middle one is a
// third of the average, and nobody has left out anything.
TEST(Claims, ManyLongSamplesAccuseNobody) {
  TimedRequest timed = tellingPart(0.25);
  for (size_t i = 0; i < timed.answer.host.size(); i += 8)
    timed.answer.host[i] = 600'000;
  EXPECT_EQ(untoldAfter(30, timed), "");
  raiseSamples(timed); // and whoever made them long on purpose gains nothing by it
  EXPECT_GT(timed.answer.host[1], 90'000);
}

// Requests of few short calls say nothing, unless something delays them; then they are no lie, however many they are.
TEST(Claims, DelaysOfShortRequestsAccuseNobody) {
  TimedRequest quick = timedOf({50'000, 50'000}, 250'000, 1), delayed = timedOf({50'000, 3'000'000}, 25'000'000, 1);
  UntoldTime untold;
  for (int i = 0; i < 30; ++i) {
    untold.add(i % 3 == 0 ? delayed : quick);
    EXPECT_TRUE(untold.check().ok()) << i << ": " << untold.check().message();
  }
  EXPECT_FALSE(untold.suspicious()); // which would have it timed until it is accused
}

// Two threads that await each other without sleeping: while one waits for a processor, the other one spins.
TEST(Claims, AwaitingAThreadThatIsDisturbedIsNotWork) {
  TimedRequest timed = tellingPart(0.2);
  timed.threads = 2;
  timed.answer.host[0] = 8'000'000; // in which all the waiting was
  timed.disturbed = 6'000'000;
  timed.running = 10'000'000;
  EXPECT_EQ(untoldAfter(30, timed), "");
  timed.disturbed = 0; // nobody kept them from running
  EXPECT_NE(untoldAfter(30, timed).find("leaves out time"), std::string::npos);
}

// Who tells the time of its processor leaves out what others disturb, which is in everybody else's samples.
TEST(Claims, SamplesAreOfTheClockOnTheWall) {
  TimedRequest timed = timedOf(std::vector<int64_t>(10, 5'000'000), 120'000'000, 1);
  timed.running = 50'000'000;
  timed.disturbed = 70'000'000;
  raiseSamples(timed);
  EXPECT_GT(timed.answer.host.front(), 11'000'000);
  TimedRequest honest = timedOf(std::vector<int64_t>(10, 11'900'000), 120'000'000, 1);
  raiseSamples(honest);
  EXPECT_EQ(honest.answer.host.front(), 11'900'000);
  // A single one is disturbed.
  std::vector<int64_t> samples(10, 1'000'000);
  samples[3] = 9'000'000;
  TimedRequest once = timedOf(samples, 18'500'000, 1);
  once.running = 10'000'000;
  once.disturbed = 8'000'000;
  raiseSamples(once);
  EXPECT_EQ(once.answer.host, samples);
}

// On a busy machine a request takes long, and samples only as long as the worker runs.
TEST(Claims, WaitingForOthersIsNotLeftOut) {
  TimedRequest timed = tellingPart(0.5);
  timed.running = 5'000'000;
  timed.disturbed = 5'000'000;
  EXPECT_EQ(untoldAfter(30, timed), "");
  timed.running = timed.elapsed(); // it ran all the same
  EXPECT_NE(untoldAfter(30, timed).find("leaves out time"), std::string::npos);
  timed.threads = 2; // half of which were two threads'
  EXPECT_EQ(untoldAfter(30, timed), "");
}

// Work that is done in few samples of many counts in all of them, as does work that is in none.
TEST(Claims, SamplesAreNoLessThanWhatWasSpent) {
  TimedRequest ahead = timedOf({9'900'000, 25'000, 25'000, 25'000, 25'000}, 10'100'000 + 5 * 500, 1);
  raiseSamples(ahead);
  EXPECT_EQ(ahead.answer.host, (std::vector<int64_t>{9'900'000, 1'900'000, 1'900'000, 1'900'000, 1'900'000}));
  TimedRequest even = timedOf({2'000'000, 1'950'000, 2'050'000}, 6'100'000, 1);
  raiseSamples(even);
  EXPECT_EQ(even.answer.host, (std::vector<int64_t>{2'000'000, 1'950'000, 2'050'000}));
}

TEST(Claims, ADeviceHasWhatIsLeftByAnEmptyCall) {
  auto after = [](double device, double empty) {
    DeviceClaims claims;
    for (int i = 0; i < 5; ++i)
      claims.add({100'000, device, 0});
    return std::string(claims.check(empty).message());
  };
  EXPECT_EQ(after(95'000, 500), "");
  EXPECT_EQ(after(40'000, 30'000), ""); // launching may take long, where it does for an empty call
  EXPECT_NE(after(40'000, 500)
                .find("device time smaller than it was: of a call its device is said to have no part in "
                      "60000 ns, where an empty call takes 500 ns"),
            std::string::npos);
}

// On a busy machine a thread that is woken waits for a processor.
TEST(Claims, WaitingForOthersIsNoDevicesTime) {
  DeviceClaims claims;
  for (int i = 0; i < 5; ++i)
    claims.add({100'000, 40'000, 0, 50'000});
  EXPECT_EQ(claims.check(500).message(), "");
}

// Their times are stored and compared with each other.
TEST(Claims, ShareOfADevice) {
  TimedRequest timed = timedOf({100, 120, 110}, kElapsed, 1);
  timed.answer.device = DeviceTimes{"ticks", 500'000'000, {0, 100, 200}, {5, 105, 206}, {45, 150, 250}};
  DeviceShare share = deviceShareOf(timed);
  EXPECT_EQ(share.call, 110);
  EXPECT_EQ(share.device, 88); // 44 ticks of 2 ns
  EXPECT_EQ(share.launch, 10);
}

TEST(Claims, CopyingIsToldFromComputing) {
  TimedRequest copied;
  copied.sent = 1'000'000;
  // 4 MB at 4 bytes a nanosecond, in 10 sets.
  auto beyond = [&](uint64_t elapsed) {
    copied.answered = copied.sent + elapsed;
    return copied.beyondCopying(4'000'000, 10, 0.25);
  };
  EXPECT_EQ(beyond(1'000'000), 0U);
  EXPECT_EQ(beyond(1'650'000), 0U); // half as much again, 5 us for each set, 100 us for the request
  EXPECT_EQ(beyond(2'650'000), 1'000'000U);
  // What is beyond copying belongs to the calls.
  TimedRequest timed;
  timed.answered = 10'000'000;
  timed.answer.host = {9'000'000};
  uint64_t before = timed.spent();
  timed.besides = 1'000'000;
  EXPECT_EQ(timed.spent(), before + 1'000'000);
}

TEST(Claims, TheLabKnowsHowFastItCopies) {
  std::vector<uint8_t> bytes(size_t(1) << 20, 1);
  const uint64_t shape[] = {bytes.size()};
  std::vector<io::TensorSpan> tensors(5, io::TensorSpan{io::ElementType::I8, shape, bytes});
  double nanoseconds = nanosecondsToCopyAByte(tensors);
  EXPECT_GT(nanoseconds, 0.001);
  EXPECT_LT(nanoseconds, 10);
  EXPECT_GT(nanosecondsToCopyAByte({}), 0);
}

} // namespace
} // namespace kiln::measure
