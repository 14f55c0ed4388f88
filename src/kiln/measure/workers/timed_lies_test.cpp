// What providers might do while they are timed, each planted and rejected under its name.
#include <algorithm>
#include <cmath>
#include <unistd.h>

#include "kiln/measure/machine/quick_look.h"
#include "kiln/measure/workers/group.h"
#include "kiln/measure/workers/run_time_counter.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "kiln/measure/workers/timed_data.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using testing::FixedRounds;
using testing::TinyMatmul;

class TimedLies : public ::testing::Test {
protected:
  TimedLies() {
    problem.m = problem.n = problem.k = 48; // long beside what a call costs by itself
    problem.checksTimed = true;
    settings.lastLevelCacheBytes = uint64_t(3) << 20; // about 225 sets
    settings.warmUpNanoseconds = 1'000'000;
  }

  static Candidate fake(std::vector<std::string> arguments) {
    Candidate candidate;
    candidate.command = {KILN_FAKE_WORKER};
    candidate.command.insert(candidate.command.end(), arguments.begin(), arguments.end());
    return candidate;
  }

  class Silent final : public GroupObserver {
  public:
    Status onRound(const RoundSamples &samples) override {
      all.push_back(samples);
      return okStatus();
    }
    std::vector<RoundSamples> all;
  };

  // The candidate beside one that behaves, and that has to come through.
  CandidateResult measure(const Candidate &candidate, uint32_t rounds = 16) {
    FixedRounds scheduler(2, rounds);
    observer.all.clear();
    ActivitySnapshot before = ActivitySnapshot::take(SystemFiles());
    Result<GroupResult> result = runGroup(problem, std::vector{candidate, fake({})}, settings, scheduler, observer);
    isQuiet = disturbance(watch(before, ActivitySnapshot::take(SystemFiles()), unsigned(::getpid()),
                                double(::sysconf(_SC_CLK_TCK))))
                  .empty();
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok())
      return {};
    EXPECT_EQ(result->candidates[1].outcome, Outcome::Ok) << result->candidates[1].message;
    return result->candidates[0];
  }
  void expectLie(const Candidate &candidate, Outcome outcome, const std::string &name, uint32_t rounds = 4) {
    CandidateResult row = measure(candidate, rounds);
    ASSERT_TRUE(row.outcome);
    EXPECT_EQ(*row.outcome, outcome) << row.message;
    EXPECT_TRUE(row.message.starts_with(name)) << row.message;
  }

  // What leaves out time is told where nobody else is at work. On a busy machine a turn may have too few calls to
  // accuse anybody of, and then the lie has gained nothing: a call counts for no less than half of the shortest honest
  // one, which others can only make longer. What is told of requests, whatever others do, is tested in claims_test.
  void expectTimeToBeTold(const Candidate &candidate, uint32_t rounds) {
    CandidateResult row = measure(candidate, rounds);
    ASSERT_TRUE(row.outcome);
    if (!isQuiet && row.outcome == Outcome::Ok) {
      EXPECT_GT(callOf(0), 0.5 * leastOf(1));
      return;
    }
    EXPECT_EQ(*row.outcome, Outcome::Rubbish) << row.message;
    EXPECT_TRUE(row.message.starts_with("leaves out time")) << row.message;
  }

  // On a busy machine the rest of a call may be what its thread waited for a processor.
  void expectDeviceTimeToBeTold() {
    CandidateResult row = measure(fake({"device", "timed"}), 12);
    ASSERT_TRUE(row.outcome);
    if (!isQuiet && row.outcome == Outcome::Ok)
      GTEST_SKIP() << "others were at work";
    EXPECT_EQ(*row.outcome, Outcome::Rubbish) << row.message;
    EXPECT_TRUE(row.message.starts_with("device time smaller than it was")) << row.message;
  }

  // The shortest of all samples, nanoseconds of a call.
  double leastOf(uint32_t candidate) const {
    double least = HUGE_VAL;
    for (const RoundSamples &samples : observer.all)
      if (samples.candidate == candidate)
        least = std::min(least, double(std::ranges::min(samples.call)) / samples.batch);
    return least;
  }

  // The middle one of the turns, nanoseconds of a call.
  double callOf(uint32_t candidate) const {
    std::vector<double> turns;
    for (const RoundSamples &samples : observer.all) {
      std::vector<int64_t> sorted = samples.call;
      std::ranges::sort(sorted);
      if (samples.candidate == candidate)
        turns.push_back(double(sorted[sorted.size() / 2]) / samples.batch);
    }
    std::ranges::sort(turns);
    return turns.empty() ? 0 : turns[turns.size() / 2];
  }

  TinyMatmul problem;
  GroupSettings settings;
  Silent observer;
  bool isQuiet = true; // whether nobody else was at work while it was measured
};

TEST_F(TimedLies, TheHonestComeThrough) {
  EXPECT_EQ(measure(fake({})).outcome, Outcome::Ok);
  settings.cold = false;
  EXPECT_EQ(measure(fake({}), 8).outcome, Outcome::Ok);
}

TEST_F(TimedLies, DoesNothing) {
  expectLie(fake({"nothing", "timed"}), Outcome::Wrong, "does nothing when it is timed");
  settings.cold = false;
  expectLie(fake({"nothing", "timed"}), Outcome::Wrong, "does nothing when it is timed");
}

TEST_F(TimedLies, ComputesAPart) {
  expectLie(fake({"part", "timed"}), Outcome::Wrong, "computes a part when it is timed");
}

TEST_F(TimedLies, AnswersFromMemory) {
  expectLie(fake({"memory", "timed"}), Outcome::Wrong, "answers from memory");
}

// Comparing takes as long as computing, and may be left out in each turn by chance.
TEST_F(TimedLies, NobodyIsDoneWithoutAComparison) {
  problem.sparing = true;
  EXPECT_EQ(measure(fake({"memory", "timed"}), 4).outcome, Outcome::Wrong);
  EXPECT_GT(measure(fake({})).timedCompared, 0U);
  problem.checksTimed = false; // nothing to compare with
  EXPECT_EQ(measure(fake({})).timedCompared, 0U);
}

TEST_F(TimedLies, ReturnsBeforeItsWorkIsDone) {
  expectLie(fake({"early", "timed"}), Outcome::Wrong, "returns before its work is done");
}

TEST_F(TimedLies, ComputesWhatAnotherCallAskedFor) {
  expectLie(fake({"previous", "timed"}), Outcome::Wrong, "computes what another call asked for");
}

TEST_F(TimedLies, WrongWhenItIsTimed) {
  expectLie(fake({"wrong", "timed"}), Outcome::Wrong, "wrong when it is timed");
}

TEST_F(TimedLies, RecognizesTheChecking) {
  settings.lastLevelCacheBytes = uint64_t(1) << 20; // its workers compute all sets first, and should not live for long
  expectLie(fake({"recognize", "timed"}), Outcome::Rubbish, "recognizes the checking", 60);
}

TEST_F(TimedLies, LeavesOutTime) {
  expectTimeToBeTold(fake({"hide", "timed"}), 60);
}

TEST_F(TimedLies, ComputesBeforeItsSamples) {
  expectTimeToBeTold(fake({"ahead", "timed"}), 8);
  expectTimeToBeTold(fake({"bunch", "timed"}), 8);
}

// A child that computes, and is gone before anybody looks: its processor time counts, and waiting for it is no
// disturbance.
TEST_F(TimedLies, ComputesInAChild) {
  if (!RunTimeCounter::of(::getpid()).read())
    GTEST_SKIP() << "this system does not tell what a process's children ran";
  expectTimeToBeTold(fake({"child", "timed"}), 24);
}

// What is too little to accuse anybody of, or too rare, gains nothing: it counts for what was spent.
TEST_F(TimedLies, ShiftingTimeGainsNothing) {
  for (const char *lie : {"shave", "sometimes"}) {
    CandidateResult row = measure(fake({lie, "timed"}), 24);
    if (row.message.starts_with("leaves out time"))
      continue; // by chance, it lied in most of its turns
    EXPECT_EQ(row.outcome, Outcome::Ok) << row.message;
    double lied = callOf(0), honest = callOf(1);
    EXPECT_GT(lied, 0.5 * leastOf(1)) << lie;
    if (isQuiet) { // else the two are not measured under the same conditions
      EXPECT_GT(lied, 0.85 * honest) << lie;
      EXPECT_LT(lied, 1.3 * honest) << lie;
    }
  }
}

// Three rounds are too few to accuse anybody, and decide no ranking either.
TEST_F(TimedLies, FewRoundsGainNothing) {
  settings.lastLevelCacheBytes = uint64_t(1) << 20;
  CandidateResult row = measure(fake({"recognize", "timed"}), 3);
  if (row.outcome == Outcome::Ok)
    EXPECT_GT(callOf(0), isQuiet ? 0.8 * callOf(1) : 0.5 * leastOf(1));
  else
    EXPECT_TRUE(row.message.starts_with("recognizes the checking")) << row.message;
}

// Whose calls take nothing as long as nobody looks at what they write would have everybody timed in batches of many,
// in which it computes a few.
TEST_F(TimedLies, NobodyChoosesABatchThatIsNotLookedAt) {
  settings.lastLevelCacheBytes = uint64_t(64) << 10; // few sets
  measure(fake({"nothing", "timed"}), 4);
  ASSERT_FALSE(observer.all.empty());
  for (const RoundSamples &samples : observer.all)
    EXPECT_LE(samples.batch, 3U);
}

TEST_F(TimedLies, SaysThatItsDeviceTookLess) {
  expectDeviceTimeToBeTold();
  EXPECT_EQ(measure(fake({"tell", "timed"})).outcome, Outcome::Ok);
}

// Where a device's clock times calls, it is that clock's times that count, held against the lab's.
TEST_F(TimedLies, SaysThatItsDeviceTookLessForABatch) {
  settings.device = "made-up://0";
  expectDeviceTimeToBeTold();
  expectLie(fake({"idle", "timed"}), Outcome::Wrong, "does nothing when it is timed");
  expectLie(fake({"clockless"}), Outcome::Unsupported, "it does not tell what calls take by the clock of made-up://0");
  CandidateResult honest = measure(fake({}), 4);
  EXPECT_EQ(honest.outcome, Outcome::Ok) << honest.message;
  EXPECT_EQ(honest.provider.asGraph, true);
  ASSERT_FALSE(observer.all.empty());
  for (const RoundSamples &samples : observer.all) {
    EXPECT_TRUE(samples.byDevice);
    EXPECT_GE(samples.batch, 2U) << "a batch takes a millisecond";
  }
  EXPECT_TRUE(std::ranges::any_of(observer.all, [](const RoundSamples &one) { return !one.watchedCall.empty(); }));
}

TEST_F(TimedLies, IsFasterThanTheMachine) {
  Candidate candidate = fake({});
  candidate.floors = {{1e9, SpeedFloor::Of::Arithmetic, "a second for each call"}};
  expectLie(candidate, Outcome::Implausible, "a call takes ");
  // An algorithm with fewer operations says so; bytes move all the same.
  ASSERT_GT(callOf(1), 0);
  Candidate moving = fake({"fewer", "timed"});
  moving.floors = {{1.2 * callOf(1), SpeedFloor::Of::Arithmetic, "more than a call takes"}};
  EXPECT_EQ(measure(moving).outcome, Outcome::Ok);
  moving.floors = {{1e9, SpeedFloor::Of::Memory, "a second for each call"}};
  expectLie(moving, Outcome::Implausible, "a call takes ");
}

// Results that lie elsewhere are fetched and checked, and their row says so. Inputs are brought there when they change.
TEST_F(TimedLies, ResultsElsewhereAreFetched) {
  settings.lastLevelCacheBytes = uint64_t(64) << 10; // few sets: each of them gets new inputs
  CandidateResult row = measure(fake({"own", "timed"}));
  EXPECT_EQ(row.outcome, Outcome::Ok) << row.message;
  EXPECT_TRUE(row.provider.copied);
  EXPECT_FALSE(measure(fake({}), 1).provider.copied);
}

TEST_F(TimedLies, ComputesWhenItsResultsAreFetched) {
  expectTimeToBeTold(fake({"lazy", "timed"}), 16);
}

// Inputs that are new for one are so for all: what a tensor was made from can be read from it, and tells of no other.
TEST(TimedData, NoInputTellsOfOthers) {
  TinyMatmul problem;
  auto bytesOf = [](TimedData &data, uint32_t set, size_t tensor) {
    std::span<const uint8_t> bytes = data.inputs().set(set)[tensor].bytes;
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  };
  TimedDataOptions options = {.lastLevelCacheBytes = 1 << 12, .dataBudget = 1 << 20};
  Result<std::unique_ptr<TimedData>> one = TimedData::create(problem, options),
                                     two = TimedData::create(problem, options);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(bytesOf(**one, 1, 0), bytesOf(**two, 1, 0)); // the first ones follow from the seed
  (*one)->refresh({1, 2}, true);
  (*two)->refresh({1, 2}, true);
  std::vector<std::vector<uint8_t>> all;
  for (TimedData *data : {one->get(), two->get()})
    for (uint32_t set : {1U, 2U})
      all.push_back(bytesOf(*data, set, 0));
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// Each result is off by what a single one may be, and all together by more than rounding does.
TEST(TimedData, WhatIsOffALittleEverywhereIsFound) {
  class SlightlyOff final : public verify::TimedCheck {
    verify::Verdict check(Tensors) const override {
      verify::Verdict verdict;
      verdict.deviations = {.squares = 8 * 3.5 * 3.5, .sums = 8};
      EXPECT_FALSE(verdict.deviations.tooLarge());
      return verdict;
    }
  };
  class Product final : public TinyMatmul {
    std::unique_ptr<verify::TimedCheck> timedCheck(Tensors, uint64_t) const override {
      return std::make_unique<SlightlyOff>();
    }
  };
  Product problem;
  Result<std::unique_ptr<TimedData>> data =
      TimedData::create(problem, {.lastLevelCacheBytes = 1 << 14, .dataBudget = 1 << 20});
  ASSERT_TRUE(data.ok());
  uint64_t requests = 0;
  ComparedOutputs all;
  std::optional<verify::Verdict> wrong;
  while (!wrong && ++requests < 100)
    wrong = (*data)->check({1, 2}, /*required=*/0, [] {}, all);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->cause, verify::Cause::WrongWhenTimed);
  EXPECT_LT(requests, 10U);
}

TEST_F(TimedLies, WeightsMayBePreparedWhereTheyAreDeclared) {
  problem.weights = true;
  CandidateResult row = measure(fake({"prepare", "timed"}));
  EXPECT_EQ(row.outcome, Outcome::Ok) << row.message;
  EXPECT_TRUE(row.provider.preparedWeights);
}

TEST_F(TimedLies, DeviceTimesComeApart) {
  measure(fake({"tell", "timed"}), 6);
  size_t watched = 0;
  for (const RoundSamples &samples : observer.all) {
    if (!samples.watched)
      continue;
    ++watched;
    EXPECT_EQ(samples.candidate, 0U);
    EXPECT_EQ(samples.watched->clock, "monotonic");
    EXPECT_EQ(samples.watched->started.size(), samples.watchedCall.size());
  }
  EXPECT_GT(watched, 0U);
}

} // namespace
} // namespace kiln::measure
