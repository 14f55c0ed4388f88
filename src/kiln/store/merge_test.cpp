// Stores that are killed, copied, resumed and merged in any order end as one store.
#include "kiln/base/sanitized.h"
#include "kiln/base/testing/test_folder.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/testing/whole_store.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::store {
namespace {

namespace fs = std::filesystem;
using namespace testing;

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// All files of a folder, by name.
std::map<std::string, std::string> filesIn(const std::string &folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    files[entry.path().filename()] = contentsOf(entry.path());
  return files;
}

// What a writer that is killed now leaves behind: the file and its log, and no index of it.
void copyAsKilled(const std::string &from, const std::string &to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  fs::remove(to + "-wal");
  fs::remove(to + "-shm");
  if (fs::exists(from + "-wal"))
    fs::copy_file(from + "-wal", to + "-wal");
}

// A sweep of three problems, driven step by step.
class SweepSteps {
public:
  explicit SweepSteps(std::string path) : path(std::move(path)) {}

  // Resumes the unfinished run of the store, or begins one.
  Status begin(int64_t now) {
    KILN_ASSIGN_OR_RETURN(writer, Writer::open(path, {}));
    Run run = sampleRun(now);
    KILN_RETURN_IF_ERROR(writer->addMachine(sampleMachine()));
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Reader> reader, Reader::open(path));
    KILN_ASSIGN_OR_RETURN(std::optional<std::string> unfinished, reader->unfinishedRun(run));
    if (!unfinished)
      KILN_RETURN_IF_ERROR(writer->addRun(run));
    key = unfinished.value_or(run.key());
    KILN_ASSIGN_OR_RETURN(std::vector<StoredGroup> groups, reader->groups(key));
    finished.clear();
    for (const StoredGroup &group : groups)
      if (group.ended)
        finished.insert(group.problem);
    return okStatus();
  }
  // Starts a group, adds a round, or finishes what is left. False where the run is complete.
  Result<bool> step(int64_t now) {
    if (!group) {
      for (uint64_t size = 1; size <= 3; ++size) {
        Problem problem = sampleProblem(size, 8, 8);
        if (finished.contains(problem.key()))
          continue;
        candidate = sampleCandidate(problem.key(), "onednn", "");
        group = Group{key, problem.key(), now};
        rounds = 0;
        KILN_RETURN_IF_ERROR(writer->addProblem(problem));
        KILN_RETURN_IF_ERROR(writer->addCandidates(std::vector{candidate}));
        KILN_RETURN_IF_ERROR(writer->startGroup(*group));
        return true;
      }
      KILN_RETURN_IF_ERROR(writer->endRun(key));
      return false;
    }
    if (rounds < 2) {
      Round round{group->key(), candidate.key(), rounds++, now, 0, {}, 1, "cold", {{100}, {}, {}}};
      KILN_RETURN_IF_ERROR(writer->addRounds(std::vector{round}));
      return true;
    }
    CandidateResult result{group->key(), candidate.key()};
    CandidateEstimate estimate{{}, group->key(), candidate.key()};
    estimate.median = estimate.low = estimate.high = 100;
    KILN_RETURN_IF_ERROR(writer->finishGroup(group->key(), std::vector{result}, std::vector{estimate}));
    finished.insert(group->problem);
    group.reset();
    return true;
  }
  Status interrupt() {
    Status status = group ? writer->interruptGroup(group->key()) : okStatus();
    stop();
    return status;
  }
  // Without a word, as when it is killed.
  void stop() {
    group.reset();
    writer.reset();
  }
  bool running() const { return writer != nullptr; }

  std::string path;

private:
  std::unique_ptr<Writer> writer;
  std::string key;
  std::set<std::string> finished;
  std::optional<Group> group;
  Candidate candidate;
  uint64_t rounds = 0;
};

class Merge : public ::testing::Test {
protected:
  TestFolder folder;
  std::string path = folder.file("results.db");
};

// The case that was found: a copy of an unfinished store made its original unmergeable.
TEST_F(Merge, KillCopyMergeResumeMerge) {
  SweepSteps sweep(path);
  ASSERT_OK(sweep.begin(1000));
  for (int64_t i = 0; i < 6; ++i) // one group is finished, the next one has a round
    ASSERT_OK(sweep.step(1001 + i).status());
  std::string copy = folder.file("copy.db"), all = folder.file("all.db");
  copyAsKilled(path, copy);
  sweep.stop();
  ASSERT_OK(mergeInto(all, {copy}));
  ASSERT_OK(sweep.begin(2000));
  for (int64_t i = 0;; ++i)
    if (!valueOf(sweep.step(2001 + i)))
      break;
  sweep.stop();
  ASSERT_OK(mergeInto(all, {path}));
  EXPECT_EQ(factsOf(all), factsOf(path));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(all));
  ASSERT_EQ(valueOf(reader->runs()).size(), 1U);
  std::vector<StoredGroup> groups = valueOf(reader->groups(sampleRun(1000).key()));
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[1].status, GroupStatus::Interrupted);
  EXPECT_EQ(groups[2].attempt, 2U);
}

// A copy is resumed as well as the original, and both end: each of both ends is a fact.
TEST_F(Merge, BothCopiesAreResumed) {
  SweepSteps sweep(path);
  ASSERT_OK(sweep.begin(1000));
  for (int64_t i = 0; i < 2; ++i)
    ASSERT_OK(sweep.step(1001 + i).status());
  std::string copy = folder.file("copy.db");
  copyAsKilled(path, copy);
  sweep.stop();
  int64_t now = 2000;
  for (const std::string &which : {copy, path}) {
    SweepSteps resumed(which);
    ASSERT_OK(resumed.begin(++now));
    while (valueOf(resumed.step(++now))) {
    }
  }
  std::string one = folder.file("one.db"), two = folder.file("two.db");
  ASSERT_OK(mergeInto(one, {copy, path}));
  ASSERT_OK(mergeInto(two, {path}));
  ASSERT_OK(mergeInto(two, {copy}));
  EXPECT_EQ(factsOf(one), factsOf(two));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(one));
  ASSERT_EQ(valueOf(reader->runs()).size(), 1U);
  EXPECT_EQ(valueOf(reader->query("SELECT count(*) FROM run_end")).rows[0][0], "2");
}

// Random histories of sweeps that are started, killed, interrupted, copied and merged; then all stores are merged in
// several orders, and in a tree.
TEST_F(Merge, RandomHistoriesMeetInAnyOrder) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937_64 random(seed);
    TestFolder place;
    int64_t now = 1000;
    std::vector<std::unique_ptr<SweepSteps>> sweeps;
    sweeps.push_back(std::make_unique<SweepSteps>(place.file("0.db")));
    ASSERT_OK(sweeps[0]->begin(++now));
    for (int i = 0; i < 60; ++i) {
      SweepSteps &sweep = *sweeps[random() % sweeps.size()];
      SweepSteps &other = *sweeps[random() % sweeps.size()];
      uint64_t what = random() % 10;
      if (what == 0 && sweeps.size() < 4) {
        sweeps.push_back(std::make_unique<SweepSteps>(place.file(fmt::format("{}.db", sweeps.size()))));
        copyAsKilled(sweep.path, sweeps.back()->path);
      } else if (what == 1) {
        sweep.stop();
      } else if (what == 2 && sweep.running()) {
        ASSERT_OK(sweep.interrupt());
      } else if (what == 3 && !sweep.running() && &sweep != &other) {
        ASSERT_OK(mergeInto(sweep.path, {other.path}));
      } else if (!sweep.running()) {
        ASSERT_OK(sweep.begin(++now));
      } else if (!valueOf(sweep.step(++now))) {
        sweep.stop();
      }
    }
    std::vector<std::string> paths;
    for (const auto &sweep : sweeps) {
      sweep->stop();
      paths.push_back(sweep->path);
    }
    std::string all = place.file("all.db");
    ASSERT_OK(mergeInto(all, paths));
    std::vector<std::string> facts = factsOf(all);
    EXPECT_TRUE(std::ranges::adjacent_find(facts) == facts.end()) << "nothing is there twice";
    for (int order = 0; order < 4; ++order) {
      std::ranges::shuffle(paths, random);
      std::string shuffled = place.file(fmt::format("shuffled{}.db", order));
      for (const std::string &shard : paths)
        ASSERT_OK(mergeInto(shuffled, {shard, paths.front()}));
      EXPECT_EQ(factsOf(shuffled), facts);
    }
    // (a + b) + (c + ...), and into one that has some of it already.
    std::string left = place.file("left.db"), right = place.file("right.db");
    ASSERT_OK(mergeInto(left, {paths.front()}));
    ASSERT_OK(mergeInto(right, {paths.begin() + 1, paths.end()}));
    ASSERT_OK(mergeInto(left, {right, paths.front()}));
    EXPECT_EQ(factsOf(left), facts);
    ASSERT_OK(mergeInto(paths[0], {all}));
    EXPECT_EQ(factsOf(paths[0]), facts);
    EXPECT_TRUE(valueOf(Reader::open(all))->check().ok());
  }
}

TEST_F(Merge, ShardsMergeWithoutLoss) {
  std::string shard = folder.file("shard.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(path, {})), {.problems = 2, .started = 10}));
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(shard, {})), {.problems = 3, .seed = 2, .started = 20}));
  std::unique_ptr<Writer> w = valueOf(Writer::open(path, {}));
  EXPECT_EQ(valueOf(w->merge(std::vector{shard})), (std::vector<MergedFacts>{{1}}));
  std::unique_ptr<Reader> r = valueOf(Reader::open(path));
  auto count = [&](const char *table) {
    return valueOf(r->query(fmt::format("SELECT count(*) FROM {}", table))).rows[0][0];
  };
  EXPECT_EQ(count("run"), "2");
  EXPECT_EQ(count("node"), "1");
  EXPECT_EQ(count("grp"), "7");
  EXPECT_EQ(count("problem"), "4");
  std::string rounds = count("round");
  EXPECT_EQ(valueOf(w->merge(std::vector{shard, shard})), (std::vector<MergedFacts>{{}, {}}));
  EXPECT_EQ(count("round"), rounds) << "merging again adds nothing";
  EXPECT_TRUE(r->check().ok());
  EXPECT_EQ(w->merge(std::vector{path}).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(w->merge(std::vector{folder.file("none.db")}).status().code(), StatusCode::NotFound);
}

// A copy that went on brings no run, and more of a known one.
TEST_F(Merge, RowsOfAKnownRunAreCounted) {
  SweepSteps sweep(path);
  ASSERT_OK(sweep.begin(1000));
  std::string all = folder.file("all.db");
  MergedFacts sum;
  for (int64_t now = 1001; valueOf(sweep.step(now)); ++now) {
    std::unique_ptr<Writer> writer = valueOf(Writer::open(all, {}));
    MergedFacts facts = valueOf(writer->merge(std::vector{path})).at(0);
    sum.runs += facts.runs;
    for (const auto &[table, rows] : facts.rowsOfKnownRuns)
      sum.rowsOfKnownRuns[table] += rows;
    EXPECT_EQ(valueOf(writer->merge(std::vector{path})), std::vector<MergedFacts>{{}}) << "once";
  }
  EXPECT_EQ(sum.runs, 1U);
  // The first of the three groups had begun when the run was new, and the run ends after the last merge.
  EXPECT_EQ(sum.rowsOfKnownRuns, (std::map<std::string_view, uint64_t>{
                                     {"grp", 2}, {"grp_end", 3}, {"result", 3}, {"round", 6}, {"estimate", 3}}));
}

TEST_F(Merge, WhatCannotBeReadIsFoundOutBefore) {
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(path, {})), {.problems = 1}));
  EXPECT_TRUE(Writer::checkMergeable(std::vector{path}).ok());
  Status status = Writer::checkMergeable(std::vector{path, folder.file("none.db")});
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_NE(status.message().find("there is no store '"), std::string::npos) << status.message();
}

TEST_F(Merge, AContradictionIsNamedAndNothingIsMerged) {
  std::string shard = folder.file("shard.db"), good = folder.file("good.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(path, {})), {.problems = 1}));
  fs::copy_file(path, shard);
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(good, {})), {.problems = 1, .started = 99}));
  std::string key;
  {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(shard, Connection::Mode::Write, 100));
    key = valueOf(connection->text("SELECT grp FROM estimate LIMIT 1"));
    ASSERT_OK(connection->execute("DROP TRIGGER estimate_never_UPDATE; UPDATE estimate SET p10 = 1 WHERE grp = '" +
                                  key + "'"));
  }
  std::vector<std::string> before = factsOf(path);
  Status status = mergeInto(path, {good, shard});
  EXPECT_EQ(status.code(), StatusCode::AlreadyExists);
  for (std::string_view text : {std::string_view("'estimate'"), std::string_view(key), std::string_view("shard.db"),
                                std::string_view("nothing was merged")})
    EXPECT_TRUE(mentions(status, text)) << status.message();
  EXPECT_EQ(factsOf(path), before);
}

// A shard whose facts refer to what it lacks is no store.
TEST_F(Merge, AShardWithHolesIsRefused) {
  std::string shard = folder.file("shard.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(shard, {})), {.problems = 1}));
  {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(shard, Connection::Mode::Write, 100));
    ASSERT_OK(connection->execute("DROP TRIGGER candidate_never_DELETE; DELETE FROM candidate"));
  }
  Status status = mergeInto(path, {shard});
  EXPECT_EQ(status.code(), StatusCode::FailedPrecondition) << status.toString();
  EXPECT_TRUE(mentions(status, "shard.db")) << status.message();
}

// Keys are of contents, and medians of samples: what was edited afterwards is refused, and named.
TEST_F(Merge, EditedFactsAreRefused) {
  std::string original = folder.file("original.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(original, {})), {.problems = 1}));
  ASSERT_OK(mergeInto(folder.file("whole.db"), {original}));
  const std::pair<const char *, const char *> edits[] = {
      {"run", "UPDATE run SET kiln_version = 'forged'"},
      {"run", "UPDATE run SET tags = '[[\"a\",\"b\"]]'"},
      {"run", "UPDATE run SET seed = seed + 1"},
      {"problem", "UPDATE problem SET flops = 10 * flops"},
      {"candidate", "UPDATE candidate SET provider_version = '9' WHERE provider = 'kiln'"},
      {"candidate", "UPDATE candidate SET provider = iif(provider = 'kiln', 'onednn', 'kiln')"},
      {"grp", "UPDATE grp SET started = started + 1"},
      {"hardware", "UPDATE hardware SET description = '{}'"},
      {"node", "UPDATE node SET description = '{\"host\":\"x\"}'"},
      {"allocation", "UPDATE allocation SET description = '{}'"},
      {"estimate", "UPDATE estimate SET median = median / 10, low = low / 10, high = high / 10, rank = 1"},
      {"estimate", "UPDATE estimate SET median = median * 0.999"},
      {"estimate", "DELETE FROM counters; DELETE FROM device_state; DELETE FROM round"},
      {"round", "UPDATE round SET samples = x'0105' WHERE candidate NOT IN (SELECT candidate FROM estimate)"},
      {"round", "UPDATE round SET batch = 0 WHERE candidate NOT IN (SELECT candidate FROM estimate)"},
  };
  for (const auto &[table, sql] : edits) {
    SCOPED_TRACE(sql);
    std::string shard = folder.file("edited.db");
    fs::copy_file(original, shard, fs::copy_options::overwrite_existing);
    edit(shard, sql);
    Status status = mergeInto(path, {shard});
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
    for (const std::string &text : {fmt::format("table '{}'", table), std::string("edited.db"),
                                    std::string("changed by hand"), std::string("nothing was merged")})
      EXPECT_TRUE(mentions(status, text)) << status.message();
    EXPECT_TRUE(factsOf(path).empty());
  }
}

// Ranks, intervals, counts and ties have no key, but some cannot be.
TEST_F(Merge, FactsThatCannotBeAreRefused) {
  std::string original = folder.file("original.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(original, {})), {.problems = 1}));
  struct Edit {
    const char *table, *sql, *text;
  };
  const Edit edits[] = {
      {"estimate", "UPDATE estimate SET rank = -5", "'rank' is -5"},
      {"estimate", "UPDATE estimate SET low = 9e999, high = -1", "'low' is inf"},
      {"estimate", "UPDATE estimate SET high = -1", "'high' is -1"},
      {"estimate", "UPDATE estimate SET low = 2 * median", "an interval from"},
      {"estimate", "UPDATE estimate SET low = -1", "'low' is -1"},
      {"estimate", "UPDATE estimate SET p90 = p10 / 2", "percentiles from"},
      {"estimate", "UPDATE estimate SET ratio = 0, ratio_low = -1", "'ratio_low' is -1"},
      {"estimate", "UPDATE estimate SET ratio = 0, ratio_low = 0", "a ratio of"},
      {"estimate", "UPDATE estimate SET ratio_high = 0.5", "a ratio of"},
      {"estimate", "UPDATE estimate SET samples = -1", "'samples' is -1"},
      {"estimate", "UPDATE estimate SET device_median = -5", "'device_median' is -5"},
      {"estimate", "UPDATE estimate SET ties = '[\"half of a list'", "'ties': the store holds"},
      {"estimate", "UPDATE estimate SET ties = '[1]'", "'ties': the store holds"},
      {"result", "UPDATE result SET escape_probability = 7", "'escape_probability' is 7"},
      {"result", "UPDATE result SET compile_ms = -5", "'compile_ms' is -5"},
      {"worker", "UPDATE worker SET peak_memory = -1", "'peak_memory' is -1"},
      {"result", "UPDATE result SET escape_probability = 9e999", "'escape_probability' is inf"},
      {"result", "UPDATE result SET compile_ms = -9e999", "'compile_ms' is -inf"},
      {"round", "UPDATE round SET batch = 0", "a batch of 0 calls"},
      {"round", "UPDATE round SET megahertz = 9e999", "'megahertz' is inf"},
      {"counters", "UPDATE counters SET cycles = -1", "'cycles' is -1"},
      {"device_state", "UPDATE device_state SET watts = -1", "'watts' is -1"},
  };
  for (const auto &[table, sql, text] : edits) {
    SCOPED_TRACE(sql);
    std::string shard = folder.file("edited.db");
    fs::copy_file(original, shard, fs::copy_options::overwrite_existing);
    edit(shard, sql);
    Status status = mergeInto(path, {shard});
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
    for (const std::string &part : {fmt::format("table '{}'", table), std::string(text), std::string("edited.db"),
                                    std::string("changed by hand"), std::string("nothing was merged")})
      EXPECT_TRUE(mentions(status, part)) << status.message();
    EXPECT_TRUE(factsOf(path).empty());
  }
}

// What was taken can be read: counts may be as large as they are, and their sums larger than an integer.
TEST_F(Merge, LargeCountsCanBeSummed) {
  const std::string shard = folder.file("shard.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(shard, {})), {.problems = 1}));
  edit(shard, "UPDATE counters SET cycles = 9223372036854775807, flops = 9223372036854775807");
  ASSERT_OK(mergeInto(path, {shard}));
  EXPECT_TRUE(readEverything(path).ok());
}

// JSON that is nested deeper than a stack is has no place in a store, and texts are cut where they are read.
TEST_F(Merge, JsonTooDeepIsRefusedAndLongTextsAreCut) {
  std::string shard = folder.file("shard.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(shard, {})), {.problems = 1}));
  std::unique_ptr<Reader> whole = valueOf(Reader::open(shard));
  StoredRun run = valueOf(whole->findRun("latest"));
  edit(shard, "UPDATE worker SET note = hex(zeroblob(500000)); UPDATE result SET error = hex(zeroblob(500000))");
  ASSERT_OK(mergeInto(path, {shard}));
  for (const CandidateResult &result : valueOf(valueOf(Reader::open(path))->results(run.key()))) {
    ASSERT_TRUE(result.worker);
    EXPECT_LT(result.worker->note.size(), 4200U);
    EXPECT_TRUE(result.worker->note.ends_with("... (cut: it has 1000000 bytes)")) << result.worker->note.size();
    EXPECT_LT(result.error.size(), 66'000U);
  }
  const std::string deep(200'000, '['), large = '"' + std::string(5'000'000, 'x') + '"';
  for (const auto &[column, json] :
       {std::pair("calibration SET ceilings", deep), std::pair("result SET details", deep),
        std::pair("hardware SET description", deep), std::pair("calibration SET ceilings", large)}) {
    SCOPED_TRACE(column);
    std::string other = folder.file("other.db"), all = folder.file("all.db");
    fs::copy_file(shard, other, fs::copy_options::overwrite_existing);
    edit(other, fmt::format("UPDATE {} = '{}'", column, json));
    Status status = mergeInto(all, {other});
    EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString().substr(0, 300);
    EXPECT_TRUE(mentions(status, "the store holds JSON")) << status.message().substr(0, 300);
    std::unique_ptr<Reader> reader = valueOf(Reader::open(other));
    Status read = std::string_view(column).starts_with("calibration")
                      ? reader->calibration(run.machine, run.started).status()
                  : std::string_view(column).starts_with("result") ? reader->results(run.key()).status()
                                                                   : reader->machine(run.machine).status();
    EXPECT_EQ(read.code(), StatusCode::DataLoss) << read.toString().substr(0, 300);
    EXPECT_TRUE(mentions(read, "other.db")) << read.message().substr(0, 300);
  }
}

// A view in the place of a table could go on without an end.
TEST_F(Merge, AViewInThePlaceOfATableIsRefused) {
  std::string shard = folder.file("shard.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(shard, {})), {.problems = 1}));
  edit(shard, "ALTER TABLE node RENAME TO node_before; CREATE VIEW node (key, description) AS WITH RECURSIVE x (a) AS "
              "(SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT printf('%032x', a), '{}' FROM x");
  Status merged = mergeInto(path, {shard});
  EXPECT_EQ(merged.code(), StatusCode::DataLoss) << merged.toString();
  EXPECT_TRUE(mentions(merged, "'node' is no table of plain columns")) << merged.message();
  EXPECT_EQ(Reader::open(shard).status().code(), StatusCode::DataLoss);
  EXPECT_EQ(Writer::open(shard, {}).status().code(), StatusCode::DataLoss);
  // The same of an earlier version, which would be read while it is brought up to date.
  std::string old = folder.file("old.db");
  {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(old, Connection::Mode::Write, 100));
    ASSERT_OK(connection->execute(contentsOf(fmt::format("{}/v1.sql", KILN_STORE_VERSIONS))));
    ASSERT_OK(
        connection->execute("DROP TABLE machine; CREATE VIEW machine (key, provenance) AS WITH RECURSIVE x (a) AS "
                            "(SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT a, '{}' FROM x"));
  }
  EXPECT_EQ(mergeInto(path, {old}).code(), StatusCode::DataLoss);
  // A column that is computed could be as large as it likes.
  std::string computed = folder.file("computed.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(computed, {})), {.problems = 1}));
  edit(computed, "DROP TABLE allocation; CREATE TABLE allocation (key TEXT PRIMARY KEY, description TEXT AS "
                 "(hex(zeroblob(100000000))))");
  EXPECT_EQ(mergeInto(path, {computed}).code(), StatusCode::DataLoss);
}

// A store's triggers would run when facts are merged into it: what is not Kiln's own is refused, whoever opens it.
TEST_F(Merge, ATriggerOfSomebodyElseIsRefused) {
  std::string good = folder.file("good.db");
  ASSERT_OK(fillSampleStore(*valueOf(Writer::open(good, {})), {.problems = 1}));
  const std::pair<const char *, const char *> triggers[] = {
      {"faster", "CREATE TRIGGER faster AFTER INSERT ON estimate BEGIN "
                 "UPDATE estimate SET median = median / 10 WHERE grp = NEW.grp; END"},
      {"endless", "CREATE TRIGGER endless AFTER INSERT ON problem BEGIN WITH RECURSIVE x (a) AS "
                  "(SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT max(a) FROM x; END"},
      {"estimate_never_UPDATE", "CREATE TRIGGER estimate_never_UPDATE BEFORE UPDATE ON estimate BEGIN SELECT 1; END"},
      {"round_never_INSERT", "CREATE TRIGGER round_never_INSERT BEFORE INSERT ON round BEGIN "
                             "SELECT RAISE(ABORT, 'facts are appended, and never changed or removed'); END"},
      {"seen", "CREATE TRIGGER seen INSTEAD OF INSERT ON dispatch BEGIN SELECT 1; END"},
  };
  for (const auto &[name, sql] : triggers) {
    SCOPED_TRACE(name);
    std::string foreign = folder.file("foreign.db");
    fs::remove(foreign);
    ASSERT_OK(fillSampleStore(*valueOf(Writer::open(foreign, {})), {.problems = 2, .started = 20}));
    edit(foreign, sql);
    for (const Status &status : {mergeInto(foreign, {good}), mergeInto(path, {foreign}), Reader::open(foreign).status(),
                                 Writer::open(foreign, {}).status()}) {
      EXPECT_EQ(status.code(), StatusCode::DataLoss) << status.toString();
      EXPECT_TRUE(mentions(status, fmt::format("its trigger '{}' is not one of Kiln's", name))) << status.message();
    }
  }
  // The same of an earlier version, whose triggers would run while it is brought up to date.
  std::string old = folder.file("old.db");
  {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(old, Connection::Mode::Write, 100));
    ASSERT_OK(connection->execute(contentsOf(fmt::format("{}/v1.sql", KILN_STORE_VERSIONS))));
    ASSERT_OK(connection->execute("CREATE TRIGGER more AFTER INSERT ON machine BEGIN SELECT 1; END"));
  }
  EXPECT_EQ(Reader::open(old).status().code(), StatusCode::DataLoss);
}

// Runs `body` as somebody who is not the superuser, whom no folder's permissions stop.
bool asNobody(const std::function<bool()> &body) {
  pid_t child = fork();
  if (child == 0) {
    bool left = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    _exit(left && body() ? 0 : 1);
  }
  int exit = 1;
  return waitpid(child, &exit, 0) == child && exit == 0;
}

// A shard is only read: with a log beside it or without, with or without the log's index, in a folder that can be
// written to or not, of this version or an earlier one.
TEST_F(Merge, AShardIsNeverWrittenTo) {
  std::string source = folder.file("source.db");
  std::unique_ptr<Writer> writer = valueOf(Writer::open(source, {}));
  ASSERT_OK(fillSampleStore(*writer, {.problems = 1}));
  ASSERT_TRUE(fs::file_size(source + "-wal") > 0);
  size_t rounds = factsOf(source).size();
  for (bool log : {false, true})
    for (bool index : {false, true})
      for (bool writable : {true, false}) {
        SCOPED_TRACE(fmt::format("log {}, index {}, writable {}", log, index, writable));
        TestFolder place;
        TestFolder target;
        std::string shard = place.file("shard.db"), all = target.file("all.db");
        copyAsKilled(source, shard);
        if (index)
          fs::copy_file(source + "-shm", shard + "-shm");
        if (!log) { // as after a clean end
          fs::remove(shard + "-wal");
          fs::remove(shard + "-shm");
          std::unique_ptr<Connection> original = valueOf(Connection::open(source, Connection::Mode::Read, 100));
          ASSERT_OK(original->execute(fmt::format("VACUUM INTO '{}'", place.file("clean.db"))));
          fs::rename(place.file("clean.db"), shard);
        }
        fs::permissions(target.file("."), fs::perms::all);
        fs::permissions(place.file("."), writable ? fs::perms::all
                                                  : fs::perms::owner_read | fs::perms::owner_exec |
                                                        fs::perms::others_read | fs::perms::others_exec);
        std::map<std::string, std::string> before = filesIn(place.file("."));
        EXPECT_TRUE(asNobody([&] {
          Status status = mergeInto(all, {shard});
          if (!status.ok())
            std::fprintf(stderr, "%s\n", status.toString().c_str());
          return status.ok() && Reader::open(shard).ok();
        }));
        std::map<std::string, std::string> after = filesIn(place.file("."));
        // The index is no part of the store: every reader of a log updates it.
        if (index && log && writable) {
          before.erase("shard.db-shm");
          after.erase("shard.db-shm");
        }
        EXPECT_TRUE(before == after) << "the shard's folder changed: " << before.size() << " files, now "
                                     << after.size();
        EXPECT_EQ(factsOf(all).size(), rounds);
        fs::permissions(place.file("."), fs::perms::all);
      }
}

// A store that a sweep is writing can be merged, and merged again later.
TEST_F(Merge, AStoreAtWork) {
  SweepSteps sweep(path);
  ASSERT_OK(sweep.begin(1000));
  std::string all = folder.file("all.db");
  for (int64_t now = 1001; valueOf(sweep.step(now)); ++now)
    ASSERT_OK(mergeInto(all, {path}));
  ASSERT_OK(mergeInto(all, {path}));
  EXPECT_EQ(factsOf(all), factsOf(path));
}

//===--- Stores of earlier versions
//--------------------------------------------------------------------------------===//

class Version : public ::testing::TestWithParam<size_t> {
protected:
  void SetUp() override {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(path, Connection::Mode::Write, 100));
    std::string dump = contentsOf(fmt::format("{}/v{}.sql", KILN_STORE_VERSIONS, GetParam()));
    ASSERT_FALSE(dump.empty()) << "there is no store of version " << GetParam() << " among the tests' files";
    ASSERT_OK(connection->execute(dump));
  }
  TestFolder folder;
  std::string path = folder.file("old.db");
};

void expectOldFacts(const std::string &path) {
  std::unique_ptr<Reader> reader = valueOf(Reader::open(path));
  ASSERT_TRUE(reader);
  std::vector<StoredRun> runs = valueOf(reader->runs());
  ASSERT_FALSE(runs.empty());
  const StoredRun &run = runs.front();
  EXPECT_EQ(run.commandLine, "kiln-dispatch sweep --problem-m=256");
  EXPECT_NE(valueOf(reader->machine(run.machine)).hardware.find("Test CPU"), std::string::npos);
  EXPECT_TRUE(reader->calibration(run.machine, run.started).ok());
  std::vector<StoredGroup> groups = valueOf(reader->groups(run.key()));
  ASSERT_GE(groups.size(), 3U);
  EXPECT_EQ(groups[0].status, GroupStatus::Finished);
  EXPECT_EQ(groups[1].status, GroupStatus::Interrupted);
  EXPECT_EQ(valueOf(reader->problems(run.key())).size(), 3U);
  EXPECT_TRUE(groups[0].ended && !groups[1].ended);
  EXPECT_EQ(valueOf(reader->unfinishedRun(run)), run.key());
  std::vector<CandidateResult> results = valueOf(reader->results(run.key()));
  EXPECT_EQ(results.size(), 7U);
  EXPECT_FALSE(valueOf(reader->estimates(run.key())).empty());
  EXPECT_FALSE(valueOf(reader->rounds(groups[0].key())).empty());
  EXPECT_FALSE(valueOf(reader->query("SELECT * FROM dispatch")).rows.empty());
  EXPECT_TRUE(reader->check().ok());
}

TEST_P(Version, IsReadAndStaysAsItWas) {
  std::map<std::string, std::string> before = filesIn(folder.file("."));
  ASSERT_NO_FATAL_FAILURE(expectOldFacts(path));
  EXPECT_TRUE(filesIn(folder.file(".")) == before);
}

TEST_P(Version, IsWrittenOn) {
  {
    std::unique_ptr<Writer> writer = valueOf(Writer::open(path, {}));
    ASSERT_OK(fillSampleStore(
        *writer, {.problems = 1, .configurations = 3, .started = 1'800'000'000'000'000'000, .interrupted = false}));
  }
  ASSERT_NO_FATAL_FAILURE(expectOldFacts(path));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(path));
  EXPECT_EQ(valueOf(reader->runs()).size(), 2U);
  EXPECT_EQ(valueOf(reader->query("SELECT count(*) FROM problem")).rows[0][0], "3") << "the same problems";
}

TEST_P(Version, IsMergedAndStaysAsItWas) {
  std::map<std::string, std::string> before = filesIn(folder.file("."));
  TestFolder other;
  std::string all = other.file("all.db"), copy = other.file("copy.db");
  fs::copy_file(path, copy);
  { // the same store, brought up to date and merged the other way round
    ASSERT_TRUE(Writer::open(copy, {}).ok());
  }
  ASSERT_OK(mergeInto(all, {path}));
  ASSERT_OK(mergeInto(all, {copy}));
  EXPECT_TRUE(filesIn(folder.file(".")) == before);
  ASSERT_NO_FATAL_FAILURE(expectOldFacts(all));
  EXPECT_EQ(factsOf(all), factsOf(copy));
}

// Up to the version before this one; a new version adds a file.
INSTANTIATE_TEST_SUITE_P(Stores, Version, ::testing::Range<size_t>(1, migrations().size()));

// Copies that an earlier version had marked as interrupted at different times.
TEST_F(Merge, InterruptionsThatEarlierVersionsMadeUp) {
  std::vector<std::string> copies = {folder.file("a.db"), folder.file("b.db")};
  for (size_t i = 0; i < copies.size(); ++i) {
    std::unique_ptr<Connection> connection = valueOf(Connection::open(copies[i], Connection::Mode::Write, 100));
    ASSERT_OK(connection->execute(contentsOf(fmt::format("{}/v5.sql", KILN_STORE_VERSIONS))));
    ASSERT_OK(connection->execute(fmt::format("INSERT INTO grp_end SELECT key, '{}', {} FROM grp WHERE key NOT IN "
                                              "(SELECT grp FROM grp_end)",
                                              i ? "finished" : "interrupted", 100 + i)));
    if (i == 1)
      ASSERT_OK(connection->execute("INSERT INTO result SELECT x.grp, c.key, 'ok', '', '', '', '', 0, '{}', NULL FROM "
                                    "grp_end x, candidate c WHERE x.ended = 101 LIMIT 1"));
  }
  ASSERT_OK(mergeInto(path, copies));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(path));
  std::vector<StoredGroup> groups = valueOf(reader->groups(valueOf(reader->runs()).front().key()));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[2].status, GroupStatus::Finished) << "what was finished somewhere is finished";
}

//===--- Speed
//-----------------------------------------------------------------------------------------------------===//

// Rows as a sweep makes them: candidates of groups, with a result, an estimate and a round each.
Status fillShard(const std::string &path, uint64_t number, uint64_t candidateCount) {
  constexpr uint64_t kCandidates = 50;
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Writer> writer, Writer::open(path, {}));
  Run run = sampleRun(static_cast<int64_t>(number + 1));
  KILN_RETURN_IF_ERROR(writer->addMachine(sampleMachine()));
  KILN_RETURN_IF_ERROR(writer->addRun(run));
  for (uint64_t g = 0; g < candidateCount / kCandidates; ++g) {
    Problem problem = sampleProblem(g + 1, number + 1, 8);
    Group group{run.key(), problem.key(), static_cast<int64_t>(g)};
    KILN_RETURN_IF_ERROR(writer->addProblem(problem));
    KILN_RETURN_IF_ERROR(writer->startGroup(group));
    std::vector<Candidate> candidates;
    std::vector<CandidateResult> results;
    std::vector<CandidateEstimate> estimates;
    std::vector<Round> rounds;
    for (uint64_t c = 0; c < kCandidates; ++c) {
      candidates.push_back(sampleCandidate(problem.key(), "kiln", fmt::format("tile_config_{}", c)));
      std::string key = candidates.back().key();
      results.push_back({group.key(), key});
      estimates.push_back({{}, group.key(), key});
      estimates.back().median = estimates.back().low = estimates.back().high = 100'000;
      rounds.push_back({group.key(), key, 0, 0, 0, {}, 1, "cold", {std::vector<int64_t>(20, 100'000), {}, {}}});
    }
    KILN_RETURN_IF_ERROR(writer->addCandidates(candidates));
    KILN_RETURN_IF_ERROR(writer->addRounds(rounds));
    KILN_RETURN_IF_ERROR(writer->finishGroup(group.key(), results, estimates));
  }
  return writer->endRun(run.key());
}

// 100 shards of 10,000 rows are to merge in 10 s: here a tenth of them, and with KILN_MERGE_SHARDS=100 all. By the
// processor's clock, in which a busy machine makes a difference of two or three.
TEST_F(Merge, ManyShardsInLittleTime) {
  const char *wanted = std::getenv("KILN_MERGE_SHARDS");
  uint64_t count = wanted ? std::strtoull(wanted, nullptr, 10) : 10;
  std::vector<std::string> shards;
  for (uint64_t i = 0; i < count; ++i) {
    shards.push_back(folder.file(fmt::format("shard{}.db", i)));
    ASSERT_OK(fillShard(shards.back(), i, 2500));
  }
  std::clock_t start = std::clock();
  ASSERT_OK(mergeInto(path, shards));
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%zu shards merged in %.2f s of the processor\n", shards.size(), seconds);
  EXPECT_LT(seconds, (kSanitized ? 4 : 0.4) * static_cast<double>(count));
  std::unique_ptr<Reader> reader = valueOf(Reader::open(path));
  EXPECT_EQ(valueOf(reader->query("SELECT count(*) FROM result")).rows[0][0], std::to_string(2500 * count));
}

} // namespace
} // namespace kiln::store
