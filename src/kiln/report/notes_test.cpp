#include "kiln/report/model/notes.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/testing/temporary_folder.h"

namespace kiln::report {
namespace {

// What is shown of a store whose groups time has cut short, or has not.
class CutGroups : public ::testing::Test {
protected:
  void load(std::optional<double> cutSeconds) {
    store::testing::SampleOptions options;
    options.cutSeconds = cutSeconds;
    std::string path = folder.file(cutSeconds ? "cut.db" : "whole.db");
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

  store::testing::TemporaryFolder folder;
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
  load({});
  for (const Row &row : table.rows) {
    EXPECT_EQ(rawText((*findColumn("peak_memory_bytes"))->value(row)), "100663296");
    EXPECT_EQ(rawText((*findColumn("processes"))->value(row)), "4");
  }
}

TEST_F(CutGroups, OthersSayNothing) {
  load({});
  EXPECT_EQ(times(formatConsole(table, {}), "time was up"), 0U);
  EXPECT_EQ(times(formatMarkdown(table, {}), "time was up"), 0U);
  EXPECT_EQ(times(formatHtml(table, {}), "time was up"), 0U);
  for (const Row &row : table.rows)
    EXPECT_EQ(rawText((*findColumn("stopped"))->value(row)), "");
}

} // namespace
} // namespace kiln::report
