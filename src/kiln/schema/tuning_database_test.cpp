#include "kiln/schema/tuning_database.h"

#include <algorithm>
#include <unistd.h>

#include <gtest/gtest.h>

#include "fmt/format.h"
#include "kiln/base/file.h"

namespace kiln {
namespace {

TuningEntry entryOf(std::string operation, uint32_t threads, std::string_view configuration, std::string date) {
  TuningEntry entry;
  entry.operation = std::move(operation);
  entry.target = "llvm-cpu x86_64 znver4 +avx,+avx2";
  entry.threads = threads;
  entry.configuration = *TileConfig::parse(configuration);
  entry.provenance = {"matmul_4x8x8_f32t_f32t_f32t", 1250.5, 0.625, std::move(date), "0.1", "00ff"};
  return entry;
}

std::string textOf(const std::vector<TuningEntry> &entries) {
  std::string text;
  for (const TuningEntry &entry : entries) {
    TuningDatabase one;
    one.set(entry);
    text += one.text();
  }
  return text;
}

const char *kEarly = "2026-01-01T00:00:00Z", *kLate = "2026-02-01T00:00:00Z";
const char *kSmall = "tile_config_4x32_64x1_fma_4x16", *kLarge = "tile_config_4x64_64x1_fma_4x32";

TEST(TuningDatabase, ComesBackAsItWas) {
  TuningDatabase database;
  EXPECT_EQ(database.text(), "");
  std::vector<TuningEntry> entries = {entryOf("b \"q\" \\", 2, kSmall, kEarly), entryOf("a", 16, kLarge, kLate),
                                      entryOf("a", 2, kSmall, kLate)};
  entries[1].target = "cuda sm_90a";
  entries[1].provenance.device = "NVIDIA H200 (cuda://0)";
  for (const TuningEntry &entry : entries)
    database.set(entry);
  EXPECT_EQ(database.targets(), (std::vector<std::string>{"cuda sm_90a", "llvm-cpu x86_64 znver4 +avx,+avx2"}));
  Result<TuningDatabase> parsed = TuningDatabase::parse(database.text());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(parsed->size(), 3U);
  EXPECT_EQ(parsed->text(), database.text());
  for (const TuningEntry &entry : entries) {
    const TuningEntry *found = parsed->find(entry.operation, entry.target, entry.threads);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, entry);
  }
}

TEST(TuningDatabase, TextIsInOneOrderAndALineAnEntry) {
  TuningDatabase forth, back;
  std::vector<TuningEntry> entries = {entryOf("a", 2, kSmall, kEarly), entryOf("a", 16, kSmall, kEarly),
                                      entryOf("b", 1, kSmall, kEarly)};
  for (size_t i = 0; i < 3; ++i) {
    forth.set(entries[i]);
    back.set(entries[2 - i]);
  }
  EXPECT_EQ(forth.text(), back.text());
  EXPECT_EQ(forth.text(), textOf(entries));
  EXPECT_EQ(std::ranges::count(forth.text(), '\n'), 3);
  EXPECT_TRUE(forth.text().starts_with("{\"kiln_tuning\":1,\"operation\":\"a\",\"target\":\"llvm-cpu x86_64 znver4 "
                                       "+avx,+avx2\",\"threads\":2,\"configuration\":\"tile_config_4x32_64x1_fma_4x16\""
                                       ",\"measured\":{"))
      << forth.text();
}

TEST(TuningDatabase, MergesByConcatenation) {
  TuningEntry old = entryOf("a", 2, kSmall, kEarly), fresh = entryOf("a", 2, kLarge, kLate);
  TuningEntry other = entryOf("a", 4, kSmall, kEarly);
  // Measured at the same second: the one that gains more.
  TuningEntry better = entryOf("b", 2, kSmall, kLate), worse = entryOf("b", 2, kLarge, kLate);
  worse.provenance.defaultRatio = 0.7;
  for (const std::string &text :
       {textOf({old, fresh, other, better, worse}), textOf({worse, better, other, fresh, old}) + "\n  \r\n"}) {
    Result<TuningDatabase> merged = TuningDatabase::parse(text);
    ASSERT_TRUE(merged.ok()) << merged.status().toString();
    EXPECT_EQ(merged->size(), 3U);
    EXPECT_EQ(merged->find("a", old.target, 2)->configuration.name(), kLarge);
    EXPECT_EQ(merged->find("a", old.target, 4)->configuration.name(), kSmall);
    EXPECT_EQ(merged->find("b", old.target, 2)->configuration.name(), kSmall);
  }
}

TEST(TuningDatabase, FindsByAllOfTheKey) {
  TuningDatabase database;
  database.set(entryOf("a", 2, kSmall, kEarly));
  database.set(entryOf("a", 8, kLarge, kEarly));
  std::string target = entryOf("a", 2, kSmall, kEarly).target;
  EXPECT_EQ(database.find("a", target, 4), nullptr);
  EXPECT_EQ(database.find("b", target, 2), nullptr);
  EXPECT_EQ(database.find("a", target + ",+fma", 2), nullptr);
  ASSERT_NE(database.findAny("a", target), nullptr);
  EXPECT_EQ(database.findAny("a", target)->threads, 8U);
  EXPECT_EQ(database.findAny("a", "x" + target), nullptr);
  EXPECT_EQ(database.findAny("", target), nullptr);
  EXPECT_TRUE(database.erase("a", target, 8));
  EXPECT_FALSE(database.erase("a", target, 8));
  EXPECT_EQ(database.findAny("a", target)->threads, 2U);
}

TEST(TuningDatabase, WhatIsMalformedIsRejectedWithItsLine) {
  std::string good = textOf({entryOf("a", 2, kSmall, kEarly)});
  auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  struct Case {
    std::string line;
    const char *fault;
  };
  for (const Case &test : {
           Case{"tile_config_4x32_64x1_fma", "no JSON object"},
           Case{"[]", "no JSON object"},
           Case{good.substr(0, good.size() / 2), "no JSON object"},
           Case{"{}", "no \"kiln_tuning\""},
           Case{with("\"kiln_tuning\":1", "\"kiln_tuning\":2"), "is of version 2, and this build reads version 1"},
           Case{with("\"kiln_tuning\":1", "\"kiln_tuning\":\"1\""), "no \"kiln_tuning\""},
           Case{with("\"operation\":\"a\"", "\"operation\":\"\""), "\"operation\" is empty"},
           Case{with("\"operation\":\"a\"", "\"operation\":7"), "\"operation\" is missing, or no text"},
           Case{with("\"threads\":2", "\"threads\":0"), "\"threads\" is missing"},
           Case{with("\"threads\":2", "\"threads\":-2"), "\"threads\" is missing"},
           Case{with("\"threads\":2", "\"threads\":99999999999"), "\"threads\" is missing"},
           Case{with("tile_config_4x32", "tile_config_4y32"), "is no configuration"},
           Case{with("1250.5", "-1"), "\"median_ns\" is missing, or no positive number"},
           Case{with("\"measured\"", "\"mesured\""), "\"measured\" is missing"},
           Case{with("\"date\"", "\"day\""), "\"date\" is missing"},
           Case{with("\"run\":\"00ff\"", "\"run\":\"00ff\",\"device\":0"), "\"device\" is missing, or no text"},
           Case{std::string("\xff\xfe"), "no JSON object"},
       }) {
    Result<TuningDatabase> parsed = TuningDatabase::parse(good + test.line + "\n");
    ASSERT_FALSE(parsed.ok()) << test.line;
    EXPECT_TRUE(parsed.status().message().starts_with("line 2: ")) << parsed.status().toString();
    EXPECT_NE(parsed.status().message().find(test.fault), std::string_view::npos) << parsed.status().toString();
  }
}

TEST(TuningDatabase, FilesAreNamedInErrors) {
  // Of this process alone: others may run the same test.
  std::string path = fmt::format("{}tuning_database_test_{}.json", testing::TempDir(), ::getpid());
  EXPECT_EQ(TuningDatabase::open(path + ".missing").status().code(), StatusCode::NotFound);
  ASSERT_TRUE(writeFile(path, "{}\n").ok());
  Result<TuningDatabase> opened = TuningDatabase::open(path);
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(opened.status().message().starts_with("tuning database '" + path + "': line 1: "));
}

TEST(TuningKeyRecord, ComesBackAsItWas) {
  TuningKeyRecord record{"f_dispatch_0", "contraction p4", "llvm-cpu x86_64", kSmall, "default"};
  Result<TuningKeyRecord> parsed = TuningKeyRecord::parse(record.text());
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  EXPECT_EQ(parsed->text(), record.text());
  EXPECT_FALSE(TuningKeyRecord::parse("{\"kiln_tuning\":1}").ok());
  EXPECT_FALSE(TuningKeyRecord::parse("").ok());
}

} // namespace
} // namespace kiln
