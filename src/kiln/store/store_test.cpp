#include "kiln/base/testing/test_folder.h"
#include "kiln/store/reader.h"
#include "kiln/store/testing/expectations.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/writer.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kiln::store {
namespace {

using namespace testing;

class Store : public ::testing::Test {
protected:
  std::unique_ptr<Writer> writer() { return valueOf(Writer::open(path, {})); }
  std::unique_ptr<Reader> reader() { return valueOf(Reader::open(path)); }

  // A store with a run, a problem with two candidates, and a group that was started.
  std::unique_ptr<Writer> begin() {
    std::unique_ptr<Writer> result = writer();
    EXPECT_TRUE(result->addMachine(sampleMachine()).ok());
    EXPECT_TRUE(result->addRun(run).ok());
    EXPECT_TRUE(result->addProblem(problem).ok());
    EXPECT_TRUE(result->addCandidates(std::vector{kiln}).ok());
    EXPECT_TRUE(result->addCandidates(std::vector{onednn}).ok());
    EXPECT_TRUE(result->startGroup(group).ok());
    return result;
  }
  Round round(uint64_t index) const {
    return {group.key(), kiln.key(), index, 5, 0.25, 3100.5, 2, "cold", {{10, 12, 11}, {9, 11, 10}, {1, 1, 1}}};
  }
  CandidateEstimate estimate(const Candidate &candidate) const {
    CandidateEstimate e{{}, group.key(), candidate.key()};
    e.median = 62100.25;
    e.p10 = 62000;
    e.p90 = 63000;
    e.low = 62050;
    e.high = 62150;
    e.rounds = 7;
    e.samples = 140;
    e.rank = 1;
    return e;
  }
  CandidateResult result(const Candidate &candidate) const { return {group.key(), candidate.key()}; }

  TestFolder folder;
  std::string path = folder.file("generated/results.db");
  store::Run run = sampleRun(1000);
  Problem problem = sampleProblem(256, 512, 128);
  Candidate kiln = sampleCandidate(problem.key(), "kiln", "tile_config_96x128_256x1_fma_12x32_packb");
  Candidate onednn = sampleCandidate(problem.key(), "onednn", "");
  Group group{run.key(), problem.key(), 2000};
};

TEST_F(Store, FactsComeBackAsTheyWere) {
  std::unique_ptr<Writer> w = begin();
  CandidateResult incorrect = result(kiln);
  incorrect.outcome = Outcome::Wrong;
  incorrect.verification = {"exact", "dropped tail", "the last 3 columns\nare 0", 1e-30, R"({"wrong":3})"};
  incorrect.compileMilliseconds = 31.5;
  CandidateResult unsupported = result(onednn);
  unsupported.outcome = Outcome::Unsupported;
  unsupported.error = "no f16 on this CPU: \xC3\xA9, 'quoted'";
  CandidateEstimate e = estimate(kiln);
  e.deviceMedian = 62000.5;
  e.ties = {onednn.key()};
  e.ratio = 1.25;
  e.dropped = true;
  Round bare{group.key(), onednn.key(), 1, 6, 0, {}, 1, "warm", {{7}, {}, {}}};
  ASSERT_OK(w->addRounds(std::vector{round(0), bare}));
  incorrect.worker = WorkerFacts{"kiln", "0.2", "local-sync", 7, uint64_t(5) << 32};
  ASSERT_OK(w->addResult(unsupported));
  ASSERT_OK(w->finishGroup(group.key(), std::vector{incorrect}, std::vector{e}));
  ASSERT_OK(w->addCalibration({run.machine.hardware, run.machine.allocation, 5, R"({"gb_per_s":20})"}));
  ASSERT_OK(w->addCalibration({run.machine.hardware, run.machine.allocation, 9, R"({"gb_per_s":21})"}));

  std::unique_ptr<Reader> r = reader();
  std::vector<StoredRun> runs = valueOf(r->runs());
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].key(), run.key());
  EXPECT_EQ(runs[0].commandLine, run.commandLine);
  EXPECT_EQ(runs[0].seed, run.seed);
  EXPECT_EQ(runs[0].tags, run.tags);
  EXPECT_EQ(runs[0].flags, run.flags);
  EXPECT_FALSE(runs[0].ended);
  EXPECT_EQ(valueOf(r->machine(run.machine)).node, sampleMachine().node);
  EXPECT_EQ(valueOf(r->machine(run.machine)).hardware, sampleMachine().hardware);
  EXPECT_EQ(valueOf(r->machine(run.machine)).allocation, sampleMachine().allocation);
  EXPECT_EQ(valueOf(r->calibration(run.machine, 9)).taken, 9);
  EXPECT_EQ(valueOf(r->calibration(run.machine, 8)).taken, 5);
  EXPECT_EQ(r->calibration(run.machine, 4).status().code(), StatusCode::NotFound);
  std::vector<Problem> problems = valueOf(r->problems(run.key()));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].fields, problem.fields);
  EXPECT_EQ(problems[0].flops, problem.flops);
  auto candidates = valueOf(r->candidates(run.key()));
  ASSERT_EQ(candidates.size(), 2U);
  for (const auto &[key, candidate] : candidates)
    EXPECT_EQ(key, candidate.key());
  std::vector<CandidateResult> results = valueOf(r->results(run.key()));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE((results[0] == incorrect && results[1] == unsupported) ||
              (results[1] == incorrect && results[0] == unsupported));
  std::vector<CandidateEstimate> estimates = valueOf(r->estimates(run.key()));
  ASSERT_EQ(estimates.size(), 1U);
  EXPECT_EQ(estimates[0], e);
  std::vector<Round> rounds = valueOf(r->rounds(group.key()));
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0], round(0));
  EXPECT_EQ(rounds[1], bare);
  EXPECT_EQ(valueOf(r->rounds(group.key(), onednn.key())).size(), 1U);
  EXPECT_TRUE(r->check().ok());
}

TEST_F(Store, GroupsThatTimeCutShort) {
  std::unique_ptr<Writer> w = begin();
  ASSERT_OK(w->finishGroup(group.key(), std::vector{result(kiln)}, std::vector{estimate(kiln)}, 600));
  Group whole{run.key(), problem.key(), group.started + 1};
  ASSERT_OK(w->startGroup(whole));
  ASSERT_OK(w->finishGroup(whole.key(), std::vector{CandidateResult{whole.key(), kiln.key()}}, {}));
  std::vector<StoredGroup> groups = valueOf(reader()->groups(run.key()));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].cutSeconds, 600);
  EXPECT_EQ(groups[0].status, GroupStatus::Finished);
  EXPECT_FALSE(groups[1].cutSeconds);
}

TEST_F(Store, CountersOfRounds) {
  std::unique_ptr<Writer> w = begin();
  Round counted = round(0), partly = round(1);
  counted.counters = {{1000, 2500, 3}, 6};
  partly.counters = {{1200, std::nullopt, 0}, 6};
  Round bare{group.key(), onednn.key(), 0, 6, 0, {}, 1, "warm", {{7}, {}, {}}};
  bare.counters.calls = 1; // and nothing was counted
  ASSERT_OK(w->addRounds(std::vector{counted, partly, bare}));
  std::unique_ptr<Reader> r = reader();
  std::vector<Round> rounds = valueOf(r->rounds(group.key(), kiln.key()));
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_EQ(rounds[0], counted);
  EXPECT_EQ(rounds[1], partly);
  EXPECT_EQ(valueOf(r->rounds(group.key(), onednn.key()))[0].counters, Counters());
  // Sums over rounds, of what all of them have.
  std::vector<CountedCalls> sums = valueOf(r->counters(run.key()));
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].candidate, kiln.key());
  EXPECT_EQ(sums[0].counters, (Counters{{2200, std::nullopt, 3}, 12}));
  EXPECT_TRUE(valueOf(r->counters("another")).empty());
  // A fact is never changed.
  counted.counters.cycles = 1;
  EXPECT_EQ(w->addRounds(std::vector{counted}).code(), StatusCode::AlreadyExists);
}

TEST_F(Store, DeviceStatesOfRounds) {
  std::unique_ptr<Writer> w = begin();
  Round steady = round(0), moving = round(1);
  steady.device = {1980, 1980, 650.5, 60, ""};
  moving.device = {1755, 1965, std::nullopt, 62, "heat,power limit"};
  Round bare{group.key(), onednn.key(), 0, 6, 0, {}, 1, "warm", {{7}, {}, {}}};
  ASSERT_OK(w->addRounds(std::vector{steady, moving, bare}));
  std::unique_ptr<Reader> r = reader();
  EXPECT_EQ(valueOf(r->rounds(group.key(), kiln.key())), (std::vector{steady, moving}));
  EXPECT_EQ(valueOf(r->rounds(group.key(), onednn.key()))[0].device, DeviceState());
  std::vector<DeviceStates> states = valueOf(r->deviceStates(run.key()));
  ASSERT_EQ(states.size(), 1U) << "a candidate of which nothing was told has none";
  EXPECT_EQ(states[0].candidate, kiln.key());
  EXPECT_EQ(states[0].state, (DeviceState{1755, 1980, 650.5, 62, "heat,power limit"}));
  EXPECT_EQ(states[0].rounds, 2U);
  EXPECT_EQ(states[0].moved, 1U);
  EXPECT_TRUE(valueOf(r->deviceStates("another")).empty());
}

TEST_F(Store, KeysTellContentsApart) {
  EXPECT_NE(contentKey({"ab", "c"}), contentKey({"a", "bc"}));
  EXPECT_NE(contentKey({"a"}), contentKey({"a", ""}));
  EXPECT_EQ(contentKey({"a", "b"}).size(), 32U);
  // Stored keys must not change with the code.
  EXPECT_EQ(contentKey({"node", "{}"}), "9028234545c86ff5638af04bd8f6ec20");
  Candidate other = kiln;
  other.variant = "x";
  EXPECT_NE(other.key(), kiln.key());
}

TEST_F(Store, AFactIsAddedOnceAndNeverChanged) {
  std::unique_ptr<Writer> w = begin();
  ASSERT_OK(w->addProblem(problem));
  ASSERT_OK(w->addRun(run));
  ASSERT_OK(w->addRounds(std::vector{round(0)}));
  ASSERT_OK(w->addRounds(std::vector{round(0)}));
  store::Run other = run;
  EXPECT_EQ(other.key(), run.key());
  Round changed = round(0);
  changed.samples.call[0] = 99;
  EXPECT_EQ(w->addRounds(std::vector{round(1), changed}).code(), StatusCode::AlreadyExists);
  std::unique_ptr<Reader> r = reader();
  EXPECT_EQ(valueOf(r->rounds(group.key())).size(), 1U) << "the call is all or nothing";
}

TEST_F(Store, WhatIsWrongIsSaid) {
  std::unique_ptr<Writer> w = begin();
  Round orphan = round(0);
  orphan.group = "nothing";
  Status status = w->addRounds(std::vector{orphan});
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(mentions(status, "start it first")) << status.message();
  orphan = round(0);
  orphan.candidate = "nobody";
  EXPECT_EQ(w->addRounds(std::vector{orphan}).code(), StatusCode::FailedPrecondition);
  Round uneven = round(0);
  uneven.samples.device.pop_back();
  EXPECT_EQ(w->addRounds(std::vector{uneven}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(w->addMachine({"no json"}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(w->addMachine({"{}", "no json"}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(w->addMachine({"{}", "{}", "[]"}).code(), StatusCode::InvalidArgument);
  CandidateEstimate nan = estimate(kiln);
  nan.low = NAN;
  EXPECT_EQ(w->finishGroup(group.key(), {}, std::vector{nan}).code(), StatusCode::InvalidArgument);
  CandidateEstimate foreign = estimate(kiln);
  foreign.group = "other";
  EXPECT_EQ(w->finishGroup(group.key(), {}, std::vector{foreign}).code(), StatusCode::InvalidArgument);
  ASSERT_OK(w->finishGroup(group.key(), std::vector{result(kiln)}, std::vector{estimate(kiln)}));
  status = w->addRounds(std::vector{round(9)});
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(mentions(status, "finished already")) << status.message();
}

TEST_F(Store, AnInterruptedSweepResumes) {
  {
    std::unique_ptr<Writer> w = begin();
    ASSERT_OK(w->finishGroup(group.key(), std::vector{result(kiln)}, std::vector{estimate(kiln)}));
    Problem second = sampleProblem(64, 64, 64);
    ASSERT_OK(w->addProblem(second));
    Candidate candidate = sampleCandidate(second.key(), "onednn", "");
    ASSERT_OK(w->addCandidates(std::vector{candidate}));
    Group unfinished{run.key(), second.key(), 3000};
    ASSERT_OK(w->startGroup(unfinished));
    Round early = round(0);
    early.group = unfinished.key();
    early.candidate = candidate.key();
    ASSERT_OK(w->addRounds(std::vector{early}));
    EXPECT_EQ(valueOf(reader()->groups(run.key()))[1].status, GroupStatus::Running);
  }
  std::unique_ptr<Writer> w = writer();
  std::unique_ptr<Reader> r = reader();
  EXPECT_EQ(valueOf(r->unfinishedRun(run)), run.key());
  store::Run other = run;
  other.sweep = "another sweep";
  EXPECT_EQ(valueOf(r->unfinishedRun(other)), std::nullopt);
  other = run;
  other.machine.hardware = "other hardware";
  EXPECT_EQ(valueOf(r->unfinishedRun(other)), std::nullopt);
  EXPECT_EQ(valueOf(r->unfinishedRun(other, ResumeOn::EqualHardware)), std::nullopt);
  other = run;
  other.machine.node = "an equal node";
  EXPECT_EQ(valueOf(r->unfinishedRun(other)), std::nullopt) << "equal nodes are not one node";
  EXPECT_EQ(valueOf(r->unfinishedRun(other, ResumeOn::EqualHardware)), run.key());
  other = run;
  other.machine.allocation = "other processors";
  EXPECT_EQ(valueOf(r->unfinishedRun(other)), run.key()) << "another set of processors is not another machine";
  other = run;
  other.tags.emplace_back("code", "two");
  EXPECT_EQ(valueOf(r->unfinishedRun(other)), std::nullopt);
  std::vector<StoredGroup> groups = valueOf(r->groups(run.key()));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].status, GroupStatus::Finished);
  EXPECT_EQ(groups[0].problem, problem.key());
  EXPECT_GE(groups[0].ended.value_or(0), groups[0].started);
  EXPECT_EQ(groups[1].ended, std::nullopt);
  EXPECT_EQ(groups[1].status, GroupStatus::Running) << "opening the store says nothing of who has died";
  EXPECT_EQ(valueOf(r->rounds(groups[1].key())).size(), 1U) << "what it had measured is kept";
  // The second attempt is another group.
  Group again{run.key(), groups[1].problem, 4000};
  ASSERT_OK(w->startGroup(again));
  EXPECT_EQ(w->finishGroup(again.key(), {}, {}).code(), StatusCode::InvalidArgument) << "it has no result";
  ASSERT_OK(w->finishGroup(again.key(), std::vector{CandidateResult{again.key(), kiln.key()}}, {}));
  groups = valueOf(r->groups(run.key()));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1].status, GroupStatus::Interrupted) << "its run went on without it";
  EXPECT_EQ(groups[2].attempt, 2U);
  ASSERT_OK(w->endRun(run.key()));
  ASSERT_OK(w->endRun(run.key()));
  EXPECT_EQ(valueOf(r->unfinishedRun(run)), std::nullopt);
}

TEST_F(Store, RunsAreFoundByNames) {
  std::unique_ptr<Writer> w = begin();
  store::Run later = sampleRun(5000);
  ASSERT_OK(w->addRun(later));
  std::unique_ptr<Reader> r = reader();
  EXPECT_EQ(valueOf(r->findRun("latest")).started, 5000);
  EXPECT_EQ(valueOf(r->findRun("latest~1")).started, 1000);
  EXPECT_EQ(valueOf(r->findRun(run.key().substr(0, 10))).started, 1000);
  for (const char *name : {"latest~2", "latest~", "latest~x", "zzz", ""}) {
    Result<StoredRun> found = r->findRun(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.status().code(), StatusCode::NotFound);
    EXPECT_TRUE(mentions(found.status(), later.key().substr(0, 12))) << found.status().message();
  }
}

TEST_F(Store, QueriesAnswerAndChangeNothing) {
  std::unique_ptr<Writer> w = begin();
  ASSERT_OK(w->finishGroup(group.key(), std::vector{result(kiln)}, std::vector{estimate(kiln)}));
  std::unique_ptr<Reader> r = reader();
  EXPECT_EQ(valueOf(r->query("SELECT x'00ff1b', x'', zeroblob(33), 'x', NULL")).rows[0],
            (std::vector<std::string>{"x'00ff1b'", "x''", "<blob of 33 bytes>", "x", ""}));
  QueryResult answer = valueOf(r->query("SELECT problem, rank, ms FROM dispatch WHERE provider = 'kiln'"));
  EXPECT_EQ(answer.columns, (std::vector<std::string>{"problem", "rank", "ms"}));
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(answer.rows[0][0], problem.name);
  EXPECT_EQ(answer.rows[0][1], "1");
  for (const char *sql : {"DELETE FROM round", "SELECT 1; DELETE FROM round", "DROP TABLE run", "ATTACH '/tmp/x' AS x",
                          "SELECT", "", "SELEKT 1", "SELECT nothing FROM round"})
    EXPECT_EQ(r->query(sql).status().code(), StatusCode::InvalidArgument) << sql;
}

// What a later version counts or describes in another way is another fact.
TEST_F(Store, ProblemsAreKnownByTheirContent) {
  std::unique_ptr<Writer> w = begin();
  Problem recounted = problem;
  recounted.flops += 1;
  EXPECT_NE(recounted.key(), problem.key());
  ASSERT_OK(w->addProblem(recounted));
  Candidate candidate = sampleCandidate(recounted.key(), "kiln", kiln.configuration);
  EXPECT_NE(candidate.key(), kiln.key());
  ASSERT_OK(w->addCandidates(std::vector{candidate}));
  Group later{run.key(), recounted.key(), 5000};
  ASSERT_OK(w->startGroup(later));
  std::vector<Problem> problems = valueOf(reader()->problems(run.key()));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].name, problems[1].name);
  EXPECT_NE(problems[0].flops, problems[1].flops);
  Problem described = problem;
  described.fields.emplace_back("text", "of another program");
  EXPECT_NE(described.key(), problem.key());
}

TEST_F(Store, AGroupKnowsWhereItWasMeasured) {
  std::unique_ptr<Writer> w = begin();
  Machine other = sampleMachine();
  other.node = R"({"host":"an equal node"})";
  other.allocation = R"({"processors":[4,5]})";
  EXPECT_EQ(other.keys().hardware, sampleMachine().keys().hardware);
  ASSERT_OK(w->addMachine(other));
  Group elsewhere{run.key(), problem.key(), group.started + 1, other.keys()};
  ASSERT_OK(w->startGroup(elsewhere));
  std::vector<StoredGroup> groups = valueOf(reader()->groups(run.key()));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].machine, std::nullopt);
  EXPECT_EQ(groups[1].machine, other.keys());
  EXPECT_EQ(groups[1].key(), elsewhere.key());
}

TEST_F(Store, WhatCannotBeTrueIsAnOutcome) {
  std::unique_ptr<Writer> w = begin();
  CandidateResult impossible = result(kiln);
  impossible.outcome = Outcome::Implausible;
  impossible.error = "faster than its bytes allow";
  EXPECT_FALSE(isSuccess(impossible.outcome));
  EXPECT_EQ(parseOutcome("implausible"), Outcome::Implausible);
  ASSERT_OK(w->finishGroup(group.key(), std::vector{impossible}, {}));
  EXPECT_EQ(valueOf(reader()->results(run.key())), std::vector{impossible});
}

} // namespace
} // namespace kiln::store
