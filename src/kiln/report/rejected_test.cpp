// Rows that were rejected while they were timed: their samples are stored, and no report shows a number of them.
#include "kiln/base/testing/test_folder.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/comparisons.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/history.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/compare.h"
#include "kiln/store/testing/sample_store.h"

#include <gtest/gtest.h>

namespace kiln::report {
namespace {

template <typename T> T valueOf(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? *std::move(result) : T();
}

// Two runs, each with a library whose row was rejected, whatever it said of its time, and Kiln's, which is right.
class Rejected : public ::testing::TestWithParam<Outcome> {
protected:
  void SetUp() override {
    add(1000);
    add(2000);
    reader = valueOf(store::Reader::open(path));
  }

  void add(int64_t started) {
    std::unique_ptr<store::Writer> writer = valueOf(store::Writer::open(path, {}));
    store::Run run = store::testing::sampleRun(started);
    store::Group group{run.key(), problem.key(), started + 1};
    store::CandidateResult rejected{group.key(), lie.key(), GetParam(), "more than the peak"};
    store::CandidateResult right{group.key(), honest.key()};
    rejected.verification.method = right.verification.method = "exact";
    store::CandidateEstimate fast{{}, group.key(), lie.key()}, slow{{}, group.key(), honest.key()};
    fast.median = fast.low = fast.high = fast.p10 = fast.p90 = kNanoseconds;
    fast.deviceMedian = fast.launchMedian = kNanoseconds;
    slow.median = slow.low = slow.high = 400'000;
    fast.rank = slow.rank = 1;
    fast.rounds = slow.rounds = 3;
    store::Round round{group.key(), lie.key(), 0, 5, 0.25, 3100.5, 1, "cold", {{340123, 340123, 340123}, {}, {}}};
    round.counters = {{340123, 340123, 340123, 340123}, 1};
    for (const Status &status :
         {writer->addMachine(store::testing::sampleMachine()), writer->addRun(run), writer->addProblem(problem),
          writer->addCandidates(std::vector{lie, honest}), writer->startGroup(group),
          writer->addRounds(std::vector{round}),
          writer->finishGroup(group.key(), std::vector{rejected, right}, std::vector{fast, slow}),
          writer->endRun(run.key())})
      ASSERT_TRUE(status.ok()) << status.toString();
  }

  // "340.12 µs", "0.340123", "0.34 ms"
  static void expectNoTime(std::string_view text) {
    for (std::string_view time : {"340.", "340123", "340 ", "0.34"})
      EXPECT_EQ(text.find(time), std::string_view::npos) << time << " in:\n" << text;
  }

  static constexpr double kNanoseconds = 340123;
  TestFolder folder;
  std::string path = folder.file("results.db");
  store::Problem problem = store::testing::sampleProblem(64, 64, 64);
  store::Candidate lie = store::testing::sampleCandidate(problem.key(), "onednn", "");
  store::Candidate honest = store::testing::sampleCandidate(problem.key(), "kiln", "tile_config_default");
  std::unique_ptr<store::Reader> reader;
};

TEST_P(Rejected, HasNoRankAndIsNoYardstick) {
  Table table = valueOf(loadTable(*reader, {}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].candidate->provider, "kiln");
  EXPECT_TRUE(table.rows[0].ranked());
  EXPECT_EQ(table.rows[0].bestVendor, nullptr);
  EXPECT_FALSE(table.rows[1].ranked());
  EXPECT_TRUE(table.rows[1].failed());
  std::string name = outcomeName(GetParam());
  std::string console = valueOf(formatConsole(table, {.width = 120}));
  EXPECT_NE(console.find(name + ": onednn (row"), std::string::npos) << console;
  const char *element = GetParam() == Outcome::Wrong ? "<failure type=\"" : "<error type=\"";
  EXPECT_NE(valueOf(formatJunit(table, {})).find(element + name), std::string::npos);
}

TEST_P(Rejected, HasNoTimesInAnyFormat) {
  Table table = valueOf(loadTable(*reader, {}));
  ASSERT_EQ(table.rows.size(), 2U);
  FormatOptions options;
  options.distributions = valueOf(loadDistributions(*reader, table));
  for (const Format &format : formats()) {
    SCOPED_TRACE(format.name);
    expectNoTime(valueOf(format.write(table, options)));
  }
  for (const Column &column : columns()) {
    SCOPED_TRACE(column.name);
    expectNoTime(rawText(column.value(table.rows[1])));
  }
  std::string block = blockOf(table.rows[1]);
  EXPECT_NE(block.find(fmt::format("Runtime(ms)   : {}\n", outcomeName(GetParam()))), std::string::npos) << block;
  EXPECT_NE(block.find(fmt::format("GFLOPs        : {}\n", outcomeName(GetParam()))), std::string::npos) << block;
}

TEST_P(Rejected, IsNotCalledVerified) {
  Table table = valueOf(loadTable(*reader, {}));
  ASSERT_EQ(table.rows.size(), 2U);
  auto textIn = [&](size_t row, std::string_view column) {
    return rawText(valueOf(findColumn(column))->value(table.rows[row]));
  };
  EXPECT_EQ(textIn(0, "Verification"), "SUCCESS");
  EXPECT_EQ(textIn(0, "checked"), "yes");
  EXPECT_EQ(textIn(1, "Verification"), GetParam() == Outcome::Wrong ? "FAILED" : "Not verified");
  EXPECT_EQ(textIn(1, "checked"), GetParam() == Outcome::Wrong ? "wrong" : "no");
  EXPECT_EQ(blockOf(table.rows[1]).find("SUCCESS"), std::string::npos);
}

TEST_P(Rejected, IsNotTheSameAsBefore) {
  Table before = valueOf(loadTable(*reader, {.runs = {"latest~1"}}));
  Table after = valueOf(loadTable(*reader, {.runs = {"latest"}}));
  const Table *was[] = {&before}, *is[] = {&after};
  NamedComparison comparison{"a", "b", {}, compareRuns(was, is, {}), 0.02, false};
  ASSERT_EQ(comparison.report.comparisons.size(), 2U);
  EXPECT_EQ(comparison.report.comparisons[1].verdict, Verdict::StillFails);
  for (std::string_view format : {"console", "csv", "json", "markdown", "junit"}) {
    SCOPED_TRACE(format);
    std::string text = valueOf(formatComparisons({&comparison, 1}, format, 80));
    expectNoTime(text);
    EXPECT_NE(text.find("still fails"), std::string::npos) << text;
  }
}

TEST_P(Rejected, HasNoTimeInAHistory) {
  History history = valueOf(loadHistory(*reader, problem.name + "_onednn"));
  ASSERT_EQ(history.entries.size(), 2U);
  for (std::string_view format : {"console", "csv", "json", "markdown"}) {
    SCOPED_TRACE(format);
    std::string text = valueOf(formatHistory(history, format, 80));
    expectNoTime(text);
    EXPECT_NE(text.find(outcomeName(GetParam())), std::string::npos) << text;
  }
}

TEST_P(Rejected, HasNoTimeInTheViewAndKeepsItsSamples) {
  auto count = [&](std::string_view sql) { return valueOf(reader->query(std::string(sql))).rows.at(0).at(0); };
  EXPECT_EQ(count("SELECT count(*) FROM dispatch WHERE provider = 'onednn'"), "2");
  EXPECT_EQ(count("SELECT count(coalesce(ms, low_ms, high_ms, gflops, rank)) FROM dispatch WHERE provider = 'onednn'"),
            "0");
  EXPECT_EQ(count("SELECT count(ms) FROM dispatch WHERE provider = 'kiln'"), "2");
  EXPECT_EQ(count("SELECT count(*) FROM round WHERE length(samples) > 4"), "2");
  EXPECT_EQ(count("SELECT count(*) FROM estimate WHERE median > 340000 AND median < 341000"), "2");
}

INSTANTIATE_TEST_SUITE_P(Outcomes, Rejected,
                         ::testing::Values(Outcome::Wrong, Outcome::Implausible, Outcome::Failed, Outcome::Crashed));

} // namespace
} // namespace kiln::report
