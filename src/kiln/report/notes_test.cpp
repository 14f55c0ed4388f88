#include "kiln/report/model/notes.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kiln/base/testing/test_folder.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"
#include "kiln/store/testing/sample_store.h"

namespace kiln::report {
namespace {

// What is shown of a store whose groups time has cut short, or has not.
class CutGroups : public ::testing::Test {
protected:
  void load(std::optional<double> cutSeconds) {
    store::testing::SampleOptions options;
    options.cutSeconds = cutSeconds;
    load(options);
  }
  void load(const store::testing::SampleOptions &options) {
    std::string path = folder.file("results.db");
    {
      Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(path, {});
      ASSERT_TRUE(writer.ok()) << writer.status().toString();
      ASSERT_TRUE(store::testing::fillSampleStore(**writer, options).ok());
    }
    Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.status().toString();
    Result<Table> loaded = loadTable(**reader, {});
    ASSERT_TRUE(loaded.ok()) << loaded.status().toString();
    table = *std::move(loaded);
  }
  static size_t times(const Result<std::string> &text, std::string_view part) {
    EXPECT_TRUE(text.ok());
    size_t count = 0;
    for (size_t at = text->find(part); at != std::string::npos; at = text->find(part, at + 1))
      ++count;
    return count;
  }

  TestFolder folder;
  Table table;
};

constexpr std::string_view kNote = "time was up after 90 s of rounds: give more `--minutes` to settle ranks";

TEST_F(CutGroups, SayItOnceForEachProblemAndInEachRow) {
  load(90);
  EXPECT_EQ(cutNote(90, 2), kNote);
  EXPECT_EQ(cutNote(90, 1), "time was up after 90 s of rounds") << "it has no rank to settle";
  EXPECT_NE(cutNote(90, 2, "--budget-minutes").find("`--budget-minutes`"), std::string::npos);
  EXPECT_LE(cutNote(35'999.9, 2).size(), 78U);
  EXPECT_EQ(times(formatConsole(table, {}), kNote), 3U);
  EXPECT_EQ(times(formatMarkdown(table, {}), kNote), 3U);
  EXPECT_EQ(times(formatHtml(table, {}), kNote), 3U);
  Result<const Column *> stopped = findColumn("stopped");
  ASSERT_TRUE(stopped.ok());
  for (const Row &row : table.rows)
    EXPECT_EQ(rawText((*stopped)->value(row)), row.estimate ? "time" : "");
}

TEST_F(CutGroups, RowsTellWhatTheirWorkersTook) {
  load(std::optional<double>());
  for (const Row &row : table.rows) {
    EXPECT_EQ(rawText((*findColumn("peak_memory_bytes"))->value(row)), "100663296");
    EXPECT_EQ(rawText((*findColumn("processes"))->value(row)), "4");
  }
}

TEST_F(CutGroups, OthersSayNothing) {
  load(std::optional<double>());
  EXPECT_EQ(times(formatConsole(table, {}), "time was up"), 0U);
  EXPECT_EQ(times(formatMarkdown(table, {}), "time was up"), 0U);
  EXPECT_EQ(times(formatHtml(table, {}), "time was up"), 0U);
  for (const Row &row : table.rows)
    EXPECT_EQ(rawText((*findColumn("stopped"))->value(row)), "");
}

// A run in which Kiln's default configuration has so much of the speed of the fastest of its others.
class DefaultConfiguration : public CutGroups {
protected:
  void loadWith(double speed) {
    store::testing::SampleOptions options;
    options.defaultSpeed = speed;
    options.failures = false;
    load(options);
    for (const Row &row : table.rows)
      if (row.isKilnsDefault())
        rows.push_back(&row);
    EXPECT_EQ(rows.size(), 3U);
  }
  void tieWithOthers() {
    const ProblemRows problem = byProblem(table).front();
    std::vector<const Row *> others;
    for (const Row *row = problem.begin; row != problem.end; ++row)
      if (row->ranked() && row->candidate->provider == "kiln" && !row->isKilnsDefault())
        others.push_back(row);
    for (store::CandidateEstimate &estimate : table.estimates)
      if (&estimate == rows.front()->estimate)
        estimate.ties = {others[1]->candidateKey, others[0]->candidateKey};
    EXPECT_EQ(defaultNote(problem),
              "Kiln's default configuration ties with the best other one found, " + others[0]->shortName());
  }
  double number(const Row &row, std::string_view column) {
    return std::get<Number>((*findColumn(column))->value(row)).value;
  }

  std::vector<const Row *> rows;
};

TEST_F(DefaultConfiguration, IsShownWithWhatItHasOfTheBestFound) {
  loadWith(0.69);
  for (const Row *row : rows)
    EXPECT_NEAR(number(*row, "best_kiln_ratio"), 0.69, 1e-9);
  constexpr std::string_view kSays = "Kiln's default configuration has 0.69 of the speed of the best found, kiln ";
  for (const ProblemRows &problem : byProblem(table)) {
    std::string note = defaultNote(problem);
    EXPECT_TRUE(note.starts_with(kSays)) << note;
    // The best is the first of Kiln's rows, and no library is meant.
    const Row *best = std::find_if(problem.begin, problem.end, [](const Row &row) { return row.provider() == "kiln"; });
    EXPECT_TRUE(note.ends_with(", " + best->shortName())) << note;
    EXPECT_EQ(number(*best, "best_kiln_ratio"), 1);
  }
  constexpr std::string_view kStart = "Kiln's default configuration has 0.69 of the speed of the best";
  EXPECT_EQ(times(formatConsole(table, {}), kStart), 3U);
  EXPECT_EQ(times(formatMarkdown(table, {}), kStart), 3U);
  EXPECT_EQ(times(formatHtml(table, {}), kStart), 3U);
}

TEST_F(DefaultConfiguration, MayBeTheBestFound) {
  loadWith(1.1);
  for (const Row *row : rows)
    EXPECT_EQ(number(*row, "best_kiln_ratio"), 1);
  EXPECT_EQ(defaultNote(byProblem(table).front()), "Kiln's default configuration is its fastest here");
}

// What cannot be told apart is called a tie, whichever of the two has the lower time.
TEST_F(DefaultConfiguration, MayTieFromBehind) {
  loadWith(0.59);
  tieWithOthers();
}

TEST_F(DefaultConfiguration, MayTieFromBefore) {
  loadWith(1.1);
  tieWithOthers();
}

TEST_F(CutGroups, WithoutADefaultConfigurationNothingIsSaidOfIt) {
  load(std::optional<double>());
  EXPECT_EQ(defaultNote(byProblem(table).front()), "");
}

} // namespace
} // namespace kiln::report
