// Reports of several runs say which one each table, warning and note is of.
#include "kiln/report/formats/runs.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kiln/base/testing/test_folder.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/model/notes.h"
#include "kiln/store/testing/sample_store.h"

#include "nlohmann/json.hpp"

namespace kiln::report {
namespace {

class Runs : public ::testing::Test {
protected:
  // The same sweep so many times, a day after another.
  Table load(int64_t runs) {
    std::string path = folder.file(runs == 1 ? "one.db" : "several.db");
    constexpr int64_t day = 86'400'000'000'000;
    Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(path, {});
    EXPECT_TRUE(writer.ok()) << writer.status().toString();
    for (int64_t i = 0; i < runs; ++i) {
      store::testing::SampleOptions options{.problems = 1, .rounds = 0, .interrupted = false};
      options.started += i * day;
      Status status = store::testing::fillSampleStore(**writer, options);
      EXPECT_TRUE(status.ok()) << status.toString();
    }
    writer->reset();
    Result<std::unique_ptr<store::Reader>> reader = store::Reader::open(path);
    EXPECT_TRUE(reader.ok()) << reader.status().toString();
    Filter filter;
    filter.allRuns = true;
    Result<Table> table = loadTable(**reader, filter);
    EXPECT_TRUE(table.ok()) << table.status().toString();
    for (store::StoredRun &run : table->runs)
      run.flags = R"({"machine":{"warning":"warning: others are at work: `kiln doctor`"}})";
    return *std::move(table);
  }
  static std::string written(Result<std::string> (*format)(const Table &, const FormatOptions &), const Table &table) {
    Result<std::string> text = format(table, {.width = 120});
    EXPECT_TRUE(text.ok());
    return *text;
  }
  TestFolder folder;
};

TEST_F(Runs, AreNamedAtEachTableAndWarning) {
  Table table = load(2);
  ASSERT_EQ(table.runs.size(), 2U);
  std::string console = written(formatConsole, table), markdown = written(formatMarkdown, table);
  std::string junit = written(formatJunit, table);
  for (const store::StoredRun &run : table.runs) {
    std::string name = runText(run);
    EXPECT_EQ(name, fmt::format("run {} of 2026-09-2{} 14:13:20 UTC, tags branch:main, note:a, \"b\"", shortKey(run),
                                &run == &table.runs[0] ? 1 : 2));
    EXPECT_NE(console.find("matmul_256x512x128_f32t_f32t_f32t\n  " + name + "\n"), std::string::npos) << console;
    EXPECT_NE(console.find("When run " + shortKey(run) + " of"), std::string::npos) << console;
    EXPECT_NE(markdown.find("## matmul\\_256x512x128\\_f32t\\_f32t\\_f32t (" + name + ")\n"), std::string::npos)
        << markdown;
    EXPECT_NE(markdown.find("When " + name + " began: warning: others are at work: `kiln doctor`\n"), std::string::npos)
        << markdown;
    EXPECT_NE(junit.find("<testsuite name=\"matmul_256x512x128_f32t_f32t_f32t (run " + shortKey(run)),
              std::string::npos)
        << junit;
    EXPECT_NE(junit.find("<property name=\"run\" value=\"" + run.key() + "\"/>"), std::string::npos);
  }
  EXPECT_NE(junit.find("timestamp=\"2026-09-21T14:13:20\""), std::string::npos);
  EXPECT_NE(junit.find("<property name=\"tag:note\" value=\"a, &quot;b&quot;\"/>"), std::string::npos);
}

TEST_F(Runs, AreNamedOnThePage) {
  Table table = load(2);
  std::string page = written(formatHtml, table);
  std::string_view start = "id=\"data\">";
  size_t begin = page.find(start) + start.size();
  nlohmann::json json =
      nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin), nullptr, false);
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json["problems"].size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(json["problems"][i]["run"], json["runs"][i]["key"]);
    EXPECT_EQ(json["problems"][i]["date"], json["runs"][i]["started"]);
    EXPECT_EQ(json["problems"][i]["tags"], "branch:main, note:a, \"b\"");
  }
  EXPECT_NE(json["runs"][0]["key"], json["runs"][1]["key"]);
}

TEST_F(Runs, ThoseWithoutARowAreNotWarnedOf) {
  Table table = load(2);
  std::erase_if(table.rows, [&](const Row &row) { return row.run == &table.runs[0]; });
  ASSERT_FALSE(table.rows.empty());
  for (const std::string &text :
       {written(formatConsole, table), written(formatMarkdown, table), written(formatHtml, table)}) {
    EXPECT_EQ(text.find(shortKey(table.runs[0])), std::string::npos) << text;
    EXPECT_NE(text.find(shortKey(table.runs[1])), std::string::npos) << text;
  }
  EXPECT_TRUE(severalRuns(table)) << "so that the run of the table is told";
}

TEST_F(Runs, OneRunIsNotTold) {
  Table table = load(1);
  EXPECT_NE(written(formatConsole, table).find("\nWhen it began: warning: others"), std::string::npos);
  EXPECT_EQ(written(formatConsole, table).find(shortKey(table.runs[0])), std::string::npos);
  EXPECT_NE(written(formatMarkdown, table).find("\n## matmul\\_256x512x128\\_f32t\\_f32t\\_f32t\n"), std::string::npos);
}

TEST_F(Runs, NotesSayWhichRunTheyAreOfWhereRunsDiffer) {
  Table table = load(2);
  EXPECT_EQ(std::ranges::count_if(providerNotes(table),
                                  [](const std::string &note) { return note.find("(run") != std::string::npos; }),
            0);
  for (store::CandidateResult &result : table.results)
    if (result.worker && !result.worker->note.empty() && result.group == table.rows.back().groupKey)
      result.worker->note = "another library";
  std::vector<std::string> notes = providerNotes(table);
  const std::string first = shortKey(table.runs[0]), second = shortKey(table.runs[1]);
  EXPECT_NE(std::ranges::find(notes, "onednn (run " + first + "): all tensors in the problem's layouts"), notes.end());
  EXPECT_NE(std::ranges::find(notes, "onednn (run " + second + "): another library"), notes.end());
}

} // namespace
} // namespace kiln::report
