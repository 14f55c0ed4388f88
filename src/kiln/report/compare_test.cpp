#include "kiln/report/formats/formats.h"
#include "kiln/report/model/compare.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/testing/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace kiln::report {
namespace {

using store::testing::SampleOptions;
using store::testing::TemporaryFolder;

class Compare : public ::testing::Test {
protected:
  void fill(const SampleOptions &options) {
    Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(path, {});
    ASSERT_TRUE(writer.ok());
    Status status = store::testing::fillSampleStore(**writer, options);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  Table load(const char *run) {
    Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
    EXPECT_TRUE(reader.ok());
    Result<Table> table = loadTable(**reader, {.runs = {run}}, {});
    EXPECT_TRUE(table.ok()) << table.status().toString();
    return table.ok() ? *std::move(table) : Table();
  }
  TemporaryFolder folder;
  std::string path = folder.file("results.db");
  static constexpr SampleOptions kBase{
      .problems = 2, .rounds = 0, .started = 1000, .failures = false, .interrupted = false};
};

TEST_F(Compare, APlantedSlowDownIsARegressionAndNothingElse) {
  fill(kBase);
  SampleOptions slower = kBase;
  slower.started = 2000;
  slower.slowdown = 1.08;
  fill(slower);
  Table before = load("latest~1"), after = load("latest");
  CompareReport report = compareRuns(before, after, {.threshold = 0.05});
  EXPECT_EQ(report.comparisons.size(), 2U * 16);
  EXPECT_EQ(report.regressions, 2U * 12);
  for (const Comparison &c : report.comparisons) {
    bool kiln = c.before->candidate->provider == "kiln";
    EXPECT_EQ(c.verdict, kiln ? Verdict::Slower : Verdict::Same);
    EXPECT_EQ(c.regression, kiln);
    EXPECT_NEAR(c.ratio, kiln ? 1.08 : 1, 1e-6);
    EXPECT_LT(c.low, c.ratio);
    EXPECT_GT(c.high, c.ratio);
  }
  // Slower, but not beyond what is allowed.
  EXPECT_EQ(compareRuns(before, after, {.threshold = 0.1}).regressions, 0U);
  CompareReport back = compareRuns(after, before, {.threshold = 0.05});
  EXPECT_EQ(back.regressions, 0U);
  EXPECT_EQ(std::count_if(back.comparisons.begin(), back.comparisons.end(),
                          [](const Comparison &c) { return c.verdict == Verdict::Faster; }),
            24);
  std::string text = formatComparison(report, 80);
  EXPECT_NE(text.find("24 slower, 8 same, 24 regressions"), std::string::npos) << text;
}

TEST_F(Compare, WhatStoppedWorkingIsARegression) {
  fill(kBase);
  SampleOptions failing = kBase;
  failing.started = 2000;
  failing.failures = true;
  failing.problems = 1;
  fill(failing);
  Table before = load("latest~1"), after = load("latest");
  CompareReport report = compareRuns(before, after, {});
  size_t broken = 0, missing = 0;
  for (const Comparison &c : report.comparisons) {
    broken += c.verdict == Verdict::Broken;
    missing += c.verdict == Verdict::OnlyBefore;
  }
  EXPECT_EQ(broken, 4U);
  EXPECT_EQ(missing, 16U);
  EXPECT_EQ(report.regressions, 4U);
  EXPECT_EQ(compareRuns(after, before, {}).regressions, 0U);
}

// Two estimates of known intervals: the ratio's interval is as wide as the two together.
TEST_F(Compare, IntervalsAddAsVariancesDo) {
  store::Problem problem = store::testing::sampleProblem(1, 1, 1);
  store::Candidate candidate = store::testing::sampleCandidate(problem.name, "onednn", "");
  store::CandidateResult result;
  store::Estimate a, b;
  a.median = b.median = 100;
  a.low = b.low = 100 / 1.03;
  a.high = b.high = 100 * 1.03;
  Table before, after;
  for (auto [table, estimate] : {std::pair(&before, &a), std::pair(&after, &b)}) {
    Row row;
    row.problem = &problem;
    row.candidate = &candidate;
    row.result = &result;
    row.estimate = estimate;
    table->rows.push_back(row);
  }
  Comparison same = compareRuns(before, after, {}).comparisons[0];
  EXPECT_EQ(same.verdict, Verdict::Same);
  EXPECT_NEAR(same.high, std::pow(1.03, std::sqrt(2.0)), 1e-9);
  EXPECT_NEAR(same.low * same.high, 1, 1e-9);
  // 4 % apart: within the noise; 5 %: not.
  b = {};
  for (double ratio : {1.04, 1.05}) {
    b.median = 100 * ratio;
    b.low = b.median / 1.03;
    b.high = b.median * 1.03;
    EXPECT_EQ(compareRuns(before, after, {}).comparisons[0].verdict, ratio > 1.045 ? Verdict::Slower : Verdict::Same);
  }
}

TEST_F(Compare, RunsThatDifferInMoreThanTheCodeAreWarnedOf) {
  fill(kBase);
  Table before = load("latest"), after = load("latest");
  EXPECT_TRUE(compareRuns(before, after, {}).warnings.empty());
  after.runs.front().cacheMode = "warm";
  CompareReport report = compareRuns(before, after, {});
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("cache mode differs: 'cold' before, 'warm' after"), std::string::npos);
}

} // namespace
} // namespace kiln::report
