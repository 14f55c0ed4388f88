// Groups that two stores both have: a finished one takes nothing more, however the two are merged.
#include "kiln/base/testing/test_folder.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/testing/whole_store.h"

#include <filesystem>

namespace kiln::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;

class SharedGroupsTest : public ::testing::Test {
protected:
  // A store with one finished group, and a copy of it that was changed by hand.
  void SetUp() override {
    ASSERT_OK(fillSampleStore(*valueOf(Writer::open(original, {})), {.problems = 1, .cutSeconds = 60}));
    std::unique_ptr<Reader> reader = valueOf(Reader::open(original));
    run = valueOf(reader->runs()).at(0);
    for (const StoredGroup &group : valueOf(reader->groups(run.key())))
      (group.status == GroupStatus::Finished ? finished : unfinished) = group;
  }
  std::string edited(const std::string &sql) {
    fs::copy_file(original, changed, fs::copy_options::overwrite_existing);
    edit(changed, sql);
    return changed;
  }
  // Merges them in both orders, and into a store of both; the first of the two is taken, the second one is refused.
  void expectContradiction(std::string_view table) {
    for (const auto &[first, second] : {std::pair(original, changed), std::pair(changed, original)}) {
      SCOPED_TRACE(first);
      std::string all = folder.file("all.db");
      for (const char *end : {"", "-wal", "-shm"})
        fs::remove(all + end);
      ASSERT_OK(mergeInto(all, {first}));
      std::vector<std::string> before = factsOf(all);
      Status status = mergeInto(all, {second});
      EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
      for (const std::string &text :
           {fmt::format("group {} of matmul_", finished.key()), fmt::format("table '{}'", table), second, all,
            std::string("a finished group takes no more rows"), std::string("nothing was merged")})
        EXPECT_TRUE(mentions(status, text)) << text << " in: " << status.message();
      EXPECT_EQ(factsOf(all), before);
      EXPECT_FALSE(mergeInto(folder.file("both.db"), {first, second}).ok());
      ASSERT_OK(mergeInto(folder.file("elsewhere.db"), {all}));
      fs::remove(folder.file("elsewhere.db"));
    }
  }

  TestFolder folder;
  std::string original = folder.file("original.db"), changed = folder.file("changed.db");
  StoredRun run;
  StoredGroup finished, unfinished;
};

constexpr const char *kUnfinish = "DELETE FROM estimate; DELETE FROM grp_cut; DELETE FROM worker; DELETE FROM result; "
                                  "DELETE FROM grp_end; ";
constexpr const char *kOneMoreRound =
    "INSERT INTO round SELECT grp, candidate, 9999, started, load, megahertz, batch, cache_mode, samples FROM round "
    "WHERE grp = '{0}' LIMIT 1; ";

// The copy had lost its conclusions: its round made the store that took it contradict itself.
TEST_F(SharedGroupsTest, AnUnfinishedCopyAddsNoRound) {
  edited(kUnfinish + fmt::format(fmt::runtime(kOneMoreRound), finished.key()));
  ASSERT_NO_FATAL_FAILURE(expectContradiction("round"));
}

TEST_F(SharedGroupsTest, AFinishedCopyAddsNothing) {
  const std::string &group = finished.key();
  edited(fmt::format("INSERT INTO counters SELECT grp, candidate, idx, 1, 1, 1, 1, 1 FROM round WHERE grp = '{0}' AND "
                     "(grp, candidate, idx) NOT IN (SELECT grp, candidate, idx FROM counters) LIMIT 1",
                     group));
  ASSERT_NO_FATAL_FAILURE(expectContradiction("counters"));
  edited(fmt::format("DELETE FROM grp_cut WHERE grp = '{}'", group));
  ASSERT_NO_FATAL_FAILURE(expectContradiction("grp_cut"));
  edited(fmt::format("DELETE FROM worker WHERE candidate IN (SELECT candidate FROM worker WHERE grp = '{}' LIMIT 1)",
                     group));
  ASSERT_NO_FATAL_FAILURE(expectContradiction("worker"));
}

// Somebody else's row in a finished group, with rounds, a result and an estimate that fit one another.
TEST_F(SharedGroupsTest, NobodyJoinsAFinishedGroup) {
  const Candidate foreign = sampleCandidate(finished.problem, "wow", "");
  edited(fmt::format(
      "CREATE TEMP TABLE one AS SELECT candidate FROM estimate WHERE grp = '{0}' LIMIT 1;"
      "INSERT INTO candidate VALUES ('{1}', '{2}', '{3}', '{4}', '', '', '{5}', '{6}', {7});"
      "INSERT INTO result SELECT grp, '{1}', outcome, error, method, cause, explanation, escape_probability, details, "
      "compile_ms FROM result WHERE grp = '{0}' AND candidate IN one;"
      "INSERT INTO round SELECT grp, '{1}', idx, started, load, megahertz, batch, cache_mode, samples FROM round WHERE "
      "grp = '{0}' AND candidate IN one;"
      "INSERT INTO estimate SELECT grp, '{1}', median, p10, p90, low, high, device_median, launch_median, rounds, "
      "samples, rank, ties, ratio, ratio_low, ratio_high, dropped FROM estimate WHERE grp = '{0}' AND candidate IN one",
      finished.key(), foreign.key(), foreign.problem, foreign.provider, foreign.providerVersion, foreign.compilerFlags,
      foreign.moduleHash, foreign.threads));
  ASSERT_NO_FATAL_FAILURE(expectContradiction("result"));
}

// A copy of the time when the group had fewer rounds, and of when it had some results, is no contradiction.
TEST_F(SharedGroupsTest, AnEarlierCopyMeetsTheFinishedGroup) {
  for (const char *sql : {"DELETE FROM estimate; DELETE FROM grp_cut; DELETE FROM grp_end",
                          "DELETE FROM estimate; DELETE FROM grp_cut; DELETE FROM grp_end; DELETE FROM worker; DELETE "
                          "FROM result; DELETE FROM counters WHERE idx > 1; DELETE FROM device_state WHERE idx > 1; "
                          "DELETE FROM round WHERE idx > 1",
                          "DELETE FROM estimate; DELETE FROM grp_cut; DELETE FROM grp_end; DELETE FROM worker; DELETE "
                          "FROM result; DELETE FROM counters; DELETE FROM device_state; DELETE FROM round"}) {
    SCOPED_TRACE(sql);
    edited(sql);
    std::string one = folder.file("one.db"), two = folder.file("two.db");
    for (const std::string &path : {one, two})
      fs::remove(path);
    ASSERT_OK(mergeInto(one, {original, changed}));
    ASSERT_OK(mergeInto(two, {changed, original, changed}));
    EXPECT_EQ(factsOf(one), factsOf(original));
    EXPECT_EQ(factsOf(two), factsOf(original));
  }
}

// What a group concludes is there with its end, and the other way round.
TEST_F(SharedGroupsTest, ConclusionsAndEndsBelongTogether) {
  const std::pair<const char *, const char *> edits[] = {
      {"grp_end", "INSERT INTO grp_end VALUES ('{}', 1)"},
      {"grp_cut", "DELETE FROM grp_end"},
      {"estimate", "DELETE FROM grp_cut; DELETE FROM grp_end"},
  };
  std::string all = folder.file("all.db");
  for (const auto &[table, sql] : edits) {
    SCOPED_TRACE(sql);
    edited(fmt::format(fmt::runtime(sql), unfinished.key()));
    Status status = mergeInto(all, {changed});
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
    for (const std::string &text : {fmt::format("table '{}', key ", table), std::string("changed by hand")})
      EXPECT_TRUE(mentions(status, text)) << status.message();
    EXPECT_TRUE(factsOf(all).empty());
  }
}

// Else the problem would be left out when the sweep is resumed.
TEST_F(SharedGroupsTest, AnEndWithoutResultsFinishesNothing) {
  edited(fmt::format("INSERT INTO grp_end VALUES ('{}', 1)", unfinished.key()));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(changed));
  std::vector<StoredGroup> groups = valueOf(reader->groups(run.key()));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].status, GroupStatus::Finished);
  EXPECT_EQ(groups[1].status, GroupStatus::Interrupted);
}

} // namespace
} // namespace kiln::store
