#include "kiln/measure/workers/worker_process.h"

#include <csignal>
#include <filesystem>
#include <sched.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "kiln/base/sanitized.h"
#include "kiln/measure/workers/cache_size.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Longer than anything takes, however busy the machine is.
constexpr uint64_t kLong = 60'000 * kMillisecond;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}
#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(contains(text, part)) << (text)

std::set<int> openFiles() {
  std::set<int> files;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    files.insert(std::stoi(entry.path().filename()));
  return files;
}

// Whether a process is there and no zombie.
bool runs(pid_t pid) {
  FILE *file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "r");
  if (!file)
    return false;
  char state = 'Z';
  bool read = std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  std::fclose(file);
  return read && state != 'Z' && state != 'X';
}

bool ends(pid_t pid) {
  for (Deadline end = Deadline::after(kLong); runs(pid) && end.remaining() > 0;)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return !runs(pid);
}

// Each test leaves no file open and no child behind.
class WorkerProcessTest : public ::testing::Test {
protected:
  void SetUp() override { filesBefore = openFiles(); }
  void TearDown() override {
    worker.reset();
    EXPECT_EQ(openFiles(), filesBefore);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  void start(std::vector<std::string> arguments) {
    options.command = {KILN_FAKE_WORKER};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    worker = *std::move(started);
  }
  Result<Answer> hello(uint64_t timeout = kLong) {
    return worker->ask(HelloRequest{kProtocolVersion, 2}, Deadline::after(timeout));
  }
  // A worker that misbehaves at once; the error says so, and says so again when it is asked again.
  void expectGone(Outcome outcome, std::string_view part, uint64_t timeout = kLong) {
    Result<Answer> answer = hello(timeout);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(worker->outcome(), outcome) << answer.status().message();
    EXPECT_CONTAINS(answer.status().message(), part);
    EXPECT_FALSE(worker->alive());
    Result<Answer> again = hello();
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.status().message(), answer.status().message());
  }

  WorkerOptions options;
  std::unique_ptr<WorkerProcess> worker;
  std::set<int> filesBefore;
};

TEST_F(WorkerProcessTest, Answers) {
  options.threads = 2;
  start({});
  Result<Answer> answer = hello();
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->provider, "fake");
  EXPECT_EQ(answer->version, "2");
  EXPECT_TRUE(worker->quit(Deadline::after(kLong)).ok());
  EXPECT_EQ(worker->outcome(), Outcome::Ok);
  EXPECT_FALSE(worker->alive());
  EXPECT_GT(worker->peakMemoryBytes(), 100'000U);
  EXPECT_FALSE(hello().ok());
}

TEST_F(WorkerProcessTest, RefusalsAndErrorsLeaveItAlive) {
  start({"unsupported"});
  Result<Answer> answer = hello();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(worker->outcome(), Outcome::Unsupported);
  EXPECT_TRUE(worker->alive());
  EXPECT_TRUE(hello().ok());
  start({"refuse"});
  answer = hello();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(worker->outcome(), Outcome::Failed);
  EXPECT_CONTAINS(answer.status().message(), "no, thanks");
}

TEST_F(WorkerProcessTest, Crash) {
  start({"crash"});
  expectGone(Outcome::Crashed, "signal 11 (Segmentation fault) ended the worker during 'hello'");
}

TEST_F(WorkerProcessTest, ExitShowsLastWords) {
  start({"exit"});
  expectGone(Outcome::Exited, "exit code 3");
  EXPECT_CONTAINS(hello().status().message(), "last words");
  EXPECT_EQ(worker->errorOutput(), "first line\nlast words\n");
}

TEST_F(WorkerProcessTest, Hang) {
  start({"hang"});
  uint64_t before = monotonicNanoseconds();
  expectGone(Outcome::TimedOut, "did not answer 'hello' within 2 s; --timeout=SECONDS gives it more",
             2'000 * kMillisecond);
  EXPECT_LT(monotonicNanoseconds() - before, kLong);
}

TEST_F(WorkerProcessTest, LateIsFineWithinTheDeadlineOnly) {
  start({"late"});
  EXPECT_TRUE(hello().ok());
  start({"late"});
  expectGone(Outcome::TimedOut, " s; --timeout=SECONDS", 30 * kMillisecond);
}

TEST_F(WorkerProcessTest, Rubbish) {
  start({"rubbish"});
  expectGone(Outcome::Rubbish, "'Segmentation fault (core dumped)'");
  start({"nojson"});
  expectGone(Outcome::Rubbish, "no JSON");
  start({"noanswer"});
  expectGone(Outcome::Rubbish, "\"ok\" must be");
}

TEST_F(WorkerProcessTest, AnEndlessLineIsCut) {
  start({"endless"});
  expectGone(Outcome::Rubbish, "no end after 16 MiB");
}

TEST_F(WorkerProcessTest, AnswersThatNobodyAskedFor) {
  start({"twice"});
  EXPECT_TRUE(hello().ok());
  expectGone(Outcome::Rubbish, "nobody asked for");
}

TEST_F(WorkerProcessTest, ClosedOutput) {
  start({"close"});
  expectGone(Outcome::Rubbish, "closed its standard output");
}

TEST_F(WorkerProcessTest, GrowingBeyondTheLimit) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
  options.memoryLimit = uint64_t(64) << 20;
  start({"grow"});
  expectGone(Outcome::MemoryLimit, "it may take 64 MiB");
}

TEST_F(WorkerProcessTest, AskingForTooMuchAtOnce) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
  options.memoryLimit = uint64_t(64) << 20;
  start({"huge"});
  expectGone(Outcome::MemoryLimit, "it may take 64 MiB");
}

TEST_F(WorkerProcessTest, StaysBelowTheLimit) {
  if (kSanitized)
    GTEST_SKIP() << "a sanitizer takes memory of its own";
  options.memoryLimit = uint64_t(256) << 20;
  start({"late"}); // long enough for two looks
  EXPECT_TRUE(hello().ok());
}

TEST_F(WorkerProcessTest, NoiseOnStandardErrorIsKeptInPart) {
  start({"noise"});
  ASSERT_TRUE(hello().ok());
  EXPECT_LE(worker->errorOutput().size(), WorkerProcess::kErrorTail);
  worker->kill();
  EXPECT_CONTAINS(worker->errorOutput(), "line 99999 of a long complaint");
}

TEST_F(WorkerProcessTest, WhatItSaysHasLimits) {
  start({"longnote"});
  expectGone(Outcome::Rubbish, "\"note\" has 5000 bytes; it may have 4096");
  start({"longversion"});
  expectGone(Outcome::Rubbish, "\"version\" has 5000 bytes; it may have 200");
  start({"complain"});
  Result<Answer> answer = hello();
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(worker->alive());
  EXPECT_LT(answer.status().message().size(), 4200U);
  EXPECT_TRUE(answer.status().message().ends_with("xxx... (10003 bytes)")) << answer.status().message();
}

TEST_F(WorkerProcessTest, WhatItSaysIsPlain) {
  start({"control"});
  Result<Answer> answer = hello();
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->note, "a\\x00b\\x1b[2J\nc");
  EXPECT_EQ(answer->version, "a\\x00b\\x1b[2J c");
  start({"garble"});
  expectGone(Outcome::Exited, "\nlast \\xff\\x00\\x1b[2J words");
  EXPECT_EQ(worker->errorOutput(), "last \\xff\\x00\\x1b[2J words\n");
}

TEST_F(WorkerProcessTest, InheritsNothingButItsStreams) {
  int open = ::dup(STDOUT_FILENO); // as a library that knows nothing of close-on-exec would leave it
  start({"files"});
  ASSERT_TRUE(hello().ok());
  ::close(open);
  worker->kill();
  // The fourth is the folder that it reads.
  EXPECT_EQ(worker->errorOutput(), "fd 0\nfd 1\nfd 2\nfd 3\n");
}

TEST_F(WorkerProcessTest, ThreadPoolsAreToldToBehave) {
  options.threads = 2;
  options.environment = {"FAKE=news"};
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1); // somebody's leftover
  ::setenv("FAKE", "old", 1);
  start({"environment"});
  ASSERT_TRUE(hello().ok());
  worker->kill();
  EXPECT_EQ(worker->errorOutput(), fmt::format("OMP_NUM_THREADS=2\nOPENBLAS_NUM_THREADS=2\nOMP_PROC_BIND={}\n"
                                               "GOMP_SPINCOUNT=1000\nKMP_BLOCKTIME=0\nOPENBLAS_THREAD_TIMEOUT=17\n"
                                               "OPENBLAS_CORETYPE=\nFAKE=news\n",
                                               usableCpus().size() > 1 ? "close" : ""));
}

TEST_F(WorkerProcessTest, RunsWhereItIsTold) {
  uint32_t cpu = usableCpus().back();
  options.cpus = {cpu};
  start({});
  ASSERT_TRUE(hello().ok());
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(worker->pid(), sizeof(set), &set), 0);
  EXPECT_EQ(CPU_COUNT(&set), 1);
  EXPECT_TRUE(CPU_ISSET(cpu, &set));
}

TEST_F(WorkerProcessTest, WhatCannotBeStarted) {
  options.command = {"/nowhere/worker"};
  Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.status().code(), StatusCode::NotFound);
  EXPECT_CONTAINS(started.status().message(), "'/nowhere/worker'");
  options.command = {"/proc/self/status"};
  EXPECT_EQ(WorkerProcess::start(options).status().code(), StatusCode::PermissionDenied);
  options.command = {};
  EXPECT_FALSE(WorkerProcess::start(options).ok());
  options.command = {KILN_FAKE_WORKER};
  options.cpus = {100'000};
  EXPECT_FALSE(WorkerProcess::start(options).ok());
}

TEST_F(WorkerProcessTest, ANameIsLookedForOnThePath) {
  options.command = {"cat"}; // answers each request with itself
  Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
  ASSERT_TRUE(started.ok()) << started.status().message();
  worker = *std::move(started);
  expectGone(Outcome::Rubbish, "\"ok\" must be");
}

TEST_F(WorkerProcessTest, ChildrenOfAWorkerGoWithIt) {
  start({"orphan"});
  expectGone(Outcome::Crashed, "child ");
  std::string said = worker->errorOutput();
  pid_t child = std::stoi(said.substr(said.find(' ')));
  ASSERT_GT(child, 0);
  EXPECT_TRUE(ends(child));
}

TEST_F(WorkerProcessTest, KillingAnIdleOne) {
  start({});
  ASSERT_TRUE(hello().ok());
  pid_t pid = worker->pid();
  worker.reset();
  EXPECT_FALSE(runs(pid));
}

TEST_F(WorkerProcessTest, OneThatDoesNotQuitIsKilled) {
  start({"hang", "quit"});
  ASSERT_TRUE(hello().ok());
  EXPECT_FALSE(worker->quit(Deadline::after(30 * kMillisecond)).ok());
  EXPECT_FALSE(worker->alive());
}

TEST_F(WorkerProcessTest, DiesWithItsParent) {
  int files[2];
  ASSERT_EQ(::pipe(files), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    // One that does not see the end of its input.
    options.command = {KILN_FAKE_WORKER, "hang"};
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    pid_t pid = started.ok() ? (*started)->pid() : -1;
    [[maybe_unused]] ssize_t written = ::write(files[1], &pid, sizeof(pid));
    for (;;) [[maybe_unused]]
      bool never = started.ok() && (*started)->ask(HelloRequest(), Deadline::infinite()).ok();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(files[0], &pid, sizeof(pid)), ssize_t(sizeof(pid)));
  ::close(files[0]);
  ::close(files[1]);
  ASSERT_GT(pid, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // until it hangs
  EXPECT_TRUE(runs(pid));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  bool ended = ends(pid);
  EXPECT_TRUE(ended);
  if (!ended)
    ::kill(pid, SIGKILL);
}

} // namespace
} // namespace kiln::measure
