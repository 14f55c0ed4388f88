// Files that are no stores, stores that are damaged or locked, and disks that are full.
#include "kiln/base/testing/test_folder.h"
#include "kiln/store/database.h"
#include "kiln/store/reader.h"
#include "kiln/store/testing/sample_store.h"
#include "kiln/store/writer.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::store {
namespace {

using namespace testing;

constexpr WriterOptions kImpatient{.waitMilliseconds = 60};

bool mentions(const Status &status, std::string_view text) {
  return status.message().find(text) != std::string_view::npos;
}

std::string contentsOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void setContents(const std::string &path, std::string_view contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

class Damage : public ::testing::Test {
protected:
  void fill(const SampleOptions &options = {.problems = 2}) {
    Result<std::unique_ptr<Writer>> writer = Writer::open(path, {});
    ASSERT_TRUE(writer.ok()) << writer.status().toString();
    Status status = fillSampleStore(**writer, options);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  TestFolder folder;
  std::string path = folder.file("results.db");
};

TEST_F(Damage, WhatIsNotThereOrNoFileIsSaid) {
  EXPECT_EQ(Reader::open(path).status().code(), StatusCode::NotFound);
  EXPECT_EQ(Reader::open(folder.file("")).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(Writer::open(folder.file(""), kImpatient).status().code(), StatusCode::InvalidArgument);
  setContents(folder.file("plain"), "x");
  EXPECT_FALSE(Writer::open(folder.file("plain/below/results.db"), kImpatient).ok());
  setContents(path, "");
  Status empty = Reader::open(path).status();
  EXPECT_EQ(empty.code(), StatusCode::FailedPrecondition);
  EXPECT_TRUE(mentions(empty, "nothing was measured")) << empty.message();
  EXPECT_TRUE(Writer::open(path, kImpatient).ok()) << "an empty file is a store that is not begun";
}

TEST_F(Damage, OtherFilesAreRefusedAndStayAsTheyAre) {
  setContents(path, std::string(5000, 'x'));
  EXPECT_EQ(Reader::open(path).status().code(), StatusCode::DataLoss);
  EXPECT_EQ(Writer::open(path, kImpatient).status().code(), StatusCode::DataLoss);
  EXPECT_EQ(contentsOf(path), std::string(5000, 'x'));

  std::string other = folder.file("other.db");
  {
    Result<std::unique_ptr<Connection>> connection = Connection::open(other, Connection::Mode::Write, 100);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->execute("CREATE TABLE notes (text)").ok());
  }
  std::string before = contentsOf(other);
  for (const Status &status : {Reader::open(other).status(), Writer::open(other, kImpatient).status()}) {
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_TRUE(mentions(status, "another program")) << status.message();
  }
  EXPECT_EQ(contentsOf(other), before);
}

TEST_F(Damage, ANewerStoreIsRefused) {
  fill();
  {
    Result<std::unique_ptr<Connection>> connection = Connection::open(path, Connection::Mode::Write, 100);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->execute("PRAGMA user_version = 999").ok());
  }
  for (const Status &status : {Reader::open(path).status(), Writer::open(path, kImpatient).status()}) {
    EXPECT_EQ(status.code(), StatusCode::FailedPrecondition);
    EXPECT_TRUE(mentions(status, "use a newer Kiln")) << status.message();
  }
}

// Names of the files beside the store, and its own.
static std::vector<std::string> filesIn(const std::filesystem::path &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST_F(Damage, ReadersLeaveNothingBehind) {
  fill();
  std::string whole = contentsOf(path), copy = folder.file("alone/copy.db");
  std::filesystem::create_directory(folder.file("alone"));
  const std::vector<std::string> alone = {"copy.db"};
  setContents(copy, whole);
  EXPECT_TRUE(readEverything(copy).ok());
  EXPECT_EQ(filesIn(folder.file("alone")), alone);
  for (size_t part : {1, 4, 12}) {
    setContents(copy, whole.substr(0, whole.size() * part / 16));
    EXPECT_FALSE(readEverything(copy).ok());
    EXPECT_EQ(filesIn(folder.file("alone")), alone) << part;
    EXPECT_EQ(contentsOf(copy).size(), whole.size() * part / 16);
  }
  setContents(copy, whole);
  // Not where another process is about to use it.
  Result<std::unique_ptr<Connection>> other = Connection::open(copy, Connection::Mode::Write, 100);
  ASSERT_TRUE(other.ok() && (*other)->execute("SELECT 1 FROM run").ok());
  EXPECT_TRUE(readEverything(copy).ok());
  EXPECT_EQ(filesIn(folder.file("alone")).size(), 3U);
  Status written = (*other)->execute("CREATE TABLE more (text)");
  EXPECT_TRUE(written.ok()) << written.toString();
}

TEST_F(Damage, TruncatedStoresAreErrors) {
  fill();
  std::string whole = contentsOf(path);
  ASSERT_GT(whole.size(), 50000U);
  ASSERT_TRUE(readEverything(path).ok());
  std::string copy = folder.file("copy.db");
  for (size_t part = 1; part < 16; ++part) {
    setContents(copy, whole.substr(0, whole.size() * part / 16));
    EXPECT_FALSE(readEverything(copy).ok()) << part;
  }
}

TEST_F(Damage, OverwrittenPagesAreErrorsOrHarmless) {
  fill();
  std::string whole = contentsOf(path);
  std::string copy = folder.file("copy.db");
  size_t found = 0;
  for (size_t page = 0; page < whole.size() / 4096; ++page) {
    std::string damaged = whole;
    damaged.replace(page * 4096, 4096, 4096, static_cast<char>(0xA5));
    setContents(copy, damaged);
    Status status = readEverything(copy);
    found += !status.ok();
    EXPECT_EQ(status.ok(), status.message().empty());
  }
  EXPECT_EQ(found, whole.size() / 4096) << "every page of a fresh store is in use";
}

TEST_F(Damage, ADamagedRoundIsNamed) {
  fill({.problems = 1, .interrupted = false});
  {
    Result<std::unique_ptr<Connection>> connection = Connection::open(path, Connection::Mode::Write, 100);
    ASSERT_TRUE(connection.ok());
    Status status =
        (*connection)->execute("DROP TRIGGER round_never_UPDATE; UPDATE round SET samples = x'0105' WHERE idx = 2");
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  Status status = readEverything(path);
  EXPECT_EQ(status.code(), StatusCode::DataLoss);
  EXPECT_TRUE(mentions(status, "round 2")) << status.message();
}

TEST_F(Damage, OneWriterAtATime) {
  Result<std::unique_ptr<Writer>> first = Writer::open(path, {});
  ASSERT_TRUE(first.ok());
  Status status = Writer::open(path, kImpatient).status();
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_TRUE(mentions(status, fmt::format("process {}", getpid()))) << status.message();
  first = Writer::open(folder.file("other.db"), kImpatient);
  EXPECT_TRUE(Writer::open(path, kImpatient).ok()) << "the first has let go";
}

TEST_F(Damage, ALockedStoreWaitsThenFailsAndLosesNothing) {
  fill();
  Result<std::unique_ptr<Writer>> writer = Writer::open(path, kImpatient);
  ASSERT_TRUE(writer.ok());
  Problem problem = sampleProblem(7, 7, 7);
  {
    Result<std::unique_ptr<Connection>> other = Connection::open(path, Connection::Mode::Write, 100);
    ASSERT_TRUE(other.ok());
    Result<Transaction> transaction = Transaction::begin(**other);
    ASSERT_TRUE(transaction.ok());
    Status status = (*writer)->addProblem(problem);
    EXPECT_EQ(status.code(), StatusCode::Unavailable);
    EXPECT_TRUE(mentions(status, "locked by another program")) << status.message();
    EXPECT_TRUE(readEverything(path).ok()) << "readers are not kept out";
  }
  Status status = (*writer)->addProblem(problem);
  EXPECT_TRUE(status.ok()) << status.toString();
  EXPECT_TRUE(readEverything(path).ok());
}

uint64_t roundsIn(const std::string &path) {
  Result<std::unique_ptr<Reader>> reader = Reader::open(path);
  if (!reader.ok())
    return 0;
  Result<QueryResult> count = (*reader)->query("SELECT count(*) FROM round");
  return count.ok() ? std::strtoull(count->rows[0][0].c_str(), nullptr, 10) : 0;
}

// Adds rounds until that fails. What failed, and how many were stored before.
std::pair<Status, uint64_t> addRoundsUntilFull(Writer &writer) {
  Run run = sampleRun(1);
  Problem problem = sampleProblem(256, 512, 128);
  Candidate candidate = sampleCandidate(problem.key(), "onednn", "");
  Group group{run.key(), problem.key(), 2};
  for (const Status &status : {writer.addMachine(sampleMachine()), writer.addRun(run), writer.addProblem(problem),
                               writer.addCandidates(std::vector{candidate}), writer.startGroup(group)})
    if (!status.ok())
      return {status, 0};
  Round round{group.key(), candidate.key()};
  for (int64_t i = 0; i < 4000; ++i)
    round.samples.call.push_back(i % 2 ? 1'000'000'000 : 1);
  for (; round.index < 1000; ++round.index)
    if (Status status = writer.addRounds(std::vector{round}); !status.ok())
      return {status, round.index};
  return {okStatus(), round.index};
}

TEST_F(Damage, AFullStoreIsAnErrorThatLosesNothing) {
  uint64_t stored = 0;
  {
    Result<std::unique_ptr<Writer>> writer = Writer::open(path, {.maxBytes = 1'000'000});
    ASSERT_TRUE(writer.ok()) << writer.status().toString();
    auto [status, count] = addRoundsUntilFull(**writer);
    EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.toString();
    EXPECT_TRUE(mentions(status, "no space is left")) << status.message();
    EXPECT_GT(count, 10U);
    stored = count;
    EXPECT_EQ(roundsIn(path), stored);
  }
  EXPECT_TRUE(readEverything(path).ok());
  Result<std::unique_ptr<Writer>> writer = Writer::open(path, {});
  ASSERT_TRUE(writer.ok()) << writer.status().toString();
  EXPECT_TRUE((*writer)->addProblem(sampleProblem(1, 1, 1)).ok()) << "with space it goes on";
  EXPECT_EQ(roundsIn(path), stored);
}

// The kernel refuses to let files grow, as on a full disk.
TEST_F(Damage, AFullDiskIsAnErrorThatLosesNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{800'000, 800'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Result<std::unique_ptr<Writer>> writer = Writer::open(path, {});
    if (!writer.ok())
      _exit(2);
    auto [status, count] = addRoundsUntilFull(**writer);
    std::string message = fmt::format("{} {} {}", count, static_cast<int>(status.code()), status.message());
    bool written = write(ends[1], message.data(), message.size()) > 0;
    _exit(written ? 0 : 3);
  }
  close(ends[1]);
  char text[1000] = {};
  ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  int exit = 0;
  ASSERT_EQ(waitpid(child, &exit, 0), child);
  ASSERT_TRUE(WIFEXITED(exit));
  ASSERT_EQ(WEXITSTATUS(exit), 0);
  ASSERT_GT(length, 0);
  char *end = nullptr;
  uint64_t count = std::strtoull(text, &end, 10);
  EXPECT_EQ(std::strtol(end, nullptr, 10), static_cast<long>(StatusCode::ResourceExhausted)) << text;
  EXPECT_GT(count, 10U);
  EXPECT_TRUE(readEverything(path).ok());
  EXPECT_EQ(roundsIn(path), count);
}

} // namespace
} // namespace kiln::store
