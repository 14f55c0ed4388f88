#include "kiln/measure/workers/group.h"

#include <filesystem>
#include <set>
#include <sstream>
#include <sys/wait.h>

#include "kiln/base/sanitized.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

using testing::FixedRounds;
using testing::TinyMatmul;

Candidate fake(std::vector<std::string> arguments) {
  Candidate candidate;
  candidate.command = {KILN_FAKE_WORKER};
  candidate.command.insert(candidate.command.end(), arguments.begin(), arguments.end());
  return candidate;
}

GroupSettings quick() {
  GroupSettings settings;
  settings.cold = false;
  settings.warmUpNanoseconds = 1'000'000;
  return settings;
}

class Recorder final : public GroupObserver {
public:
  Status onRound(const RoundSamples &samples) override {
    events.push_back(fmt::format("{} round {}", samples.candidate, samples.round));
    return events.size() == failAt ? dataLoss("the disk is full") : okStatus();
  }
  Status onOutcome(uint32_t candidate, Outcome outcome, std::string_view message) override {
    events.push_back(fmt::format("{} {}", candidate, outcomeName(outcome)));
    return okStatus();
  }
  bool shouldContinue() override { return (problem ? problem->checkedPasses.size() : 0) + events.size() < stopAt; }

  const TinyMatmul *problem = nullptr; // whose checks count as events, too
  std::vector<std::string> events;
  size_t failAt = 0, stopAt = SIZE_MAX;
};

class GroupTest : public ::testing::Test {
protected:
  void SetUp() override { filesBefore = countFiles(); }
  void TearDown() override {
    EXPECT_EQ(countFiles(), filesBefore);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  }
  static std::ptrdiff_t countFiles() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  }

  Result<GroupResult> run(const std::vector<Candidate> &candidates, uint32_t rounds = 2) {
    scheduler = std::make_unique<FixedRounds>(uint32_t(candidates.size()), rounds);
    return runGroup(problem, candidates, settings, *scheduler, recorder);
  }
  // One candidate that is to fail beside one that behaves.
  CandidateResult runBesideGood(const Candidate &bad) {
    Result<GroupResult> result = run({bad, fake({})});
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok())
      return {};
    EXPECT_EQ(result->candidates[1].outcome, Outcome::Ok) << result->candidates[1].message;
    EXPECT_EQ(result->candidates[1].rounds, 2U);
    return result->candidates[0];
  }

  TinyMatmul problem;
  GroupSettings settings = quick();
  Recorder recorder;
  std::unique_ptr<FixedRounds> scheduler;
  std::ptrdiff_t filesBefore = 0;
};

TEST_F(GroupTest, VerifiesAllThenTimesInRounds) {
  settings.warmUpNanoseconds = 20'000'000; // what a call takes is known from it, on a busy machine, too
  Result<GroupResult> result = run({fake({}), fake({})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(recorder.events,
            (std::vector<std::string>{"0 round 0", "1 round 0", "0 round 1", "1 round 1", "0 ok", "1 ok"}));
  ASSERT_GE(problem.checkedPasses.size(), 4U);
  EXPECT_EQ(std::vector(problem.checkedPasses.begin(), problem.checkedPasses.begin() + 4),
            (std::vector<size_t>{0, 0, 1, 1}));
  EXPECT_EQ(result->candidates[0].provider.name, "fake");
  EXPECT_EQ(result->candidates[0].verdicts.size(), 2U);
  EXPECT_GT(result->candidates[0].peakMemoryBytes, 0U);
  EXPECT_GT(result->timedNanoseconds, 30'000'000U);
  EXPECT_GT(result->batch, 1U); // a call takes far less than 20 us
  ASSERT_EQ(scheduler->added.size(), 4U);
  const RoundSamples &samples = scheduler->added[0];
  EXPECT_GT(samples.batch, 1U); // planned anew in each of the first rounds
  int64_t sum = 0;
  for (int64_t sample : samples.call)
    sum += sample;
  EXPECT_GT(sum, 1'000'000);
  // One at a time.
  EXPECT_GE(scheduler->added[1].started, samples.started + uint64_t(sum));
}

// What a candidate asks for comes before what the group gives; there must be processors for it.
TEST_F(GroupTest, CandidatesMayHaveThreadsOfTheirOwn) {
  Candidate own = fake({});
  own.threads = 1;
  settings.threads = 3;
  CandidateResult single = runBesideGood(own);
  EXPECT_EQ(single.outcome, Outcome::Ok);
  EXPECT_EQ(single.provider.version, "1"); // the fake tells how many it was given
  EXPECT_EQ(runBesideGood(fake({})).provider.version, "3");
  own.threads = 1'000'000;
  CandidateResult greedy = runBesideGood(own);
  EXPECT_EQ(greedy.outcome, Outcome::NotStarted);
  EXPECT_NE(greedy.message.find("it asks for 1000000 threads"), std::string::npos) << greedy.message;
}

TEST_F(GroupTest, WrongResultsAreNotTimed) {
  CandidateResult wrong = runBesideGood(fake({"wrong", "run"}));
  EXPECT_EQ(wrong.outcome, Outcome::Wrong);
  EXPECT_EQ(wrong.rounds, 0U);
  EXPECT_NE(wrong.message.find("pass 'small integers'"), std::string::npos) << wrong.message;
  EXPECT_NE(wrong.message.find("element (0, 1, 1)"), std::string::npos) << wrong.message;
  EXPECT_FALSE(wrong.verdicts.back().ok());
}

TEST_F(GroupTest, OutputsThatNobodyWritesAreWrong) {
  EXPECT_EQ(runBesideGood(fake({"idle", "run", "1"})).outcome, Outcome::Wrong);
  EXPECT_EQ(runBesideGood(fake({"idle", "run", "2"})).outcome, Outcome::Wrong);
}

TEST_F(GroupTest, AddingToOutputsIsWrong) {
  EXPECT_EQ(runBesideGood(fake({"add", "run", "1"})).outcome, Outcome::Wrong);
  EXPECT_EQ(runBesideGood(fake({"add", "run", "2"})).outcome, Outcome::Wrong);
}

TEST_F(GroupTest, WrongAfterwardsIsWrong) {
  CandidateResult wrong = runBesideGood(fake({"wrong", "rerun"}));
  EXPECT_EQ(wrong.outcome, Outcome::Wrong);
  EXPECT_EQ(wrong.rounds, 0U); // that turn counts for nothing
  EXPECT_NE(wrong.message.find("wrong afterwards"), std::string::npos) << wrong.message;
}

// How processes of one program differ shows only where there are several; who starts slowly is not started so often.
TEST_F(GroupTest, ATurnIsAProcessWhereStartingIsCheap) {
  auto measure = [&] { return run({fake({}), fake({"", "", "1", "slow"})}, 6); };
  Result<GroupResult> result = measure();
  ASSERT_TRUE(result.ok()) << result.status().message();
  // On a busy machine even a cheap start may once be slow.
  for (int more = 0; more < 4 && result->candidates[0].workers == 1; ++more) {
    result = measure();
    ASSERT_TRUE(result.ok()) << result.status().message();
  }
  EXPECT_EQ(result->candidates[0].rounds, 6U);
  EXPECT_GT(result->candidates[0].workers, 1U);
  EXPECT_EQ(result->candidates[1].rounds, 6U);
  EXPECT_EQ(result->candidates[1].workers, 1U);
  EXPECT_GE(result->turnNanoseconds, settings.roundNanoseconds);
  EXPECT_LE(result->turnNanoseconds, 100'000'000U);
}

// More than are verified at a time.
TEST_F(GroupTest, ManyTakePart) {
  Result<GroupResult> result = run(std::vector<Candidate>(35, fake({})), 1);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const CandidateResult &row : result->candidates) {
    EXPECT_EQ(row.outcome, Outcome::Ok) << row.message;
    EXPECT_EQ(row.verdicts.size(), 2U);
    EXPECT_EQ(row.rounds, 1U);
  }
}

TEST_F(GroupTest, WritingToInputsIsACrash) {
  EXPECT_EQ(runBesideGood(fake({"scribble", "load"})).outcome, Outcome::Crashed);
}

TEST_F(GroupTest, FailuresAnywhereCostTheirRowOnly) {
  settings.callTimeout = 5'000'000'000; // which two of them use up, and others must not on a busy machine
  struct {
    std::vector<std::string> arguments;
    Outcome outcome;
  } cases[] = {
      {{"crash", "hello"}, Outcome::Crashed},
      {{"unsupported", "load"}, Outcome::Unsupported},
      {{"refuse", "load"}, Outcome::Failed},
      {{"exit", "run"}, Outcome::Exited},
      {{"hang", "run", "2"}, Outcome::TimedOut},
      {{"rubbish", "time"}, Outcome::Rubbish},
      {{"crash", "time", "3", "slow"}, Outcome::Crashed},
      {{"hang", "time", "2"}, Outcome::TimedOut},
      {{"twice", "time"}, Outcome::Rubbish},
      {{"lie", "time", "2"}, Outcome::Rubbish},
      {{"wrap", "always"}, Outcome::Rubbish},
      {{"zero", "time", "2"}, Outcome::Rubbish},
      {{"batch", "time", "1"}, Outcome::Rubbish},
      {{"fewersamples", "time", "1"}, Outcome::Rubbish},
      {{"crash", "rerun"}, Outcome::Crashed},
  };
  std::vector<Candidate> candidates = {fake({})};
  for (const auto &entry : cases)
    candidates.push_back(fake(entry.arguments));
  candidates.push_back({{"/nowhere/worker"}, "", "", 0, {}});
  candidates.push_back(fake({}));
  Result<GroupResult> result = run(candidates);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t i = 0; i < std::size(cases); ++i) {
    const CandidateResult &row = result->candidates[i + 1];
    ASSERT_TRUE(row.outcome);
    EXPECT_EQ(*row.outcome, cases[i].outcome)
        << cases[i].arguments[0] << " " << cases[i].arguments[1] << ": " << row.message;
    EXPECT_EQ(row.rounds, 0U) << cases[i].arguments[0] << ": " << row.message;
    EXPECT_FALSE(row.message.empty());
  }
  EXPECT_EQ(result->candidates[std::size(cases) + 1].outcome, Outcome::NotStarted);
  for (size_t good : {size_t(0), candidates.size() - 1}) {
    EXPECT_EQ(result->candidates[good].outcome, Outcome::Ok) << result->candidates[good].message;
    EXPECT_EQ(result->candidates[good].rounds, 2U);
  }
}

// Memory comes slowly on a busy machine: the limit on time must not be the first.
TEST_F(GroupTest, EatingMemoryCostsTheRowOnly) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
  settings.callTimeout = 60'000'000'000;
  settings.memoryLimit = uint64_t(64) << 20;
  EXPECT_EQ(runBesideGood(fake({"grow", "run"})).outcome, Outcome::MemoryLimit);
}

// A row that says what its worker claimed.
TEST_F(GroupTest, ImpossibleTimesAreTold) {
  std::string message = runBesideGood(fake({"wrap", "always"})).message;
  EXPECT_NE(message.find(" took 9223372036854775807 ns; it had "), std::string::npos) << message;
  EXPECT_NE(message.find("sample 1 of "), std::string::npos) << message;
}

TEST_F(GroupTest, ImpossibleCountsAreTold) {
  CandidateResult row = runBesideGood(fake({"count", "always"}));
  EXPECT_EQ(row.outcome, Outcome::Rubbish);
  EXPECT_NE(row.message.find("the worker says that it counted 1000000000000 instructions"), std::string::npos)
      << row.message;
}

// A worker that tells by itself where it could compute while others were verified or had their turns, or while the lab
// was making new inputs for it and looking at its results.
TEST_F(GroupTest, NobodyComputesAhead) {
  Result<GroupResult> result = run({fake({"sneak", "always", "1", "slow"}), fake({"late", "hello", "1", "slow"})}, 4);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->candidates[0].outcome, Outcome::Ok) << result->candidates[0].message;
  EXPECT_EQ(result->candidates[0].rounds, 4U);
  EXPECT_LT(result->candidates[0].workers, 3U); // it lives for several turns
  EXPECT_EQ(result->candidates[1].outcome, Outcome::Ok) << result->candidates[1].message;
  settings.cold = true;
  settings.lastLevelCacheBytes = uint64_t(32) << 20;
  problem.checksTimed = true;
  problem.m = problem.n = 400; // 0.7 MB a set
  CandidateResult alone = runBesideGood(fake({"sneak", "always"}));
  EXPECT_EQ(alone.outcome, Outcome::Ok) << alone.message;
}

// It lives for several turns, runs although it is stopped, and writes into the results of others.
TEST_F(GroupTest, WhoSpoilsOthersResultsIsGone) {
  problem.checksTimed = true;
  settings.cold = true;
  Result<GroupResult> result = run({fake({"wreck", "load", "1", "slow"}), fake({})}, 6);
  ASSERT_TRUE(result.ok()) << result.status().message();
  // Its own results may be found spoiled first.
  const CandidateResult &gone = result->candidates[0];
  const std::string_view reason =
      gone.outcome == Outcome::Wrong ? "wrong when it is timed" : "runs while it is stopped";
  EXPECT_TRUE(gone.outcome == Outcome::Wrong || gone.outcome == Outcome::Rubbish);
  EXPECT_NE(gone.message.find(reason), std::string::npos) << gone.message;
  EXPECT_EQ(result->candidates[1].outcome, Outcome::Ok) << result->candidates[1].message;
  EXPECT_EQ(result->candidates[1].rounds, 6U);
}

TEST_F(GroupTest, NobodyKeepsOthersFromTheirOutputs) {
  CandidateResult sealed = runBesideGood(fake({"seal", "load"}));
  EXPECT_EQ(sealed.outcome, Outcome::Ok) << sealed.message;
}

TEST_F(GroupTest, NobodyLeftIsAResult) {
  Result<GroupResult> result = run({fake({"crash", "run"})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->candidates[0].outcome, Outcome::Crashed);
}

TEST_F(GroupTest, ColdSetsTakeTurnsAcrossCandidates) {
  settings.cold = true;
  settings.lastLevelCacheBytes = 64 << 10;
  Result<GroupResult> result = run({fake({"crash", "time", "5", "slow"}), fake({})}, 4);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_GT(result->sets.timingSets, 100U);
  EXPECT_TRUE(result->sets.exceedsCache);
  // The one that crashes has written where it was to start each time: where the other had stopped.
  std::set<std::string> starts;
  std::istringstream lines(result->candidates[0].message);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("start "))
      starts.insert(line);
  EXPECT_GT(starts.size(), 1U) << result->candidates[0].message;
}

TEST_F(GroupTest, AnObserverThatFailsEndsTheGroup) {
  recorder.failAt = 2;
  Result<GroupResult> result = run({fake({}), fake({})});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "the disk is full");
}

TEST_F(GroupTest, InterruptedWhileVerifyingAndWhileMeasuring) {
  for (size_t stop : {1, 5}) {
    recorder.events.clear();
    recorder.problem = &problem;
    problem.checkedPasses.clear();
    recorder.stopAt = stop;
    Result<GroupResult> result = run({fake({}), fake({})});
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->interrupted);
    EXPECT_FALSE(result->candidates[0].outcome);
    EXPECT_LE(recorder.events.size(), stop + 1);
  }
}

TEST_F(GroupTest, TimeIsCapped) {
  settings.measureNanoseconds = 50'000'000;
  Result<GroupResult> result = run({fake({})}, 1'000'000);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->stoppedByTime);
  EXPECT_LT(result->timedNanoseconds, 1'000'000'000U);
  // Whoever has had enough was not stopped, however long it took.
  settings.measureNanoseconds = 1;
  result = run({fake({})}, 0);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_FALSE(result->stoppedByTime);
}

class DeviceGroupTest : public GroupTest {
protected:
  void SetUp() override {
    GroupTest::SetUp();
    settings.device = "cuda://0";
  }
  // Of one of the lab's own workers, whose answers to `verify` are as the fake is told.
  CandidateResult ownWorker(const std::string &how) {
    Candidate candidate = fake({how, "always"});
    candidate.isOwn = true;
    return result(candidate);
  }
  CandidateResult result(const Candidate &candidate) {
    Result<GroupResult> result = run({candidate});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? result->candidates[0] : CandidateResult();
  }
};

// What a device checked the host does not, and what the host checks is said.
TEST_F(DeviceGroupTest, PassesAreCheckedOnTheDeviceOrOnTheHost) {
  CandidateResult right = ownWorker("checkright");
  ASSERT_EQ(right.outcome, Outcome::Ok) << right.message;
  ASSERT_EQ(right.verdicts.size(), 2U);
  EXPECT_EQ(right.verdicts[0].method,
            "each row; made and checked on the device, where a planted wrong element was found");
  EXPECT_EQ(right.verdicts[1].method, "each element; made and checked on the host: the host counts better");
  EXPECT_TRUE(std::ranges::find(problem.checkedPasses, 0U) == problem.checkedPasses.end());

  CandidateResult unknown = ownWorker("checkunknown");
  EXPECT_EQ(unknown.outcome, Outcome::Ok) << unknown.message;
  EXPECT_EQ(unknown.verdicts.at(0).method,
            "each element; made and checked on the host: this device has no kernels for it");
}

// The word of a program that is not the lab's own is not taken.
TEST_F(DeviceGroupTest, OthersAreCheckedOnTheHost) {
  CandidateResult other = result(fake({"checkright", "always"}));
  EXPECT_EQ(other.outcome, Outcome::Ok) << other.message;
  EXPECT_EQ(other.verdicts.at(0).method,
            "each element; made and checked on the host: its worker does not check on the device");
}

TEST_F(DeviceGroupTest, ACheckThatFailsIsNoPass) {
  CandidateResult lost = ownWorker("checklost");
  EXPECT_EQ(lost.outcome, Outcome::Failed);
  EXPECT_EQ(lost.message, "the device is lost");
  EXPECT_EQ(ownWorker("checksilent").outcome, Outcome::Rubbish);
  // Of what is wrong the host says how; where it sees nothing, it is wrong still.
  CandidateResult wrong = ownWorker("checkwrong");
  EXPECT_EQ(wrong.outcome, Outcome::Wrong);
  EXPECT_NE(wrong.message.find("element (0, 0, "), std::string::npos) << wrong.message;
  EXPECT_EQ(wrong.verdicts.at(0).method, "each element; made and checked on the device, and explained on the host");
  CandidateResult differs = ownWorker("checkdiffers");
  EXPECT_EQ(differs.outcome, Outcome::Wrong);
  EXPECT_NE(differs.message.find("the device's check finds 3 wrong rows, and the host's none"), std::string::npos)
      << differs.message;
}

TEST_F(GroupTest, SettingsAreChecked) {
  settings.roundNanoseconds = 1'000;
  EXPECT_FALSE(run({fake({})}).ok());
  settings = quick();
  settings.threads = 0;
  EXPECT_FALSE(run({fake({})}).ok());
  settings = quick();
  EXPECT_TRUE(run({}).ok());
}

} // namespace
} // namespace kiln::measure
