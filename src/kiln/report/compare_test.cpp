#include "kiln/base/testing/test_folder.h"
#include "kiln/report/formats/comparisons.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/history.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/compare.h"
#include "kiln/store/testing/sample_store.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <utility>

#include "nlohmann/json.hpp"

namespace kiln::report {
namespace {

using store::testing::SampleOptions;

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
    Result<Table> table = loadTable(**reader, {.runs = {run}});
    EXPECT_TRUE(table.ok()) << table.status().toString();
    return table.ok() ? *std::move(table) : Table();
  }
  // The later one has one problem, which takes 8 % longer.
  std::pair<Table, Table> twoRunsOfWhichOneProblemIsSlower() {
    fill(kBase);
    SampleOptions slower = kBase;
    slower.started = 2000;
    slower.slowdown = 1.08;
    slower.problems = 1;
    fill(slower);
    return {load("latest~1"), load("latest")};
  }
  static CompareReport compare(const Table &before, const Table &after, const CompareOptions &options) {
    const Table *was[] = {&before}, *is[] = {&after};
    return compareRuns(was, is, options);
  }
  TestFolder folder;
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
  CompareReport report = compare(before, after, {.threshold = 0.05});
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
  EXPECT_EQ(compare(before, after, {.threshold = 0.1}).regressions, 0U);
  CompareReport back = compare(after, before, {.threshold = 0.05});
  EXPECT_EQ(back.regressions, 0U);
  EXPECT_EQ(std::count_if(back.comparisons.begin(), back.comparisons.end(),
                          [](const Comparison &c) { return c.verdict == Verdict::Faster; }),
            24);
  std::string text = formatComparison(report, 80);
  EXPECT_NE(text.find("24 slower, 8 controls, 24 regressions"), std::string::npos) << text;
}

TEST_F(Compare, IsADocumentInOtherForms) {
  auto [before, after] = twoRunsOfWhichOneProblemIsSlower();
  NamedComparison comparison{"run a", "run \"b\"", {}, compare(before, after, {.threshold = 0.05}), 0.05, false};
  ASSERT_EQ(comparison.report.regressions, 12U);
  auto written = [&](std::string_view format) {
    Result<std::string> text = formatComparisons({&comparison, 1}, format, 80);
    EXPECT_TRUE(text.ok()) << text.status().toString();
    return text.ok() ? *text : std::string();
  };
  EXPECT_EQ(written("console"), formatComparison(comparison.report, 80));
  std::string csv = written("csv");
  EXPECT_TRUE(csv.starts_with("before,after,dispatch,provider,verdict,regression,ratio,ratio_low,ratio_high,smallest_"
                              "change_percent,noise_from,"))
      << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 32);
  EXPECT_NE(csv.find("run a,\"run \"\"b\"\"\",matmul_"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",kiln,slower,yes,1.08"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",only before,no,,,,,,ok,"), std::string::npos) << csv;

  nlohmann::json json = nlohmann::json::parse(written("json"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["regressions"], 12);
  const auto &one = json["comparisons"][0];
  EXPECT_EQ(one["threshold_percent"], 5);
  EXPECT_NEAR(one["mean"]["ratio"].get<double>(), 1.08, 1e-6);
  ASSERT_EQ(one["dispatches"].size(), 32U);
  EXPECT_EQ(one["dispatches"][0]["regression"], one["dispatches"][0]["provider"] == "kiln");

  std::string markdown = written("markdown");
  EXPECT_TRUE(markdown.starts_with("## Before: run a; after: run \"b\"\n\n| Before |")) << markdown;
  EXPECT_NE(markdown.find("| slower | yes | matmul\\_"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("\n12 slower, 16 only before, 4 controls, 12 regressions\n"), std::string::npos) << markdown;

  EXPECT_NE(written("junit").find("<testsuite name=\"before: run a, after: run &quot;b&quot;\" tests=\"32\" "
                                  "failures=\"12\" errors=\"0\" skipped=\"16\">"),
            std::string::npos);
  comparison.report.warnings = {"the cache mode differs"};
  EXPECT_NE(written("junit").find("failures=\"13\""), std::string::npos) << "the exit code says so, too";
  comparison.excused = true;
  EXPECT_NE(written("junit").find("failures=\"12\""), std::string::npos);
  EXPECT_EQ(checkComparisonFormat("html").code(), StatusCode::NotFound);
}

TEST_F(Compare, WhatStoppedWorkingIsARegression) {
  fill(kBase);
  SampleOptions failing = kBase;
  failing.started = 2000;
  failing.failures = true;
  failing.problems = 1;
  fill(failing);
  Table before = load("latest~1"), after = load("latest");
  CompareReport report = compare(before, after, {});
  size_t broken = 0, missing = 0;
  for (const Comparison &c : report.comparisons) {
    broken += c.verdict == Verdict::Broken;
    missing += c.verdict == Verdict::OnlyBefore;
  }
  EXPECT_EQ(broken, 4U);
  EXPECT_EQ(missing, 16U);
  EXPECT_EQ(report.regressions, 4U);
  EXPECT_EQ(compare(after, before, {}).regressions, 0U);
}

// One candidate of Kiln in two runs, each of which knows its own median within 0.1 %.
struct TwoRuns {
  store::Problem problem = store::testing::sampleProblem(1, 1, 1);
  store::Candidate first = store::testing::sampleCandidate(problem.key(), "kiln", "tile_config_default"),
                   second = first;
  store::Run run;
  store::StoredRun storedRun{run, {}, {}};
  store::CandidateResult result;
  store::CandidateEstimate a, b;
  Table before, after;

  explicit TwoRuns(double ratio) {
    second.moduleHash = "another";
    a.median = 100;
    b.median = 100 * ratio;
    for (store::CandidateEstimate *each : {&a, &b}) {
      each->low = each->median / 1.001;
      each->high = each->median * 1.001;
    }
    add(before, first, a);
    add(after, second, b);
  }
  void add(Table &table, const store::Candidate &candidate, const store::CandidateEstimate &estimate) {
    Row row;
    row.run = &storedRun;
    row.problem = &problem;
    row.candidate = &candidate;
    row.result = &result;
    row.estimate = &estimate;
    table.rows.push_back(row);
  }
};

// A gate that compares nothing does not pass.
TEST_F(Compare, RunsWithoutACommonDispatchAreNoSuccess) {
  fill(kBase);
  fill({.problems = 1, .rounds = 0, .started = 2000, .failures = false, .interrupted = false});
  Table before = load("latest~1"), after = load("latest");
  CompareReport some = compare(before, after, {});
  EXPECT_EQ(some.nothing, "");
  EXPECT_TRUE(some.notes.empty());
  std::erase_if(before.rows, [&](const Row &row) { return row.problem->name == after.rows[0].problem->name; });
  NamedComparison none{"a", "b", {}, compare(before, after, {}), 0.02, true};
  EXPECT_EQ(none.report.regressions, 0U);
  EXPECT_EQ(none.report.nothing, "no dispatch is in both");
  for (std::string_view format : {"console", "json", "markdown", "junit"}) {
    Result<std::string> text = formatComparisons({&none, 1}, format, 80);
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("no dispatch is in both"), std::string::npos) << *text;
  }
  Result<std::string> junit = formatComparisons({&none, 1}, "junit", 80);
  EXPECT_NE(junit->find("failures=\"1\""), std::string::npos) << *junit;
  // Dispatches of which neither side has a time.
  TwoRuns runs(1);
  for (Table *table : {&runs.before, &runs.after})
    table->rows[0].estimate = nullptr;
  CompareReport untimed = compare(runs.before, runs.after, {});
  EXPECT_EQ(untimed.comparisons[0].verdict, Verdict::NotCompared);
  EXPECT_EQ(untimed.nothing, "no dispatch has times in both that tell something");
  untimed.warnings = {"x is another problem of the same name"};
  EXPECT_EQ(formatComparison(untimed, 80).find("ratios say little"), std::string::npos) << "there is none";
}

TEST_F(Compare, AnAfterThatIsOlderThanBeforeIsTold) {
  fill(kBase);
  SampleOptions later = kBase;
  later.started = 2000;
  fill(later);
  Table first = load("latest~1"), second = load("latest");
  EXPECT_TRUE(compare(first, second, {}).notes.empty());
  CompareReport swapped = compare(second, first, {});
  ASSERT_EQ(swapped.notes.size(), 1U);
  EXPECT_TRUE(swapped.warnings.empty()) << "it is no failure";
  EXPECT_NE(formatComparison(swapped, 80).find("note: 'after' is older than 'before'"), std::string::npos);
  // Runs that were made in turns have no such order.
  const Table *both[] = {&first, &second}, *one[] = {&first};
  EXPECT_TRUE(compareRuns(both, one, {}).notes.empty());
}

TEST_F(Compare, LinesFitTheTerminal) {
  fill(kBase);
  SampleOptions slower = kBase;
  slower.started = 2000;
  slower.slowdown = 1.08;
  fill(slower);
  Table before = load("latest~1"), after = load("latest");
  after.runs.front().cacheMode = "warm";
  std::string text = formatComparison(compare(after, before, {}), 80);
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    std::string_view line = std::string_view(text).substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(displayWidth(line) <= 80 || line.find(' ') == 0) << line; // names are not broken
  }
  EXPECT_NE(text.find("smallest change that these data could have shown"), std::string::npos);
  EXPECT_NE(text.find("controls, which did not change"), std::string::npos);
}

// With or without room for names behind the numbers, all lines have the same form.
TEST_F(Compare, ColumnsAreApartAndAllNamesAtTheSamePlace) {
  auto [before, after] = twoRunsOfWhichOneProblemIsSlower();
  for (size_t width : {80U, 120U, 130U, 160U, 300U}) {
    std::string text = formatComparison(compare(before, after, {}), width);
    std::string header = text.substr(0, text.find('\n'));
    size_t verdict = header.find("  verdict");
    ASSERT_NE(verdict, header.npos) << header;
    bool below = header.find("dispatch") == header.npos;
    EXPECT_EQ(text.find(" \n"), text.npos) << text;
    size_t rows = 0;
    for (size_t at = header.size() + 1; text[at] == ' '; at = text.find('\n', at) + 1, ++rows) {
      std::string line = text.substr(at, text.find('\n', at) - at);
      size_t name = line.find("matmul_");
      bool hasName = name != line.npos;
      EXPECT_EQ(hasName, !below || rows % 2) << line;
      EXPECT_TRUE(!hasName || displayWidth(line.substr(0, name)) == (below ? 4 : header.find("dispatch"))) << line;
      EXPECT_TRUE(!hasName || line.substr(name - 2, 2) == "  ") << line;
    }
    EXPECT_EQ(rows, below ? 64U : 32U);
  }
}

// One library whose change cannot be told from noise: it is taken out of the others all the same.
TEST_F(Compare, AControlWhoseChangeIsNotKnownIsNamed) {
  TwoRuns runs(3);
  runs.b.ratio = 3 / 1.1;
  store::Candidate library = runs.first;
  library.provider = "onednn";
  library.configuration = "";
  library.providerVersion = "1";
  store::CandidateEstimate slower = runs.a;
  for (double *time : {&slower.median, &slower.low, &slower.high})
    *time *= 1.1;
  runs.add(runs.before, library, runs.a);
  runs.add(runs.after, library, slower);
  CompareReport report = compare(runs.before, runs.after, {});
  ASSERT_TRUE(report.lessControls);
  EXPECT_FALSE(report.unchanged);
  EXPECT_EQ(controlsSentence(report), "controls, which did not change (onednn): how much their times did is not known "
                                      "well enough to be shown; that is the machine's, and taken out of the others' "
                                      "ratios, not of the times, which are those of each side's last run");
  EXPECT_NE(summaryOf(report).find(" 1 control, "), std::string::npos) << summaryOf(report);
  EXPECT_EQ(summaryOf(report).find("1 same"), std::string::npos) << summaryOf(report);
  EXPECT_STREQ(verdictText(report.comparisons[1]), "control");
}

TEST_F(Compare, TwoRunsWithoutAControlTellOfLargeChangesOnly) {
  for (double ratio : {1.1, 1.5}) {
    TwoRuns runs(ratio);
    CompareReport report = compare(runs.before, runs.after, {});
    const Comparison &c = report.comparisons[0];
    EXPECT_EQ(c.noise, measure::NoiseSource::Assumed);
    EXPECT_NEAR(c.smallest, std::exp(4 * measure::kUncontrolledShift) - 1, 0.01);
    EXPECT_EQ(c.verdict, ratio > 1 + c.smallest ? Verdict::Slower : Verdict::Same) << ratio;
    EXPECT_EQ(report.regressions, ratio > 1 + c.smallest ? 1U : 0U) << ratio;
    EXPECT_NE(formatComparison(report, 200).find("noise of a size that is assumed"), std::string::npos);
  }
}

TEST_F(Compare, TheSameCodeRunByTheSameWorkerIsAControl) {
  TwoRuns runs(1.5);
  runs.second.moduleHash = runs.first.moduleHash;
  EXPECT_FALSE(compare(runs.before, runs.after, {}).comparisons[0].control) << "another worker may be slower";
  runs.storedRun.flags = R"({"kilnWorker":"1234"})";
  CompareReport report = compare(runs.before, runs.after, {});
  EXPECT_TRUE(report.comparisons[0].control);
  EXPECT_EQ(report.comparisons[0].verdict, Verdict::Same);
  EXPECT_EQ(report.regressions, 0U);
}

// Of two runs of the same builds nothing is left that could have changed, and that is said.
TEST_F(Compare, WhereAllAreControlsNothingIsLeftToJudge) {
  TwoRuns runs(1.5);
  runs.second.moduleHash = runs.first.moduleHash;
  runs.storedRun.flags = R"({"kilnWorker":"1234"})";
  NamedComparison equal{"a", "b", {}, compare(runs.before, runs.after, {}), 0.02, false};
  constexpr std::string_view kSays = "all are controls, the same code in all runs: what their times differ by is the "
                                     "machine's, and nothing is left to judge";
  EXPECT_NE(summaryOf(equal.report).find(kSays), std::string::npos) << summaryOf(equal.report);
  EXPECT_EQ(summaryOf(equal.report).find("taken out of the others"), std::string::npos) << "there are no others";
  EXPECT_TRUE(equal.report.nothing.empty()) << "equal builds are no failure";
  Result<std::string> junit = formatComparisons({&equal, 1}, "junit", 80);
  EXPECT_NE(junit->find(kSays.substr(0, 20)), std::string::npos) << *junit;
  runs.second.moduleHash = "another";
  EXPECT_EQ(summaryOf(compare(runs.before, runs.after, {})).find("all are controls"), std::string::npos);
}

// The rule of comparisons: the same code is not judged, whatever its times do.
TEST_F(Compare, AHistoryDoesNotJudgeTheSameCode) {
  fill(kBase);
  SampleOptions later = kBase;
  later.started = 2000;
  later.slowdown = 1.08;
  fill(later);
  Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
  ASSERT_TRUE(reader.ok());
  Result<History> history = loadHistory(**reader, store::testing::sampleProblem(256, 512, 128).name + "_onednn");
  ASSERT_TRUE(history.ok()) << history.status().toString();
  ASSERT_EQ(history->entries.size(), 2U);
  const HistoryEntry &entry = history->entries[1];
  EXPECT_TRUE(entry.control);
  EXPECT_EQ(entry.verdict, Verdict::Same);
  Table before = load("latest~1"), after = load("latest");
  for (const Comparison &c : compare(before, after, {}).comparisons)
    if (c.before->dispatch() == entry.row->dispatch()) {
      EXPECT_TRUE(c.control);
      EXPECT_EQ(c.ratio, entry.ratio()->ratio) << "as compare says";
      EXPECT_EQ(c.high, entry.ratio()->high);
    }
  Result<std::string> text = formatHistory(*history, "console", 80);
  EXPECT_NE(text->find("  same code\n"), std::string::npos) << *text;
  EXPECT_EQ(text->find("smallest change"), std::string::npos) << *text;
  EXPECT_NE(formatHistory(*history, "csv", 80)->find(",is a control,same code,"), std::string::npos);
}

// What a program says of its version is no proof that it did not change.
TEST_F(Compare, AProgramOfTheUsersOwnIsNoControl) {
  TwoRuns runs(2.4);
  runs.first.provider = runs.second.provider = "mine";
  runs.first.moduleHash = runs.second.moduleHash = "";
  CompareReport report = compare(runs.before, runs.after, {});
  EXPECT_FALSE(report.comparisons[0].control);
  EXPECT_EQ(report.comparisons[0].verdict, Verdict::Slower);
  // Beside a library, which is one, and which led in both runs.
  runs.b.ratio = runs.b.ratioLow = runs.b.ratioHigh = 2.4;
  store::Candidate library = store::testing::sampleCandidate(runs.problem.key(), "onednn", "");
  runs.add(runs.before, library, runs.a);
  runs.add(runs.after, library, runs.a);
  report = compare(runs.before, runs.after, {});
  EXPECT_FALSE(report.comparisons[0].control);
  EXPECT_TRUE(report.comparisons[1].control);
  EXPECT_EQ(report.regressions, 1U);
}

// The definition is computed by Kiln's worker: with another worker it is other code.
TEST_F(Compare, TheReferenceIsAControlWithTheSameWorker) {
  TwoRuns runs(1.5);
  runs.first.provider = runs.second.provider = "reference";
  runs.first.moduleHash = runs.second.moduleHash = "";
  runs.storedRun.flags = R"({"kilnWorker":"1234"})";
  EXPECT_TRUE(compare(runs.before, runs.after, {}).comparisons[0].control);
  store::StoredRun later = runs.storedRun;
  later.flags = R"({"kilnWorker":"5678"})";
  runs.after.rows[0].run = &later;
  EXPECT_FALSE(compare(runs.before, runs.after, {}).comparisons[0].control);
}

TEST_F(Compare, WhatTheControlsDoTooIsTheMachines) {
  fill(kBase);
  SampleOptions slower = kBase;
  slower.started = 2000;
  slower.slowdown = 1.03;
  fill(slower);
  Table before = load("latest~1"), after = load("latest");
  for (store::CandidateEstimate &estimate : after.estimates) {
    estimate.median *= 1.06;
    estimate.low *= 1.06;
    estimate.high *= 1.06;
  }
  CompareReport report = compare(before, after, {});
  ASSERT_TRUE(report.mean && report.unchanged && report.smallest);
  EXPECT_NEAR(report.mean->ratio, 1.03, 1e-6);
  EXPECT_NEAR(report.unchanged->ratio, 1.06, 1e-6);
  for (const Comparison &c : report.comparisons)
    EXPECT_EQ(c.verdict, c.control ? Verdict::Same : Verdict::Slower);
  // Selecting Kiln's dispatches alone takes nothing from what the controls say.
  CompareReport selected = compare(
      before, after, {.takes = [](const Row &row) { return row.dispatch().find("tile_config") != std::string::npos; }});
  EXPECT_EQ(selected.comparisons.size(), 2U * 12);
  EXPECT_FALSE(selected.unchanged);
  for (const Comparison &c : report.comparisons)
    if (c.before == selected.comparisons[0].before) {
      EXPECT_EQ(selected.comparisons[0].low, c.low);
    }
  EXPECT_LE(selected.smallest->middle, selected.smallest->worst);
  EXPECT_LT(selected.smallest->worst, selected.smallest->regression);
}

TEST_F(Compare, RunsThatDifferInMoreThanTheCodeAreWarnedOf) {
  fill(kBase);
  Table before = load("latest"), after = load("latest");
  EXPECT_TRUE(compare(before, after, {}).warnings.empty());
  after.runs.front().cacheMode = "warm";
  CompareReport report = compare(before, after, {});
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("cache mode differs: 'cold' before, 'warm' after"), std::string::npos);
}

TEST_F(Compare, ARegressionIsOneWithAllOfItsInterval) {
  store::Problem problem = store::testing::sampleProblem(1, 1, 1);
  store::Candidate candidate = store::testing::sampleCandidate(problem.key(), "kiln", "tile_config_default");
  store::CandidateResult result;
  store::CandidateEstimate before, after;
  before.median = after.median = 100;
  Table table;
  for (auto [variant, estimate] : {std::pair("a", &before), std::pair("b", &after)}) {
    candidate.variant = variant;
    Row row;
    row.problem = &problem;
    row.candidate = &table.candidates.emplace_back(candidate);
    row.result = &result;
    row.estimate = estimate;
    table.rows.push_back(row);
  }
  CompareOptions options{.threshold = 0.02, .paired = [](const Row &a, const Row &b) {
                           EXPECT_EQ(a.candidate->variant, "a");
                           EXPECT_EQ(b.candidate->variant, "b");
                           measure::Location location{std::log(1.03), 0.005 / 1.96, 400};
                           return std::optional(measure::Change{location, measure::NoiseSource::CommonRounds});
                         }};
  CompareReport report = compareVariants(table, "a", "b", options);
  ASSERT_EQ(report.comparisons.size(), 1U);
  EXPECT_EQ(report.comparisons[0].noise, measure::NoiseSource::CommonRounds);
  EXPECT_EQ(report.comparisons[0].verdict, Verdict::Slower);
  EXPECT_EQ(report.regressions, 1U);
  ASSERT_TRUE(report.mean);
  EXPECT_NEAR(report.mean->ratio, 1.03, 1e-12);
  EXPECT_NEAR(report.mean->low, 1.025, 1e-3);
  EXPECT_FALSE(report.unchanged) << "there is no library";
  // Slower with certainty, but not by so much.
  options.threshold = 0.026;
  EXPECT_EQ(compareVariants(table, "a", "b", options).regressions, 0U);
  // The ratio is beyond, its interval is not.
  options.threshold = 0.027;
  EXPECT_EQ(compareVariants(table, "a", "b", options).regressions, 0U);
}

TEST_F(Compare, TheMeanIsGeometricAndLibrariesTellOfTheMachine) {
  fill(kBase);
  SampleOptions slower = kBase;
  slower.started = 2000;
  slower.slowdown = 1.08;
  fill(slower);
  Table before = load("latest~1"), after = load("latest");
  CompareReport report = compare(before, after, {});
  ASSERT_TRUE(report.mean && report.unchanged);
  EXPECT_NEAR(report.mean->ratio, 1.08, 1e-6);
  EXPECT_NEAR(report.unchanged->ratio, 1, 1e-6);
  double widest = 0;
  for (const Comparison &c : report.comparisons)
    widest = std::max(widest, c.high / c.ratio);
  EXPECT_GT(report.mean->high, report.mean->ratio);
  EXPECT_LT(report.mean->high / report.mean->ratio, widest) << "many know more than one";
  std::string text = formatComparison(report, 200);
  // The slowest first.
  EXPECT_LT(text.find("slower"), text.find("same"));
  EXPECT_NE(text.find("geometric mean of the ratios: 1.08"), std::string::npos) << text;
}

TEST_F(Compare, AHistoryTellsWhatChangedFromRunToRun) {
  fill(kBase);
  for (auto [started, slowdown] : {std::pair(2000, 1.08), std::pair(3000, 1.08)}) {
    SampleOptions options = kBase;
    options.started = started;
    options.slowdown = slowdown;
    fill(options);
  }
  Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
  ASSERT_TRUE(reader.ok());
  std::string dispatch;
  for (const Row &row : load("latest").rows)
    if (row.candidate->provider == "kiln")
      dispatch = row.dispatch();
  Result<History> history = loadHistory(**reader, dispatch);
  ASSERT_TRUE(history.ok()) << history.status().toString();
  ASSERT_EQ(history->entries.size(), 3U);
  EXPECT_FALSE(history->entries[0].change);
  ASSERT_TRUE(history->entries[1].change && history->entries[2].change);
  EXPECT_NEAR(history->entries[1].ratio()->ratio, 1.08, 1e-6);
  EXPECT_EQ(history->entries[1].verdict, Verdict::Slower);
  EXPECT_EQ(history->entries[2].verdict, Verdict::Same);
  for (auto [format, word] :
       {std::pair("console", "within noise"), std::pair("csv", "change_percent"),
        std::pair("json", "\"verdict\": \"slower\""), std::pair("markdown", "| +8.0 (+7.3 … +8.7) |")}) {
    Result<std::string> text = formatHistory(*history, format, 120);
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find(word), std::string::npos) << *text;
  }
  Result<std::string> narrow = formatHistory(*history, "console", 60);
  ASSERT_TRUE(narrow.ok());
  for (size_t at = narrow->find('\n') + 1; at < narrow->size();) {
    size_t end = narrow->find('\n', at);
    EXPECT_LE(displayWidth(std::string_view(*narrow).substr(at, end - at)), 60U);
    at = end + 1;
  }
  // What all runs have in common is said once, and at 80 columns each run has a line.
  Result<std::string> usual = formatHistory(*history, "console", 80);
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(std::ranges::count(*usual, '\n'), 3 + 3 + 2) << *usual;
  EXPECT_NE(usual->find("smallest change that a run could have shown: 1.3 % of half"), usual->npos) << *usual;
  EXPECT_NE(usual->find("\n  Kiln 0.1.0, Provider kiln, Version 1.0, Tags branch:main, note:a, \"b\"\n"), usual->npos)
      << *usual;
  EXPECT_NE(usual->find("Change % (interval)  Verdict\n"), usual->npos) << *usual;
  EXPECT_NE(usual->find("  +8.0 (+7.3 … +8.7)  slower\n"), usual->npos) << *usual;
  // What differs and has no room goes below its run, by name.
  history->runs[1]->runs[0].tags = {{"commit", "1a2b3c4d"}};
  history->entries[2].difference = "the cache mode differs: 'cold' before, 'warm' after";
  Result<std::string> differing = formatHistory(*history, "console", 80);
  ASSERT_TRUE(differing.ok());
  for (size_t at = 0; at < differing->size(); at = differing->find('\n', at) + 1)
    EXPECT_LE(displayWidth(std::string_view(*differing).substr(at, differing->find('\n', at) - at)), 80U) << *differing;
  EXPECT_NE(differing->find("  slower\n      Tags commit:1a2b3c4d\n"), differing->npos) << *differing;
  EXPECT_NE(differing->find("  not comparable\n      Tags branch:main, note:a, \"b\"\n      the cache mode differs: "),
            differing->npos)
      << *differing;
  EXPECT_EQ(formatHistory(*history, "html", 80).status().code(), StatusCode::NotFound);
  EXPECT_EQ(loadHistory(**reader, dispatch + "x").status().code(), StatusCode::NotFound);
  EXPECT_TRUE(differencesOf(history->runs[0]->runs[0], history->runs[1]->runs[0]).empty());
  store::Run warm = history->runs[0]->runs[0];
  warm.cacheMode = "warm";
  EXPECT_EQ(differencesOf(history->runs[0]->runs[0], warm).size(), 1U);
  store::Run elsewhere = history->runs[0]->runs[0];
  elsewhere.machine.node = "an equal node";
  EXPECT_EQ(differencesOf(history->runs[0]->runs[0], elsewhere).size(), 1U) << "equal nodes are not one node";
}

// The same dispatches: on the CPU, on one GPU, and twice on another.
TEST_F(Compare, DevicesAreNotComparedWithEachOther) {
  int64_t started = 1000;
  for (const char *device : {"", "NVIDIA H200 (cuda://0)", "NVIDIA H200 (cuda://1)", "NVIDIA H200 (cuda://1)"}) {
    SampleOptions options = kBase;
    options.started = started += 1000;
    options.device = device;
    options.slowdown = started == 5000 ? 1.08 : 1;
    fill(options);
  }
  const Table cpu = load("latest~3"), first = load("latest~2"), second = load("latest~1"), again = load("latest");
  for (const auto &[before, after] : {std::pair(&cpu, &first), std::pair(&first, &second)}) {
    CompareReport report = compare(*before, *after, {});
    EXPECT_EQ(report.nothing, "no dispatch is in both");
    EXPECT_EQ(report.regressions, 0U);
    for (const Comparison &one : report.comparisons)
      EXPECT_TRUE(one.verdict == Verdict::OnlyBefore || one.verdict == Verdict::OnlyAfter);
    ASSERT_EQ(report.warnings.size(), 1U);
  }
  EXPECT_EQ(compare(cpu, first, {}).warnings[0],
            "the device differs: 'the CPU' before, 'NVIDIA H200 (cuda://0)' after");
  EXPECT_EQ(compare(second, again, {}).regressions, 2U * 12);
  // Three devices, of which the last run alone has one before it to be judged against.
  Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
  ASSERT_TRUE(reader.ok());
  Result<History> history = loadHistory(**reader, again.rows.front().dispatch());
  ASSERT_TRUE(history.ok()) << history.status().toString();
  ASSERT_EQ(history->entries.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(history->entries[i].change.has_value(), i == 3) << i;
    EXPECT_EQ(history->entries[i].difference, "") << i;
  }
  for (const char *format : {"console", "csv", "json", "markdown"}) {
    Result<std::string> text = formatHistory(*history, format, 160);
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("NVIDIA H200 (cuda://1)"), text->npos) << *text;
  }
}

TEST_F(Compare, AnEditedProgramIsAnotherProblem) {
  store::Problem before = store::testing::sampleProblem(64, 64, 64), after = before;
  after.flops *= 2;
  EXPECT_EQ(problemDifference(before, after), "") << "the same work, counted in another way";
  after.fields.emplace_back("text", "of another program");
  EXPECT_EQ(problemDifference(before, after), "matmul_64x64x64_f32t_f32t_f32t is another problem of the same name");
  before.family = after.family = "corpus";
  before.name = after.name = "corpus_add";
  EXPECT_EQ(problemDifference(before, after), "corpus_add is another program: its file was edited");
}

} // namespace
} // namespace kiln::report
