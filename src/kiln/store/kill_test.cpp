// A writer that is killed at any moment loses no finished group, and leaves a store that is whole.
#include "kiln/base/sanitized.h"
#include "kiln/base/testing/test_folder.h"
#include "kiln/store/reader.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/writer.h"

#include <csignal>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::store {
namespace {

using namespace testing;

constexpr int kKills = 25;
constexpr uint64_t kRounds = 3;
constexpr size_t kKeyLength = 32;

// The same numbers in every run.
std::mt19937_64 generator(uint64_t seed) {
  return std::mt19937_64(seed);
}

struct Attempt {
  std::string path;
  uint64_t number;
  int report; // where the child writes the key of each group that it has finished

  // Measures groups for ever; each has four candidates and three rounds. Gives an exit code where it cannot.
  int run() const {
    Result<std::unique_ptr<Writer>> opened = Writer::open(path, {});
    if (!opened.ok())
      return 1;
    Writer &writer = **opened;
    Run run = sampleRun(1);
    bool ok = writer.addMachine(sampleMachine()).ok() && writer.addRun(run).ok();
    for (uint64_t i = 0; ok; ++i)
      ok = measure(writer, run.key(), number * 100'000 + i);
    return 2;
  }

  bool measure(Writer &writer, const std::string &run, uint64_t index) const {
    Problem problem = sampleProblem(index + 1, 8, 8);
    Group group{run, problem.key(), static_cast<int64_t>(index)};
    bool ok = writer.addProblem(problem).ok() && writer.startGroup(group).ok();
    std::vector<CandidateResult> results;
    std::vector<CandidateEstimate> estimates;
    std::vector<Round> rounds;
    for (const char *provider : {"kiln", "onednn", "openblas", "reference"}) {
      Candidate candidate = sampleCandidate(problem.key(), provider, "");
      ok = ok && writer.addCandidates(std::vector{candidate}).ok();
      results.push_back({group.key(), candidate.key()});
      estimates.push_back({{}, group.key(), candidate.key()});
      rounds.push_back(
          {group.key(), candidate.key(), 0, 0, 0, {}, 1, "cold", {std::vector<int64_t>(500, 1000), {}, {}}});
    }
    for (uint64_t i = 0; ok && i < kRounds; ++i) {
      for (Round &round : rounds)
        round.index = i;
      ok = writer.addRounds(rounds).ok();
    }
    if (!ok || !writer.finishGroup(group.key(), results, estimates).ok())
      return false;
    return write(report, group.key().data(), kKeyLength) == static_cast<ssize_t>(kKeyLength);
  }
};

// Starts a writer, kills it some microseconds after it has finished so many groups, however long these take, and adds
// the groups that it said were finished.
void killWriter(const std::string &path, uint64_t number, uint64_t groups, useconds_t after,
                std::set<std::string> &finished) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    _exit(Attempt{path, number, ends[1]}.run());
  }
  close(ends[1]);
  auto next = [&] {
    char key[kKeyLength];
    bool isThere = read(ends[0], key, kKeyLength) == static_cast<ssize_t>(kKeyLength);
    if (isThere)
      finished.emplace(key, kKeyLength);
    return isThere;
  };
  for (uint64_t i = 0; i < groups && next(); ++i) {
  }
  usleep(after);
  kill(child, SIGKILL);
  int exit = 0;
  ASSERT_EQ(waitpid(child, &exit, 0), child);
  ASSERT_TRUE(WIFSIGNALED(exit)) << "the writer ended by itself, with " << WEXITSTATUS(exit);
  while (next()) {
  }
  close(ends[0]);
}

void expectWhole(const std::string &path, const std::set<std::string> &finished) {
  Result<std::unique_ptr<Reader>> opened = Reader::open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  Reader &reader = **opened;
  Status status = reader.check();
  ASSERT_TRUE(status.ok()) << status.toString();
  auto groups = reader.groups(sampleRun(1).key());
  ASSERT_TRUE(groups.ok());
  std::set<std::string> stored;
  for (const StoredGroup &group : *groups)
    if (group.status == GroupStatus::Finished)
      stored.insert(group.key());
  for (const std::string &key : finished)
    EXPECT_TRUE(stored.contains(key)) << "a finished group is lost";
  // A group that is finished has all that it concluded, and all its rounds.
  Result<QueryResult> partial = reader.query("SELECT x.grp FROM grp_end x WHERE ("
                                             "(SELECT count(*) FROM result r WHERE r.grp = x.grp) <> 4 OR (SELECT "
                                             "count(*) FROM estimate e WHERE e.grp = x.grp) "
                                             "<> 4 OR (SELECT count(*) FROM round o WHERE o.grp = x.grp) <> 12)");
  ASSERT_TRUE(partial.ok()) << partial.status().toString();
  EXPECT_TRUE(partial->rows.empty());
}

TEST(Kill, NoFinishedGroupIsLost) {
  TestFolder folder;
  std::string path = folder.file("results.db");
  std::mt19937_64 random = generator(20);
  std::set<std::string> finished;
  for (uint64_t i = 0; i < kKills; ++i) {
    // Some die while they open the store, or are the first to; most in the midst of groups.
    uint64_t awaited = i % 5 == 0 ? 0 : 1 + random() % 8;
    auto after = static_cast<useconds_t>(random() % 8'000) * (kSanitized ? 10 : 1);
    ASSERT_NO_FATAL_FAILURE(killWriter(path, i, awaited, after, finished));
    if (access(path.c_str(), F_OK) != 0)
      continue;
    // The next writer finds a store that is whole, and concludes nothing about what was left running.
    Result<std::unique_ptr<Writer>> writer = Writer::open(path, {});
    ASSERT_TRUE(writer.ok()) << writer.status().toString();
    ASSERT_NO_FATAL_FAILURE(expectWhole(path, finished));
    Result<std::vector<StoredGroup>> groups = (*Reader::open(path))->groups(sampleRun(1).key());
    ASSERT_TRUE(groups.ok());
    for (size_t g = 0; g + 1 < groups->size(); ++g)
      EXPECT_NE((*groups)[g].status, GroupStatus::Running) << "another group was started after it";
  }
  EXPECT_GE(finished.size(), size_t(kKills - kKills / 5)) << "each but a fifth of the writers finished one or more";
}

} // namespace
} // namespace kiln::store
