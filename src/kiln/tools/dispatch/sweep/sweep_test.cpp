// What a sweep stores of groups that it measured, with workers that are made up.
#include "kiln/tools/dispatch/sweep/sweep.h"

#include <algorithm>
#include <cstdio>
#include <regex>
#include <set>
#include <unistd.h>

#include "kiln/base/testing/test_folder.h"
#include "kiln/measure/machine/test_files.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/model/notes.h"
#include "kiln/report/model/table.h"
#include "kiln/tools/dispatch/sweep/sweep_teller.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

class Listener final : public SweepProgress {
public:
  void onGroup(size_t, const SweepGroup &) override {}
  void onRound(uint32_t, double) override {}
  void onOutcome(const SweepCandidate &, Outcome, std::string_view) override {}
  void onWarning(std::string_view text) override { warnings += std::string(text) + "\n"; }
  void onGroupDone(size_t, const SweepGroup &) override {}
  bool shouldContinue() override { return goesOn; }

  std::string warnings;
  bool goesOn = true;
};

class SweepTest : public ::testing::Test {
protected:
  void add(const std::string &name, const std::vector<std::string> &arguments) {
    SweepCandidate candidate;
    candidate.fact.problem = factOf(problem).key();
    candidate.fact.provider = name;
    candidate.worker.command = {KILN_FAKE_WORKER};
    candidate.worker.command.insert(candidate.worker.command.end(), arguments.begin(), arguments.end());
    group.candidates.push_back(std::move(candidate));
  }
  void run() {
    group.problem = &problem;
    std::vector<SweepGroup> groups = {group};
    Result<SweepSummary> summary = runSweep(groups, settings, folder.file("results.db"), progress);
    ASSERT_TRUE(summary.ok()) << summary.status().toString();
    Result<std::unique_ptr<store::Reader>> opened = store::Reader::open(folder.file("results.db"));
    ASSERT_TRUE(opened.ok());
    reader = *std::move(opened);
    failed = summary->failed;
    groupsOfRun = *reader->groups(summary->run);
    results = *reader->results(summary->run);
    estimates = *reader->estimates(summary->run);
  }
  std::vector<std::string> unfinishedOfAll() {
    report::Filter filter;
    filter.allRuns = true;
    Result<report::Table> table = report::loadTable(*reader, filter);
    return table.ok() ? table->unfinished : std::vector<std::string>{table.status().toString()};
  }
  template <typename Fact> const Fact *of(const std::vector<Fact> &facts, size_t candidate) const {
    for (const Fact &fact : facts)
      if (fact.candidate == group.candidates[candidate].fact.key())
        return &fact;
    return nullptr;
  }
  void SetUp() override {
    settings.group.cold = false;
    settings.group.warmUpNanoseconds = 1'000'000;
    settings.statistics.minimumRounds = settings.statistics.maximumRounds = 4;
  }

  measure::testing::TinyMatmul problem;
  SweepGroup group;
  SweepSettings settings;
  TestFolder folder;
  Listener progress;
  std::unique_ptr<store::Reader> reader;
  size_t failed = 0;
  std::vector<store::StoredGroup> groupsOfRun;
  std::vector<store::CandidateResult> results;
  std::vector<store::CandidateEstimate> estimates;
};

TEST_F(SweepTest, PartsOfCallsAreConcludedWhereTheyAreTold) {
  add("telling", {"tell", "always"});
  add("silent", {});
  run();
  const store::CandidateEstimate *telling = of(estimates, 0), *silent = of(estimates, 1);
  ASSERT_TRUE(telling && silent);
  ASSERT_TRUE(telling->deviceMedian && telling->launchMedian);
  EXPECT_GT(*telling->deviceMedian, 0); // it says that its device was at work all the time
  EXPECT_EQ(*telling->launchMedian, 0);
  EXPECT_FALSE(silent->deviceMedian);
  EXPECT_FALSE(silent->launchMedian);
}

// What cannot exceed the last-level cache, in as many sets as are possible, comes from it.
TEST_F(SweepTest, ColdThatIsNotIsCalledWarm) {
  add("one", {});
  settings.group.cold = true;
  settings.group.lastLevelCacheBytes = uint64_t(1) << 30;
  settings.group.dataBudget = uint64_t(1) << 20;
  run();
  ASSERT_EQ(groupsOfRun.size(), 1U);
  EXPECT_EQ(groupsOfRun[0].cacheMode, "warm");
  EXPECT_NE(progress.warnings.find("do not exceed the last-level cache twice: it was measured warm"), std::string::npos)
      << progress.warnings;
  group.candidates.clear();
  add("another", {});
  settings.group.lastLevelCacheBytes = uint64_t(64) << 10;
  run();
  EXPECT_EQ(groupsOfRun[0].cacheMode, "cold");
}

TEST_F(SweepTest, WhatWorkersSayOfThemselvesIsStored) {
  add("telling", {"tell", "always"});
  add("silent", {});
  add("nobody", {"exit", "hello"});
  add("nowhere", {});
  group.candidates.back().worker.command = {"/nowhere/worker"};
  run();
  const store::CandidateResult *telling = of(results, 0), *silent = of(results, 1);
  ASSERT_TRUE(telling && telling->worker && silent && silent->worker);
  EXPECT_EQ(telling->worker->name, "fake");
  EXPECT_EQ(telling->worker->version, "1");
  EXPECT_EQ(telling->worker->note, "made up for a test");
  EXPECT_GT(telling->worker->processes, 0U);
  EXPECT_GT(telling->worker->peakMemoryBytes, uint64_t(1) << 20);
  EXPECT_EQ(silent->worker->note, "");
  ASSERT_TRUE(of(results, 2) && of(results, 3));
  EXPECT_EQ(of(results, 2)->outcome, Outcome::Failed);
  EXPECT_FALSE(of(results, 3)->worker);
}

TEST_F(SweepTest, TimeThatIsUpIsToldAndStored) {
  add("one", {});
  settings.group.measureNanoseconds = 50'000'000;
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 1'000;
  run();
  ASSERT_EQ(groupsOfRun.size(), 1U);
  EXPECT_EQ(groupsOfRun[0].status, store::GroupStatus::Finished);
  ASSERT_TRUE(groupsOfRun[0].cutSeconds);
  EXPECT_NEAR(*groupsOfRun[0].cutSeconds, 0.05, 1e-9);
  EXPECT_NE(progress.warnings.find("time was up after 0.05 s of rounds"), std::string::npos) << progress.warnings;
}

// What has no time is not ok, and the sweep has not done what it was to do.
TEST_F(SweepTest, WithoutTimeForARowItIsNotProfiled) {
  add("one", {});
  add("two", {});
  settings.group.measureNanoseconds = 0;
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 1'000;
  run();
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(estimates.empty());
  EXPECT_EQ(failed, 2U);
  for (const store::CandidateResult &result : results) {
    EXPECT_EQ(result.outcome, Outcome::NotProfiled);
    EXPECT_FALSE(result.verification.method.empty()) << "it was verified before";
    EXPECT_NE(result.error.find("give more `--minutes`"), std::string::npos) << result.error;
    EXPECT_TRUE(result.error.starts_with("no round was finished in ") ||
                result.error.starts_with("1 round was finished in "))
        << result.error;
  }
}

// Tells the same at each reading, so that a round's state does not depend on how many readings fell into it.
class SteadyMonitor final : public hal::DeviceMonitor {
public:
  explicit SteadyMonitor(DeviceState state) : state(std::move(state)) {}
  Result<DeviceState> read() override { return state; }

private:
  const DeviceState state;
};

// The monitor is made up, and the worker's calls are on the CPU.
TEST_F(SweepTest, ClocksAndPowerOfADeviceStandWithItsRounds) {
  add("one", {});
  add("two", {});
  for (const DeviceState &told :
       {DeviceState{1755, 1980, 700, 61, "heat,power limit"}, DeviceState{1980, 1980, 700, 61, ""}}) {
    settings.monitor = std::make_shared<SteadyMonitor>(told);
    run();
    Result<report::Table> table = report::loadTable(*reader, {});
    ASSERT_TRUE(table.ok()) << table.status().message();
    ASSERT_EQ(table->rows.size(), 2U);
    for (const report::Row &row : table->rows) {
      ASSERT_TRUE(row.deviceStates);
      const store::DeviceStates &states = *row.deviceStates;
      EXPECT_EQ(states.rounds, row.estimate->rounds) << "each round has its own";
      EXPECT_EQ(states.state, told);
      EXPECT_EQ(states.moved, told.moved() ? 4U : 0U);
      EXPECT_EQ(std::get<int64_t>((*report::findColumn("moved_rounds"))->value(row)), int64_t(states.moved));
      Result<std::vector<store::Round>> rounds = reader->rounds(row.groupKey, row.candidateKey);
      ASSERT_TRUE(rounds.ok()) << rounds.status().message();
      EXPECT_EQ(rounds->size(), states.rounds);
      for (const store::Round &round : *rounds)
        EXPECT_EQ(round.device, told);
    }
    EXPECT_EQ(report::clockNote(report::byProblem(*table).front()),
              told.moved() ? "the device's clock moved in 8 of 8 turns, 1755 to 1980 MHz in all; it was held down by: "
                             "heat,power limit"
                           : "");
  }
}

// Without a library that tells, nothing is made up.
TEST_F(SweepTest, WhatNothingTellsOfADeviceIsAbsent) {
  add("one", {});
  run();
  Result<report::Table> table = report::loadTable(*reader, {});
  ASSERT_TRUE(table.ok() && table->rows.size() == 1) << table.status().message();
  EXPECT_FALSE(table->rows[0].deviceStates);
  EXPECT_EQ(report::clockNote(report::byProblem(*table).front()), "");
  for (const char *column : {"device_low_mhz", "device_high_mhz", "moved_rounds", "device_watts", "throttling"})
    EXPECT_TRUE(std::holds_alternative<std::monostate>((*report::findColumn(column))->value(table->rows[0]))) << column;
}

TEST_F(SweepTest, OfOneAloneNoRankIsToBeSettled) {
  add("one", {});
  settings.group.measureNanoseconds = 50'000'000;
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 1'000;
  run();
  EXPECT_EQ(progress.warnings.find("--minutes"), std::string::npos) << progress.warnings;
  add("two", {});
  run();
  EXPECT_NE(progress.warnings.find("give more `--minutes` to settle ranks"), std::string::npos) << progress.warnings;
}

// Since its group began: no further round, but those without which nothing can be said.
TEST_F(SweepTest, ABudgetEndsAGroup) {
  add("one", {});
  settings.group.groupNanoseconds = 1;
  settings.statistics.minimumRounds = settings.statistics.maximumRounds = 1'000;
  run();
  ASSERT_EQ(estimates.size(), 1U);
  EXPECT_EQ(estimates[0].rounds, 3U);
  ASSERT_TRUE(groupsOfRun[0].cutSeconds);
  EXPECT_LT(*groupsOfRun[0].cutSeconds, 10);
}

TEST_F(SweepTest, WithOtherTagsItIsAnotherRunAndThatIsTold) {
  add("one", {});
  settings.tags = {{"day", "monday"}};
  progress.goesOn = false;
  run();
  EXPECT_EQ(progress.warnings, "");
  settings.tags = {{"day", "tuesday"}};
  run();
  EXPECT_NE(
      progress.warnings.find("an unfinished run of the same sweep has other tags (day:monday): this is a new run; "
                             "give the same tags to go on with it"),
      std::string::npos)
      << progress.warnings;
  EXPECT_EQ(unfinishedOfAll().size(), 2U);
  // Once it was measured with any tags, there is nothing to go on with.
  progress.warnings.clear();
  progress.goesOn = true;
  run();
  EXPECT_EQ(unfinishedOfAll(), std::vector<std::string>());
  settings.tags = {{"day", "friday"}};
  run();
  EXPECT_EQ(progress.warnings.find("unfinished"), std::string::npos) << progress.warnings;
}

TEST_F(SweepTest, ResumingSaysWhatItGoesOnWith) {
  add("one", {});
  progress.goesOn = false;
  run();
  EXPECT_EQ(progress.warnings, "");
  progress.goesOn = true;
  run();
  EXPECT_TRUE(progress.warnings.starts_with("goes on with run ")) << progress.warnings;
  EXPECT_NE(progress.warnings.find(", which has finished 0 of 1 problem\n"), std::string::npos) << progress.warnings;
}

TEST(SweepTeller, TellsTheTimeThatIsLeftOfRoundsAndMinutes) {
  SweepSettings settings;
  settings.statistics.maximumRounds = 100;
  settings.group.measureNanoseconds = uint64_t(60) * 1'000'000'000;
  EXPECT_DOUBLE_EQ(mostSeconds(9, 1, settings), 10) << "all rounds";
  EXPECT_DOUBLE_EQ(mostSeconds(0, 10, settings), 60) << "1000 s of rounds, and a minute for them";
  EXPECT_DOUBLE_EQ(mostSeconds(0, 70, settings), 70) << "a round that has begun is brought to its end";
}

// Into a file there is a line now and then, and not for each round.
TEST(SweepTeller, TellsHowFarItIsWithoutATerminal) {
  SweepSettings settings;
  for (auto [silence, lines] :
       {std::pair(std::chrono::nanoseconds(0), 2), std::pair(std::chrono::nanoseconds(1h), 0)}) {
    ::testing::internal::CaptureStderr();
    SweepTeller teller(3, settings, silence);
    teller.onRound(0, 1);
    teller.onRound(1, 2);
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(text, '\n'), lines) << text;
    EXPECT_EQ(text.find('\r'), text.npos) << text;
    EXPECT_EQ(text.find("  0 of 3 done, round 1 of at most 100, 1 s, at most") == 0, lines > 0) << text;
  }
}

TEST(StillAlive, SaysSoWhileItLives) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE *lines = ::fdopen(ends[1], "w");
  ASSERT_NE(lines, nullptr);
  std::string text;
  {
    StillAlive alive("compiling", 20ms, lines);
    for (char letter = 0; letter != '\n' && ::read(ends[0], &letter, 1) == 1;)
      text += letter;
  }
  std::fclose(lines);
  ::close(ends[0]);
  EXPECT_TRUE(std::regex_match(text, std::regex("  still compiling, [0-9]+ s\n"))) << text;
}

TEST(SweepTeller, TellsTheCause) {
  EXPECT_EQ(toldCause("pass 'ones': wrong element: 3 of 4"), "wrong element: 3 of 4");
  EXPECT_EQ(toldCause("it ended by itself"), "it ended by itself");
  EXPECT_EQ(toldCause("it does not compile: /a/long/path/x.mlir:3:5: error: expected ')'\n  line\n  ^"),
            "x.mlir:3:5: error: expected ')'");
  EXPECT_EQ(toldCause("it does not compile: \nwarning: w\n/a/x.mlir:1:1: error: no\n"), "x.mlir:1:1: error: no");
  EXPECT_EQ(toldCause("it does not compile: kiln-compile was ended by this program"),
            "kiln-compile was ended by this program");
}

// On another node a sweep is another run, unless the node is equal and it was told to go on.
TEST_F(SweepTest, ARunIsResumedOnAnEqualNodeWhereToldSo) {
  measure::FakeRoot first, second, other;
  for (const measure::FakeRoot *root : {&first, &second, &other})
    root->write("/proc/cpuinfo", root == &other ? "model name\t: Slow CPU" : "model name\t: Fast CPU");
  first.write("/proc/sys/kernel/hostname", "first");
  second.write("/proc/sys/kernel/hostname", "second");
  other.write("/proc/sys/kernel/hostname", "other");
  add("plain", {});
  settings.system = measure::SystemFiles(first.path);
  progress.goesOn = false;
  ASSERT_NO_FATAL_FAILURE(run());
  auto runCount = [&] { return reader->runs()->size(); };
  EXPECT_EQ(runCount(), 1U);
  settings.system = measure::SystemFiles(second.path);
  ASSERT_NO_FATAL_FAILURE(run());
  EXPECT_EQ(runCount(), 2U) << "equal nodes are not one node";
  EXPECT_NE(progress.warnings.find("--resume-on-equal-hardware"), std::string::npos) << progress.warnings;
  settings.resumeOn = store::ResumeOn::EqualHardware;
  settings.system = measure::SystemFiles(other.path);
  ASSERT_NO_FATAL_FAILURE(run());
  EXPECT_EQ(runCount(), 3U) << "other hardware measures other times";
  progress.goesOn = true;
  settings.system = measure::SystemFiles(first.path);
  ASSERT_NO_FATAL_FAILURE(run());
  EXPECT_EQ(runCount(), 3U);
  ASSERT_EQ(groupsOfRun.size(), 2U);
  EXPECT_EQ(groupsOfRun[1].status, store::GroupStatus::Finished);
  ASSERT_TRUE(groupsOfRun[0].machine && groupsOfRun[1].machine);
  EXPECT_NE(groupsOfRun[0].machine->node, groupsOfRun[1].machine->node) << "each group knows where it was measured";
  EXPECT_EQ(groupsOfRun[0].machine->hardware, groupsOfRun[1].machine->hardware);
}

// Inputs that a provider could know from an earlier run are none; whose seed is given gets that one.
TEST_F(SweepTest, ASeedIsDrawnUnlessItIsGiven) {
  settings.resume = false;
  settings.profile = false;
  add("plain", {});
  run();
  run();
  settings.group.seed = 7;
  run();
  std::set<uint64_t> seeds;
  const std::vector<store::StoredRun> runs = *reader->runs();
  for (const store::StoredRun &stored : runs)
    seeds.insert(stored.seed);
  EXPECT_EQ(seeds.size(), 3U);
  EXPECT_TRUE(seeds.contains(7));
  EXPECT_FALSE(seeds.contains(0));
}

TEST_F(SweepTest, WhoHadEnoughWasNotCut) {
  add("one", {});
  run();
  ASSERT_EQ(groupsOfRun.size(), 1U);
  EXPECT_FALSE(groupsOfRun[0].cutSeconds);
  EXPECT_EQ(progress.warnings.find("time was up"), std::string::npos) << progress.warnings;
}

} // namespace
} // namespace kiln
