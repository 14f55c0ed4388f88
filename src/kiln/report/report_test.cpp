// The model, the columns and all formats, over a store with made-up results.
#include "kiln/base/testing/test_folder.h"
#include "kiln/report/columns/columns.h"
#include "kiln/report/formats/formats.h"
#include "kiln/report/formats/text.h"
#include "kiln/report/model/table.h"
#include "kiln/store/testing/sample_store.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "nlohmann/json.hpp"

namespace kiln::report {
namespace {

template <typename T> T valueOf(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().toString();
  return result.ok() ? *std::move(result) : T();
}

// One store for all tests: they only read it.
class Report : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TestFolder>();
    Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(folder->file("results.db"), {});
    ASSERT_TRUE(writer.ok()) << writer.status().toString();
    Status status = store::testing::fillSampleStore(**writer, {});
    ASSERT_TRUE(status.ok()) << status.toString();
    const auto [node, hardware, allocation] = store::testing::sampleMachine().keys();
    const int64_t started = store::testing::SampleOptions().started;
    constexpr const char *kKnown = R"({"by_threads":[{"threads":1,"gflops":{"f32":80}},
                                      {"threads":2,"gflops":{"f32":170},"gb_per_s":20}]})";
    for (const store::Calibration &calibration :
         {store::Calibration{hardware, allocation, started - 2, R"({"threads":2,"gflops":{"f32":1}})"},
          store::Calibration{hardware, allocation, started - 1, kKnown},
          store::Calibration{hardware, allocation, store::unixNanoseconds() + 3'600'000'000'000,
                             R"({"threads":2,"gflops":{"f32":2}})"}}) {
      status = (*writer)->addCalibration(calibration);
      ASSERT_TRUE(status.ok()) << status.toString();
    }
  }
  static void TearDownTestSuite() { folder.reset(); }
  void SetUp() override { reader = valueOf(store::Reader::open(folder->file("results.db"))); }

  Table load(const Filter &filter = {}) { return valueOf(loadTable(*reader, filter)); }
  static Value valueIn(const Row &row, std::string_view column) { return valueOf(findColumn(column))->value(row); }
  static double numberIn(const Row &row, std::string_view column) {
    Value value = valueIn(row, column);
    const Number *number = std::get_if<Number>(&value);
    return number ? number->value : -1;
  }
  static std::string textIn(const Row &row, std::string_view column) { return rawText(valueIn(row, column)); }

  static inline std::unique_ptr<TestFolder> folder;
  std::unique_ptr<store::Reader> reader;
};

std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// A CSV reader by the letter of RFC 4180.
std::vector<std::vector<std::string>> parseCsv(std::string_view text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string cell;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      rows.back().push_back(std::exchange(cell, {}));
      if (c == '\n')
        rows.emplace_back();
    } else {
      cell += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST_F(Report, RowsAreInTheOrderOfRanksAndFailuresLast) {
  Table table = load();
  EXPECT_EQ(table.rows.size(), 3U * 16);
  EXPECT_EQ(table.unfinished.size(), 1U);
  std::vector<ProblemRows> problems = byProblem(table);
  ASSERT_EQ(problems.size(), 3U) << "the interrupted one has no results";
}

TEST_F(Report, ColumnsDeriveWhatTheySay) {
  Table table = load();
  const Row *vendor = nullptr;
  for (const Row &row : table.rows)
    if (row.group == table.rows[0].group && row.provider() == "onednn (preferred layout)")
      vendor = &row;
  ASSERT_NE(vendor, nullptr);
  EXPECT_EQ(vendor->estimate, vendor->bestVendor);
  EXPECT_EQ(numberIn(*vendor, "best_percent"), 100);
  EXPECT_NEAR(numberIn(*vendor, "peak_percent"), 62 / 0.97, 0.5);
  EXPECT_NEAR(numberIn(*vendor, "GFLOPs"), 170 * 0.62 / 0.97, 0.5);
  EXPECT_NEAR(numberIn(*vendor, "Runtime(ms)") * 1e6, vendor->estimate->median, 1e-6);
  EXPECT_EQ(textIn(*vendor, "device_median_ns"), "");
  for (const Row &row : table.rows) {
    if (row.candidate->provider != "kiln" || !row.configuration)
      continue;
    EXPECT_EQ(textIn(row, "tile_m"), std::to_string(row.configuration->m));
    EXPECT_EQ(textIn(row, "instruction_class"), "fma");
    EXPECT_EQ(textIn(row, "pack"), row.configuration->packB ? "b" : "");
    EXPECT_EQ(textIn(row, "cluster"), "");
    EXPECT_EQ(textIn(row, "register_tile"), "6x32");
    if (row.ranked()) {
      double best = numberIn(row, "best_percent");
      EXPECT_NEAR(best, row.bestVendor->median / row.estimate->median * 100, 1e-9);
      EXPECT_GT(numberIn(row, "device_median_ns"), 0);
    }
  }
}

// As stores of earlier versions hold them, and as this one writes where there is none.
TEST_F(Report, ARatioWhoseIntervalSaysNothingHasNone) {
  Table table = load();
  Row row = table.rows[1];
  ASSERT_TRUE(row.ranked());
  EXPECT_NE(textIn(row, "ratio_low"), "");
  store::CandidateEstimate estimate = *row.estimate;
  row.estimate = &estimate;
  for (auto [low, high] : {std::pair(1e-30, 1e30), std::pair(0.0, 1e9)}) {
    estimate.ratioLow = low;
    estimate.ratioHigh = high;
    EXPECT_EQ(textIn(row, "ratio_low"), "");
    EXPECT_EQ(textIn(row, "ratio_high"), "");
    EXPECT_NE(textIn(row, "ratio"), "");
  }
}

TEST_F(Report, ATimeIsNoisyByTheLargerSideOfItsInterval) {
  EXPECT_FALSE(isNoisy({.median = 100, .low = 81, .high = 119}));
  EXPECT_TRUE(isNoisy({.median = 100, .low = 95, .high = 125}));
  EXPECT_TRUE(isNoisy({.median = 100, .low = 75, .high = 105}));
}

TEST_F(Report, ColumnsWithoutRoomAreNamedWithTheWidthThatShowsThem) {
  Table table = load();
  const std::string text = valueOf(formatConsole(table, {.width = 80}));
  const size_t at = text.find("\nno room for Samples, ");
  ASSERT_NE(at, text.npos) << text;
  EXPECT_EQ(text.find("no room for", at + 2), text.npos) << "problem after problem would say it again";
  const std::string columns = "COLUMNS=";
  const size_t width = std::stoul(text.substr(text.find(columns, at) + columns.size()));
  const std::string wide = valueOf(formatConsole(table, {.width = std::max<size_t>(width, 200)}));
  EXPECT_EQ(wide.find("no room for"), wide.npos) << wide;
  EXPECT_NE(wide.find("Samples"), wide.npos);
  for (auto write : {formatCsv, formatJson, formatMarkdown})
    EXPECT_EQ(valueOf(write(table, {.width = 80})).find("no room for"), std::string::npos);
}

TEST(Unfinished, ProblemsThatWereNeverBegunCount) {
  TestFolder folder;
  const std::string path = folder.file("results.db");
  {
    Result<std::unique_ptr<store::Writer>> writer = store::Writer::open(path, {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(store::testing::fillSampleStore(**writer, {.rounds = 0, .planned = 10}).ok());
  }
  std::unique_ptr<store::Reader> reader = valueOf(store::Reader::open(path));
  Table table = valueOf(loadTable(*reader, {}));
  EXPECT_EQ(table.unfinished.size(), 1U);
  EXPECT_EQ(table.notBegun, 6U) << "of 10, 3 are finished and one is begun";
  EXPECT_NE(
      valueOf(formatConsole(table, {})).find("7 problems are not finished; the same sweep, run again, measures them"),
      std::string::npos);
}

TEST_F(Report, WithoutACalibrationNothingIsSaidOfThePeak) {
  Table table = load(); // a row points into it
  Row row = table.rows.front();
  EXPECT_NE(textIn(row, "peak_percent"), "");
  row.peakGigaflops.reset();
  EXPECT_EQ(textIn(row, "peak_percent"), "");
}

// A device's ceilings and the CPU's are stored side by side, in any order, and each run has its own.
TEST(Peaks, AreThoseOfTheRunsDevice) {
  for (const char *device : {"", "Fast 9000 (cuda://0)", "Fast 9000 (cuda://1)"}) {
    TestFolder folder;
    const std::string path = folder.file("results.db");
    std::unique_ptr<store::Writer> writer = valueOf(store::Writer::open(path, {}));
    store::testing::SampleOptions options;
    options.device = device;
    ASSERT_TRUE(store::testing::fillSampleStore(*writer, options).ok());
    const auto [node, hardware, allocation] = store::testing::sampleMachine().keys();
    const std::string ofDevice = nlohmann::json{{"device", "Fast 9000 (cuda://0)"},
                                                {"by_threads", {{{"threads", 2}, {"gflops", {{"f32", 50000}}}}}}}
                                     .dump();
    ASSERT_TRUE(writer->addCalibration({hardware, allocation, options.started - 2, ofDevice}).ok());
    ASSERT_TRUE(
        writer->addCalibration({hardware, allocation, options.started - 1, R"({"threads":2,"gflops":{"f32":170}})"})
            .ok());
    writer.reset();
    std::unique_ptr<store::Reader> reader = valueOf(store::Reader::open(path));
    const Table table = valueOf(loadTable(*reader, {}));
    std::set<double> peaks;
    for (const Row &row : table.rows)
      if (row.elementType() == "f32" && row.candidate->threads == 2)
        peaks.insert(row.peakGigaflops.value_or(0));
    const std::string_view name = device;
    EXPECT_EQ(peaks, std::set<double>({name.empty() ? 170.0 : name.ends_with("0)") ? 50000.0 : 0.0})) << name;
  }
}

TEST_F(Report, CountersAreOfOneCall) {
  Table table = load();
  size_t counted = 0;
  for (const Row &row : table.rows) {
    if (!row.estimate)
      continue;
    bool isKiln = row.candidate->provider == "kiln";
    counted += isKiln;
    EXPECT_EQ(textIn(row, "counters"), isKiln ? "cycles, instructions, cache misses, FLOPs" : "not available");
    EXPECT_EQ(numberIn(row, "instructions_per_cycle"), isKiln ? 2 : -1);
    EXPECT_EQ(numberIn(row, "cache_misses_per_call"), isKiln ? 64 : -1);
    EXPECT_EQ(numberIn(row, "counted_flops_per_cycle"), isKiln ? 16 : -1);
    if (isKiln) {
      EXPECT_NEAR(numberIn(row, "cycles_per_call"), row.estimate->median * 3, row.estimate->median * 0.1);
      EXPECT_EQ(numberIn(row, "instructions_per_call"), numberIn(row, "cycles_per_call") * 2);
    }
  }
  EXPECT_GT(counted, 0U);
}

TEST_F(Report, ARankWhoseTimeIsNotKnownIsNoCrispOne) {
  Table table = load();
  auto leader = std::ranges::find_if(table.rows, [](const Row &row) { return row.ranked(); });
  ASSERT_NE(leader, table.rows.end());
  store::CandidateEstimate estimate = *leader->estimate;
  estimate.ties.clear();
  leader->estimate = &estimate;
  for (double half : {0.19, 0.21}) {
    estimate.low = estimate.median * (1 - half);
    estimate.high = estimate.median * (1 + half);
    bool noisy = half > 0.2;
    EXPECT_EQ(displayText(valueIn(*leader, "rank"), Unit::Rank), fmt::format("{}{}", estimate.rank, noisy ? "~" : ""));
    EXPECT_EQ(textIn(*leader, "noise"), noisy ? "noisy" : "");
    std::string text = valueOf(formatConsole(table, {.width = 120}));
    EXPECT_EQ(text.find("noisy") != std::string::npos, noisy);
  }
  estimate.ties = {"another"};
  EXPECT_EQ(displayText(valueIn(*leader, "rank"), Unit::Rank), fmt::format("{}=~", estimate.rank)) << "tied and noisy";
  EXPECT_NE(valueOf(formatConsole(table, {.width = 120})).find("ranks with ~"), std::string::npos);
  // The footer speaks of ranks, and this row has none.
  estimate.rank = 0;
  EXPECT_EQ(valueOf(formatConsole(table, {.width = 120})).find("ranks with ~"), std::string::npos);
}

TEST_F(Report, ColumnsHaveNamesOfTheirOwnAndSayWhatTheyMean) {
  std::set<std::string_view> names;
  for (const Column &column : columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_TRUE(column.docs.ends_with('.')) << column.name;
    EXPECT_FALSE(column.header.empty()) << column.name;
    EXPECT_GT(column.width, 0) << column.name;
  }
  Status status = findColumn("rnak").status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_NE(status.message().find("did you mean"), std::string::npos);
}

TEST_F(Report, FiltersChooseRows) {
  EXPECT_EQ(load({.provider = "openblas"}).rows.size(), 3U);
  EXPECT_EQ(load({.problem = "_256x512x"}).rows.size(), 16U);
  EXPECT_EQ(load({.problem = "_256x512x", .provider = "onednn", .variant = ""}).rows.size(), 1U);
  for (const Row &row : load({.dispatch = "tile_config_96x.*packb"}).rows)
    EXPECT_EQ(row.configuration->m, 96);
  Table openblas = load({.provider = "openblas"});
  EXPECT_NE(openblas.rows[0].bestVendor, openblas.rows[0].estimate) << "what is not shown still counts";
  EXPECT_EQ(loadTable(*reader, {.problem = "("}).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(loadTable(*reader, {.runs = {"nothing"}}).status().code(), StatusCode::NotFound);
}

TEST_F(Report, RunsThatAreNotShownAreTold) {
  Table table = load();
  EXPECT_EQ(valueOf(formatConsole(table, {.width = 200})).find("more run"), std::string::npos);
  std::string text = valueOf(formatConsole(table, {.width = 200, .otherRuns = 1}));
  EXPECT_TRUE(text.ends_with("; 1 more run is in the store: --run=NAME or --all-runs shows it\n")) << text;
  EXPECT_NE(text.find("\nrun " + table.runs.front().key().substr(0, 8) + " of "), std::string::npos) << text;
}

TEST_F(Report, ColumnsAreFoundByWhatTheTableCallsThem) {
  EXPECT_EQ(valueOf(findColumn("Right?"))->name, "checked");
  EXPECT_EQ(valueOf(findColumn("x leader"))->name, "ratio");
  EXPECT_TRUE(findColumn("what it is like").status().message().ends_with("; --columns=help lists them"));
}

TEST_F(Report, WhetherResultsAreRightIsShownWhereThereIsLittleRoom) {
  std::string text = valueOf(formatConsole(load(), {.width = 80}));
  EXPECT_NE(linesOf(text)[2].find("Right?"), std::string::npos) << text;
}

TEST_F(Report, SeedsAreWhatTheFlagTakes) {
  Table table = load();
  store::StoredRun run = *table.rows[0].run;
  run.seed = 0xF000'0000'0000'0001;
  table.rows[0].run = &run;
  EXPECT_EQ(textIn(table.rows[0], "seed"), "17293822569102704641");
}

TEST_F(Report, AWholeNameOfSeveralRowsAsksForTheirKey) {
  Table table = load();
  Table twice;
  twice.rows = {table.rows[0], table.rows[0]};
  Status status = findRow(twice, table.rows[0].dispatch()).status();
  EXPECT_NE(status.message().find("2 rows are '" + table.rows[0].dispatch() +
                                  "'; give the key of one, or its run with --run:"),
            std::string::npos)
      << status.message();
}

TEST_F(Report, RowsAreFoundByNames) {
  Table table = load();
  for (const Row &row : {table.rows[0], table.rows[20]}) {
    EXPECT_EQ(valueOf(findRow(table, row.name()))->candidateKey, row.candidateKey);
    EXPECT_EQ(valueOf(findRow(table, row.dispatch()))->candidateKey, row.candidateKey);
  }
  EXPECT_EQ(findRow(table, "zz").status().code(), StatusCode::NotFound);
  Status several = findRow(table, table.rows[0].name().substr(0, 8)).status();
  EXPECT_NE(several.message().find("rows are"), std::string::npos) << several.message();
}

TEST_F(Report, TheCsvStartsWithTheDocumentsColumns) {
  Table table = load();
  std::string text = valueOf(formatCsv(table, {}));
  EXPECT_TRUE(text.starts_with("branch,note,Provider,op_kind,Operation,bytes,flops,batch_count,m,n,k,lhs,rhs,result,"
                               "split_k_mode,split_k_slices,Tile config,Core class,Instruction class,Verification,"
                               "Runtime(ms),GFLOPs,"))
      << text.substr(0, 300);
  std::vector<std::vector<std::string>> rows = parseCsv(text);
  ASSERT_EQ(rows.size(), table.rows.size() + 1);
  for (const std::vector<std::string> &row : rows)
    EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][1], "a, \"b\"");
  EXPECT_EQ(rows[1][3], "OperationKind.Matmul");
  // All digits: the number comes back as it was.
  EXPECT_EQ(std::strtod(rows[1][20].c_str(), nullptr), table.rows[0].estimate->median / 1e6);
}

TEST_F(Report, CsvAppendsToAFileOfTheSameColumns) {
  Table table = load();
  std::string whole = valueOf(formatCsv(table, {}));
  std::string more = valueOf(appendCsv(table, {}, whole));
  EXPECT_EQ(parseCsv(whole + more).size(), 2 * table.rows.size() + 1);
  EXPECT_EQ(valueOf(appendCsv(table, {}, "")), whole);
  EXPECT_EQ(appendCsv(table, {}, "Provider,other\n").status().code(), StatusCode::FailedPrecondition);
  EXPECT_EQ(valueOf(formatCsv(table, {.columns = {"rank", "provider"}})).substr(0, 26), "branch,note,rank,provider\n");
  EXPECT_FALSE(formatCsv(table, {.columns = {"nonsense"}}).ok());
  EXPECT_EQ(formatCsv(table, {.columns = {"rank", "provider", "rank"}}).status().message(),
            "column 'rank' is named twice; write each once");
}

TEST_F(Report, JsonHasAllDigitsAndIsJson) {
  Table table = load();
  nlohmann::json json = nlohmann::json::parse(valueOf(formatJson(table, {})), nullptr, false);
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json["rows"].size(), table.rows.size());
  EXPECT_EQ(json["rows"][0]["call_median_ns"].get<double>(), table.rows[0].estimate->median);
  EXPECT_EQ(json["rows"][0]["rank"], 1);
  EXPECT_EQ(json["runs"][0]["tags"]["branch"], "main");
  EXPECT_EQ(json["runs"][0]["seed"].get<uint64_t>(), UINT64_MAX);
  bool explained = false;
  for (const auto &row : json["rows"])
    explained |= row["outcome"] == "incorrect" && row["verification_details"]["wrong"] == 768;
  EXPECT_TRUE(explained);
}

TEST_F(Report, TheConsoleFitsItsWidth) {
  Table table = load();
  for (size_t width : {40, 60, 80, 120, 200}) {
    std::string text = valueOf(formatConsole(table, {.width = width}));
    for (const std::string &line : linesOf(text))
      EXPECT_LE(displayWidth(line), std::max<size_t>(width, 46)) << line;
  }
  std::string text = valueOf(formatConsole(table, {}));
  for (const char *words : {"Rank", "2=", "onednn (preferred layout)", "incorrect: kiln",
                            "dropped tail: the last 3 columns", "crashed: kiln", "signal 11", "unsupported: kiln", "µs",
                            "%best", "cannot be told apart", "1 problem is not finished"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  std::string wide = valueOf(formatConsole(table, {.width = 200}));
  for (const char *words : {"Device", "Launch", "p10", "GB/s", "%peak"})
    EXPECT_NE(wide.find(words), std::string::npos) << words;
}

// How often `part` is in the text.
static size_t countOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_F(Report, AFailureIsToldOnce) {
  Table table = load();
  size_t wrong = 0;
  for (const Row &row : table.rows)
    wrong += row.result->outcome == Outcome::Wrong;
  ASSERT_EQ(wrong, 3U);
  constexpr std::string_view said = "dropped tail: the last 3 columns of each row are 0";
  EXPECT_EQ(countOf(valueOf(formatConsole(table, {.width = 300})), said), wrong);
  std::string page = valueOf(formatHtml(table, {}));
  EXPECT_EQ(countOf(page, "\"why\":\"pass 'sums': dropped tail: the last 3 columns"), wrong);

  // Rows that fail in the same way have one explanation.
  Row &first = table.rows.front();
  Table same;
  same.rows = {first, first, first};
  store::CandidateResult result;
  result.outcome = Outcome::Failed;
  result.error = "it does not compile";
  for (Row &row : same.rows) {
    row.result = &result;
    row.estimate = nullptr;
  }
  std::string text = valueOf(formatConsole(same, {}));
  EXPECT_EQ(countOf(text, "failed: "), 3U) << text;
  EXPECT_EQ(countOf(text, first.name()), 3U) << text;
  EXPECT_EQ(countOf(text, "it does not compile"), 1U) << text;
}

TEST(FirstPart, EndsWhereTheSentenceHasAPart) {
  EXPECT_EQ(firstPart("x: failed: all of it", 80), "x: failed: all of it");
  EXPECT_EQ(firstPart("x: failed: pass 'sums': dropped tail: 3 of 4 are wrong", 45),
            "x: failed: pass 'sums': dropped tail …");
  EXPECT_EQ(firstPart("x: failed\nmore", 80), "x: failed …");
  EXPECT_EQ(firstPart(std::string(100, 'y'), 10), "yyyyyyyy …");
}

// What programs wrote: a note and an error with lines, escape sequences and a word that no terminal has room for.
TEST_F(Report, WhatProgramsWroteStaysInItsPlace) {
  Table table = load();
  table.rows.resize(2);
  const std::string said = "one\n\x1b[31mtwo\x1b[0m\r\n" + std::string(200, 'x') + "\tthree\x07 \xff";
  store::CandidateResult failed = *table.rows[1].result, noted = *table.rows[0].result;
  failed.outcome = Outcome::Failed;
  failed.error = said;
  failed.worker.reset();
  noted.worker->note = said;
  table.rows[0].result = &noted;
  table.rows[1].result = &failed;
  table.rows[1].estimate = nullptr;
  std::string console = valueOf(formatConsole(table, {.width = 60}));
  for (const std::string &line : linesOf(console))
    EXPECT_LE(displayWidth(line), 60U) << line;
  EXPECT_NE(console.find("      one\n      \\x1b[31mtwo\\x1b[0m\n      xxx"), std::string::npos) << console;
  EXPECT_NE(console.find(": one\n  \\x1b[31mtwo\\x1b[0m\n  xxx"), std::string::npos) << console;
  EXPECT_NE(console.find("x three\\x07 \\xff\n"), std::string::npos) << console;
  std::string block = blockOf(table.rows[1], 60);
  EXPECT_NE(block.find("\nOutcome       : failed: one\n                \\x1b[31mtwo\\x1b[0m\n                xxx"),
            std::string::npos)
      << block;
  for (const std::string &line : linesOf(block))
    EXPECT_TRUE(line.size() <= 60 || line.find("xx") == std::string::npos) << line;
  for (const std::string &text :
       {console, block, blockOf(table.rows[1]), valueOf(formatBlocks(table, {})), valueOf(formatMarkdown(table, {})),
        firstPart("\x1b[2Jgone", 80), hangingText("", plainText(said), 80, 2)})
    EXPECT_TRUE(std::ranges::none_of(text, [](char c) { return c != '\n' && (c == 0x7F || (c >= 0 && c < ' ')); }))
        << text;
}

TEST(PlainText, KeepsCharactersAndWritesControlsOut) {
  EXPECT_EQ(plainText("62.1 µs ± 1 … 日本 😀"), "62.1 µs ± 1 … 日本 😀");
  EXPECT_EQ(plainText("a\tb\r\nc\rd\x7f"), "a b\nc\nd\\x7f");
  EXPECT_EQ(plainText("\xc2\x9b\xe2\x82\x80\xc3"), "\\x9b\xe2\x82\x80\\xc3");
  EXPECT_EQ(plainText("\xe0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(plainText("\xed\xa0\x80 \xf4\x90\x80\x80"), "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
  EXPECT_EQ(plainLine("a\nb"), "a b");
}

TEST(PlainText, WritesOutWhatTurnsTheRestOfALineRound) {
  EXPECT_EQ(plainText("1.0\u202egnp.exe"), "1.0\\u202egnp.exe");
  EXPECT_EQ(plainText("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u2066\u2067\u2068\u2069"),
            "\\u061c\\u200e\\u200f\\u202a\\u202b\\u202c\\u202d\\u2066\\u2067\\u2068\\u2069");
  EXPECT_EQ(plainText("a\u2028b\u2029"), "a\\u2028b\\u2029") << "separators of lines and paragraphs";
  EXPECT_EQ(plainText("\u200d\u2010\u202f\u2065\u206a\u061b"), "\u200d\u2010\u202f\u2065\u206a\u061b");
}

TEST(QuotedCsv, HoldsNoFormulas) {
  for (const char *formula : {"=cmd|' /C calc'!A0", "+1+cmd|x", "-2+3", "@SUM(A1)", "--cmd|' /C calc'!A0",
                              "-HYPERLINK(1)", "--HYPERLINK(1)", "="})
    EXPECT_EQ(quotedCsv(formula), "'" + std::string(formula));
  EXPECT_EQ(quotedCsv("=A1,\"x\""), "\"'=A1,\"\"x\"\"\"");
  for (const char *plain : {"-5", "-1.5e-9", "+3", "-inf", "", "--kiln-opt-level=O2 --x", "a=b", "1-2", "µs"})
    EXPECT_EQ(quotedCsv(plain), plain);
  EXPECT_EQ(quotedCsv("a\x1b[2J\u202eb"), "a\\x1b[2J\\u202eb");
}

// What a store says may come from anywhere: names and tags, too.
TEST_F(Report, NoTextOfAStoreReachesATerminalAsItIs) {
  Table table = load();
  store::StoredRun run = *table.rows[0].run;
  run.tags = {{"a\x1b", "\u202e"}, {"b", "=1+1"}};
  store::Problem problem = *table.rows[0].problem;
  problem.name += "\x1b[2J\u202e";
  store::Candidate candidate = *table.rows[0].candidate;
  candidate.provider = "\x1b[2J";
  candidate.providerVersion = "=cmd|' /C calc'!A0";
  table.runs = {run};
  for (Row &row : table.rows) {
    row.run = &table.runs.front();
    row.problem = &problem;
  }
  table.rows[0].candidate = &candidate;
  for (const std::string &text :
       {valueOf(formatConsole(table, {.width = 100})), valueOf(formatBlocks(table, {})), valueOf(formatCsv(table, {})),
        valueOf(formatMarkdown(table, {})), valueOf(formatJunit(table, {}))}) {
    EXPECT_EQ(text.find('\x1b'), text.npos) << text.substr(0, 500);
    EXPECT_EQ(text.find("\u202e"), text.npos) << text.substr(0, 500);
  }
  std::string csv = valueOf(formatCsv(table, {}));
  EXPECT_NE(csv.find("a\\x1b,b,"), csv.npos);
  EXPECT_NE(csv.find(",'=cmd|' /C calc'!A0,"), csv.npos);
  EXPECT_NE(csv.find("\n\\u202e,'=1+1,"), csv.npos);
}

TEST(HangingText, StaysWithinItsWidth) {
  EXPECT_EQ(hangingText("", "one two three four five six", 22, 2), "one two three four\n  five six");
  EXPECT_EQ(hangingText("name  ", "one two three four five six", 26, 6), "name  one two three four\n      five six");
}

TEST_F(Report, BlocksAreTheDocuments) {
  std::vector<std::pair<std::string, std::string>> fields = {{"m", "3456"},   {"n", "1024"},   {"k", "2048"},
                                                             {"lhs", "f16t"}, {"rhs", "f16t"}, {"result", "f16t"}};
  store::Problem problem{"matmul_3456x1024x2048_f16t_f16t_f16t", "matmul", fields, 14495514624.0, 0};
  store::Candidate candidate{problem.name, "kiln", "", "tile_config_128x128_32x5_tensorcore_mmasync"};
  store::CandidateResult result;
  result.verification.method = "exact";
  store::CandidateEstimate estimate;
  estimate.median = 62000;
  Row row;
  row.problem = &problem;
  row.candidate = &candidate;
  row.result = &result;
  row.estimate = &estimate;
  EXPECT_EQ(blockOf(row),
            "Dispatch      : matmul_3456x1024x2048_f16t_f16t_f16t_tile_config_128x128_32x5_tensorcore_mmasync\n"
            "Provider      : Kiln Codegen\n"
            "OpKind        : OperationKind.Matmul\n"
            "Operation     : matmul_3456x1024x2048_f16t_f16t_f16t\n"
            "Configuration : tile_config_128x128_32x5_tensorcore_mmasync\n"
            "Arguments     : --batch_count=1 --m=3456 --n=1024 --k=2048 --lhs=f16t --rhs=f16t --result=f16t\n"
            "                --split_k_mode=N/A --split_k_slices=N/A\n"
            "Verification  : SUCCESS\n"
            "Runtime(ms)   : 0.062\n"
            "GFLOPs        : 233798.62\n");
  result.verification.method.clear();
  row.estimate = nullptr;
  std::string text = blockOf(row);
  EXPECT_NE(text.find("Verification  : Not verified\nRuntime(ms)   : Not profiled\n"), std::string::npos) << text;
  row.configuration = valueOf(TileConfig::parse(candidate.configuration));
  EXPECT_EQ(textIn(row, "Tile config"), "128x128_32x5");
  EXPECT_EQ(textIn(row, "Core class"), "tensorcore");
  EXPECT_EQ(textIn(row, "Instruction class"), "mmasync");
  EXPECT_EQ(valueOf(formatBlocks(load(), {})).substr(0, 65), kBlockSeparator);
}

TEST_F(Report, JunitCountsAndEscapes) {
  std::string text = valueOf(formatJunit(load(), {.title = "a < b & \"c\"\x01"}));
  EXPECT_TRUE(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"a &lt; b &amp; "
                               "&quot;c&quot;\\x01\" tests=\"48\" failures=\"3\" errors=\"6\" skipped=\"3\">"))
      << text.substr(0, 200);
  EXPECT_NE(text.find("<failure type=\"incorrect\" message=\"dropped tail\">"), std::string::npos);
}

TEST_F(Report, MarkdownHasATableForEachProblem) {
  std::string text = valueOf(formatMarkdown(load(), {}));
  EXPECT_EQ(std::count(text.begin(), text.end(), '#'), 1 + 2 * 3);
  for (const std::string &line : linesOf(text))
    EXPECT_EQ(line.starts_with("|"), line.ends_with("|")) << line;
}

// A provider refuses problem after problem for the same reason.
TEST_F(Report, ReasonsOfUnsupportedRowsAreToldOnce) {
  Table table = load();
  std::deque<store::CandidateResult> results;
  for (Row &row : table.rows)
    if (row.candidate->provider == "onednn" || row.candidate->provider == "openblas") {
      store::CandidateResult &result = results.emplace_back(*row.result);
      result.outcome = Outcome::Unsupported;
      result.error = row.candidate->provider + " has no such function";
      row.result = &result;
      row.estimate = nullptr;
    }
  const std::string text = valueOf(formatConsole(table, {}));
  for (const char *reason : {"onednn has no such function", "openblas has no such function"}) {
    const size_t at = text.find(reason);
    ASSERT_NE(at, text.npos) << text;
    EXPECT_EQ(text.find(reason, at + 1), text.npos) << text;
  }
  const size_t first = text.find("\n  unsupported, as said above: onednn");
  ASSERT_NE(first, text.npos) << text;
  EXPECT_NE(text.substr(first, text.find('\n', first + 1) - first).find(", openblas"), text.npos) << text;
  EXPECT_NE(text.find("\n  unsupported, as said above: onednn", first + 1), text.npos) << "the third problem's";
}

// What a provider says of itself is told once, wherever notes of rows are shown.
TEST_F(Report, NotesOfProvidersAreShown) {
  const std::string note = "onednn: all tensors in the problem's layouts";
  Table table = load();
  auto times = [](std::string_view text, std::string_view part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(times(valueOf(formatConsole(table, {})), "\n" + note + "\n"), 1U);
  EXPECT_EQ(times(valueOf(formatMarkdown(table, {})), "\n- " + note + "\n"), 1U);
  EXPECT_EQ(times(valueOf(formatHtml(table, {})), "\"" + note + "\""), 1U);
  nlohmann::json json = nlohmann::json::parse(valueOf(formatJson(table, {})), nullptr, false);
  for (const auto &row : json["rows"])
    EXPECT_EQ(row.contains("provider_note"), row["provider"].get<std::string>().starts_with("onednn"));
  // A provider none of whose rows counts has nothing to say of those that do.
  store::CandidateResult unsupported = *table.rows.back().result;
  unsupported.outcome = Outcome::Unsupported;
  unsupported.worker = store::WorkerFacts{"onednn", "1.0", "all tensors in the problem's layouts", 0, 0};
  for (Row &row : table.rows)
    if (row.candidate->provider == "onednn") {
      row.result = &unsupported;
      row.estimate = nullptr;
    }
  EXPECT_EQ(times(valueOf(formatConsole(table, {})), note), 0U);
  EXPECT_EQ(times(valueOf(formatMarkdown(table, {})), "- " + note), 0U);
}

TEST_F(Report, ThePageHoldsItsDataAndNothingFromElsewhere) {
  Table table = load();
  FormatOptions options{.title = "</title><script>alert(1)</script>"};
  options.distributions = valueOf(loadDistributions(*reader, table));
  std::string page = valueOf(formatHtml(table, options));
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a placeholder is left";
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  for (const char *outside : {"src=\"", "href=\"http", "@import", "url(", "fetch("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  std::string_view start = "id=\"data\">";
  size_t begin = page.find(start) + start.size(), end = page.find("</script>", begin);
  nlohmann::json json = nlohmann::json::parse(page.substr(begin, end - begin), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["problems"].size(), 3U);
  const auto &best = json["problems"][0]["rows"][0];
  EXPECT_EQ(best["cells"].size(), json["columns"].size());
  ASSERT_EQ(best["samples"]["q"].size(), 51U);
  EXPECT_EQ(best["samples"]["r"].size(), 4U);
  EXPECT_LE(best["samples"]["q"][0].get<double>(), best["ns"].get<double>());
}

TEST_F(Report, FormatsAreFoundByNameAndExtension) {
  Table table = load();
  for (const Format &format : formats()) {
    EXPECT_EQ(valueOf(findFormat(format.name)), &format);
    EXPECT_EQ(valueOf(formatOfFile(fmt::format("a/b{}", format.extension))), &format);
    EXPECT_FALSE(valueOf(format.write(table, {})).empty()) << format.name;
  }
  EXPECT_EQ(findFormat("pdf").status().code(), StatusCode::NotFound);
  EXPECT_EQ(formatOfFile("x.pdf").status().code(), StatusCode::NotFound);
  EXPECT_EQ(valueOf(formatFor("x.json", "csv"))->name, "csv") << "what was asked for";
  EXPECT_EQ(valueOf(formatFor("x.pdf", "csv"))->name, "csv");
  EXPECT_EQ(valueOf(formatFor("x.json", ""))->name, "json");
  EXPECT_EQ(formatFor("x.json", "pdf").status().code(), StatusCode::NotFound);
}

TEST(Text, NumbersHaveNoMoreDigitsThanTheirIntervalsJustify) {
  EXPECT_EQ(roundedText(62.1234, 0.5), "62.1");
  EXPECT_EQ(roundedText(62.1234, 0.13), "62.12");
  EXPECT_EQ(roundedText(62.1234, 3), "62");
  EXPECT_EQ(roundedText(1234.5, 120), "1230");
  EXPECT_EQ(roundedText(1234.5, 500), "1200");
  EXPECT_EQ(roundedText(1234567.8, 0.001), "1234570") << "six digits are enough for a reader";
  EXPECT_EQ(roundedText(1.5, 100), "2") << "an error larger than the number leaves one digit";
  EXPECT_EQ(roundedText(123.456, -1), "123") << "unknown: three digits";
  EXPECT_EQ(roundedText(100, 0), "100");
  EXPECT_EQ(roundedText(0.25, 0), "0.25");
  EXPECT_EQ(roundedText(0, 1), "0");
  EXPECT_EQ(roundedText(-0.0123456, 0.0003), "-0.0123");
  EXPECT_EQ(durationText(62123, 500), "62.1 µs");
  EXPECT_EQ(durationText(950, 10), "950 ns");
  EXPECT_EQ(durationText(1.2e9, -1), "1.20 s");
  EXPECT_EQ(rawText(Number{0.1, 0}), "0.1");
  EXPECT_EQ(rawText(Number{33554432, 0}), "33554432");
  EXPECT_EQ(rawText(Ranking{2, true}), "2=");
}

TEST(Text, PercentsHaveOneDigitAfterThePoint) {
  EXPECT_EQ(displayText(Number{47.987, 0.001}, Unit::Percent), "48.0");
  EXPECT_EQ(displayText(Number{47.987, 3}, Unit::Percent), "48");
  EXPECT_EQ(displayText(Number{100, 0}, Unit::Percent), "100");
  EXPECT_EQ(displayText(Number{0.04, -1}, Unit::Percent), "<0.1");
  EXPECT_EQ(displayText(Number{0.42, -1}, Unit::Percent), "0.4");
}

TEST(Text, CellsFit) {
  EXPECT_EQ(fitText("tile_config_96x128", 8), "tile…128");
  EXPECT_EQ(fitText("µµµµ", 4), "µµµµ");
  EXPECT_EQ(fitText("µµµµ", 3), "µ…µ");
  EXPECT_EQ(fitText("abc", 0), "");
  EXPECT_EQ(padText("µs", 4, true), "  µs");
  EXPECT_EQ(wrapText("one two  three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapText("", 7).size(), 1U);
  // The lines of a traceback stay below each other.
  EXPECT_EQ(wrapText("Traceback:\n  File \"x.py\", line 3\n    return 1 / 0\nError", 40),
            (std::vector<std::string>{"Traceback:", "  File \"x.py\", line 3", "    return 1 / 0", "Error"}));
  EXPECT_EQ(wrapText("  one two three", 9), (std::vector<std::string>{"  one two", "three"}));
  EXPECT_EQ(wrapText("a\n  \nb  ", 9), (std::vector<std::string>{"a", "", "b"}));
  // In time that grows as the text does: this took minutes when each line looked at all that followed.
  EXPECT_EQ(wrapText(std::string(8'000'000, 'x'), 10, LongWords::Break).size(), 800'000U);
}

} // namespace
} // namespace kiln::report
