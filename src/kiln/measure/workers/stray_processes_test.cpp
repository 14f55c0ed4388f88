// What workers leave behind, and what they do between their turns.
#include <algorithm>
#include <array>
#include <csignal>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

#include "kiln/base/clock.h"
#include "kiln/base/sanitized.h"
#include "kiln/measure/workers/process_tree.h"
#include "kiln/measure/workers/worker_process.h"
#include "gtest/gtest.h"

extern char **environ;

namespace kiln::measure {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

void sleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Of all threads, in nanoseconds; 0 where it is gone.
uint64_t cpuTime(pid_t process) {
  clockid_t clock;
  timespec time;
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return 0;
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

// This process adopts what gets away, so that each test can tell that it has no child left.
class StrayProcesses : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    worker.reset();
    EXPECT_EQ(childrenOf(::getpid()), std::vector<pid_t>());
    for (pid_t child : childrenOf(::getpid())) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  void start(std::vector<std::string> arguments) {
    WorkerOptions options;
    options.command = {KILN_FAKE_WORKER};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
    ASSERT_TRUE(started.ok()) << started.status().message();
    worker = *std::move(started);
    ASSERT_TRUE(hello());
  }
  bool hello() { return worker->ask(HelloRequest{}, Deadline::after(10'000 * kMillisecond)).ok(); }
  Status quit() { return worker->quit(Deadline::after(10'000 * kMillisecond)); }
  // The process that the worker says it has started.
  pid_t child() {
    for (int i = 0; i < 100 && worker->errorOutput().find('\n') == std::string_view::npos; ++i) {
      sleepFor(5);
      EXPECT_TRUE(hello());
    }
    std::string said(worker->errorOutput());
    EXPECT_TRUE(said.starts_with("child ")) << said;
    return said.starts_with("child ") ? std::stoi(said.substr(6)) : -1;
  }

  std::unique_ptr<WorkerProcess> worker;
};

TEST_F(StrayProcesses, ASessionOfItsOwnEndsWithItsWorker) {
  start({"session"});
  pid_t burning = child();
  EXPECT_EQ(::kill(burning, 0), 0);
  EXPECT_TRUE(quit().ok());
  EXPECT_NE(::kill(burning, 0), 0);
}

TEST_F(StrayProcesses, AProcessWithoutParentEndsWithItsWorker) {
  start({"daemon"});
  pid_t burning = child();
  EXPECT_EQ(::kill(burning, 0), 0);
  EXPECT_TRUE(quit().ok());
  EXPECT_NE(::kill(burning, 0), 0);
  // However the worker ends.
  start({"daemon"});
  burning = child();
  worker->kill();
  EXPECT_NE(::kill(burning, 0), 0);
  start({"daemon"});
  burning = child();
  ::kill(worker->pid(), SIGSEGV);
  EXPECT_FALSE(hello());
  EXPECT_NE(::kill(burning, 0), 0);
}

TEST_F(StrayProcesses, AProcessThatForksOnAndOnEndsWithItsWorker) {
  for (int i = 0; i < 5; ++i) {
    start({"hop"});
    sleepFor(20);
    uint64_t asked = monotonicNanoseconds();
    EXPECT_TRUE(quit().ok());
    EXPECT_LT(monotonicNanoseconds() - asked, 1'000 * kMillisecond); // by itself it ends after two seconds
    EXPECT_EQ(childrenOf(::getpid()), std::vector<pid_t>());
  }
}

// Those that were there before the first worker, those that started meanwhile, and what lost its parent among them.
TEST_F(StrayProcesses, OtherChildrenAreLeftAlone) {
  auto startSleep = [](const char *command) {
    pid_t process = -1;
    std::array<const char *, 4> argv = {"sh", "-c", command, nullptr};
    EXPECT_EQ(::posix_spawn(&process, "/bin/sh", nullptr, nullptr, const_cast<char **>(argv.data()), environ), 0);
    return process;
  };
  pid_t before = startSleep("exec sleep 100");
  start({"daemon"});
  pid_t meanwhile = startSleep("exec setsid sleep 100");
  pid_t shell = startSleep("sleep 100 & exit 0");
  EXPECT_EQ(::waitpid(shell, nullptr, 0), shell);
  worker->pause();
  EXPECT_TRUE(quit().ok());
  std::vector<pid_t> left = childrenOf(::getpid());
  EXPECT_EQ(left.size(), 3U); // these two, and what the shell has left
  for (pid_t process : left) {
    EXPECT_EQ(::waitpid(process, nullptr, WNOHANG), 0) << process << " of " << before << ", " << meanwhile;
    ::kill(process, SIGKILL);
    EXPECT_EQ(::waitpid(process, nullptr, 0), process);
  }
}

TEST_F(StrayProcesses, AWorkerDoesNotEndAnotherOne) {
  start({});
  std::unique_ptr<WorkerProcess> first = std::move(worker);
  start({"session"});
  pid_t burning = child();
  EXPECT_TRUE(first->quit(Deadline::after(10'000 * kMillisecond)).ok());
  EXPECT_TRUE(hello());
  EXPECT_EQ(::kill(burning, 0), 0);
}

TEST_F(StrayProcesses, TheParentOfOrphansIsWhatItWasBefore) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  auto adopts = [] {
    int is = -1;
    ::prctl(PR_GET_CHILD_SUBREAPER, &is);
    return is;
  };
  start({});
  EXPECT_EQ(adopts(), 1);
  worker.reset();
  EXPECT_EQ(adopts(), 0);
  WorkerOptions options;
  options.command = {"/nowhere/worker"};
  EXPECT_FALSE(WorkerProcess::start(options).ok());
  EXPECT_EQ(adopts(), 0);
}

// Not even root's: raising a limit is what it may not do any more.
TEST_F(StrayProcesses, TheMarkCannotBeTakenOff) {
  WorkerOptions options;
  options.command = {"/bin/sh", "-c", "exec prlimit --pid $$ --locks=unlimited:unlimited"};
  Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(options);
  ASSERT_TRUE(started.ok());
  worker = *std::move(started);
  EXPECT_FALSE(hello());
  EXPECT_NE(worker->errorOutput().find("Operation not permitted"), std::string_view::npos) << worker->errorOutput();
}

TEST_F(StrayProcesses, BothWaysToFindChildrenAgree) {
  start({"session"});
  pid_t burning = child();
  EXPECT_EQ(childrenOf(worker->pid()), std::vector{burning});
  EXPECT_EQ(childrenByScanning(worker->pid()), std::vector{burning});
  EXPECT_EQ(childrenOf(::getpid()), std::vector{worker->pid()});
  EXPECT_EQ(childrenByScanning(::getpid()), std::vector{worker->pid()});
  EXPECT_EQ(childrenOf(burning), std::vector<pid_t>());
}

TEST_F(StrayProcesses, NothingOfAPausedWorkerRuns) {
  start({"spin"});
  auto burnt = [&](int milliseconds) {
    uint64_t before = cpuTime(worker->pid());
    sleepFor(milliseconds);
    return cpuTime(worker->pid()) - before;
  };
  EXPECT_GT(burnt(100), 5 * kMillisecond);
  worker->pause();
  sleepFor(5); // the system may count what ran until the stop a moment after it
  EXPECT_LT(burnt(100), kMillisecond);
  worker->pause();
  worker->resume();
  EXPECT_GT(burnt(100), 5 * kMillisecond);
  worker->resume();
  EXPECT_TRUE(hello());
  worker->pause();
  EXPECT_TRUE(hello()); // who is asked runs
  EXPECT_GT(burnt(100), 5 * kMillisecond);
}

TEST_F(StrayProcesses, WhoContinuesByItselfIsEnded) {
  start({"spin"});
  worker->pause();
  sleepFor(300);
  EXPECT_TRUE(worker->checkPaused().ok());
  EXPECT_TRUE(hello());
  start({"awake"});
  worker->pause();
  sleepFor(300);
  Status ran = worker->checkPaused();
  EXPECT_TRUE(ran.message().starts_with("runs while it is stopped: for ")) << ran.toString();
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(worker->outcome(), Outcome::Rubbish);
  // Who is asked is looked at before.
  start({"awake"});
  worker->pause();
  sleepFor(300);
  EXPECT_FALSE(hello());
}

TEST_F(StrayProcesses, WhoContinuesAChildIsEnded) {
  start({"sleepchild"});
  worker->pause();
  sleepFor(100);
  EXPECT_TRUE(worker->checkPaused().ok());
  EXPECT_TRUE(hello());
  start({"awakechild"});
  sleepFor(20); // it sets its timers
  worker->pause();
  sleepFor(300);
  EXPECT_TRUE(worker->checkPaused().message().starts_with("runs while it is stopped"))
      << worker->checkPaused().toString();
}

TEST_F(StrayProcesses, ChildrenThatHaveEndedAreNotAwaited) {
  start({"zombie"});
  uint64_t began = monotonicNanoseconds();
  for (int i = 0; i < 10; ++i) {
    worker->pause();
    EXPECT_TRUE(hello());
  }
  EXPECT_LT(monotonicNanoseconds() - began, 500 * kMillisecond); // a tenth of a second is the patience of each
}

TEST_F(StrayProcesses, NorDoesWhatAPausedWorkerStarted) {
  start({"session"});
  pid_t burning = child();
  sleepFor(50);
  EXPECT_GT(cpuTime(burning), 5 * kMillisecond);
  worker->pause();
  sleepFor(20);
  uint64_t before = cpuTime(burning);
  sleepFor(100);
  EXPECT_EQ(cpuTime(burning), before);
  worker->resume();
  sleepFor(100);
  EXPECT_GT(cpuTime(burning) - before, 5 * kMillisecond);
  worker->pause();
  worker.reset();
  EXPECT_NE(::kill(burning, 0), 0);
  start({"daemon"});
  burning = child();
  worker->pause();
  EXPECT_NE(::kill(burning, 0), 0);
  EXPECT_TRUE(hello());
}

TEST_F(StrayProcesses, APausedWorkerEndsAsOthersDo) {
  start({});
  worker->pause();
  EXPECT_TRUE(quit().ok());
  start({});
  worker->pause();
  worker->kill();
  EXPECT_FALSE(worker->alive());
  worker->pause(); // of one that is gone: nothing
  worker->resume();
  start({"hang", "hello", "2"});
  worker->pause();
  EXPECT_FALSE(worker->ask(HelloRequest{}, Deadline::after(30 * kMillisecond)).ok());
  EXPECT_EQ(worker->outcome(), Outcome::TimedOut);
  start({});
  worker->pause();
  ::kill(worker->pid(), SIGKILL); // as the kernel does where memory runs out
  EXPECT_FALSE(hello());
  EXPECT_EQ(worker->outcome(), Outcome::Crashed);
}

TEST_F(StrayProcesses, APausedWorkerDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    start({});
    worker->pause();
    pid_t pid = worker->pid();
    [[maybe_unused]] ssize_t written = ::write(ends[1], &pid, sizeof(pid));
    for (;;)
      ::pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof(pid)), ssize_t(sizeof(pid)));
  ::close(ends[0]);
  ::close(ends[1]);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  int status = 0;
  for (int i = 0; i < 400 && ::waitpid(pid, &status, WNOHANG) == 0; ++i)
    sleepFor(5);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// What a turn of a worker that lives on pays for it. Printed, and held to a bound that a busy machine keeps.
TEST_F(StrayProcesses, PausingCostsLittle) {
  start({});
  std::vector<double> both;
  for (int i = 0; i < 200; ++i) {
    uint64_t begin = monotonicNanoseconds();
    worker->pause();
    uint64_t paused = monotonicNanoseconds();
    sleepFor(1);
    uint64_t again = monotonicNanoseconds();
    worker->resume();
    both.push_back(double(paused - begin + monotonicNanoseconds() - again) / 1000);
    ASSERT_TRUE(hello());
  }
  std::ranges::sort(both);
  std::printf("pausing and resuming a worker: median %.0f us, 9 of 10 below %.0f us\n", both[100], both[180]);
  EXPECT_LT(both[100], kSanitized ? 100'000 : 2000);
}

} // namespace
} // namespace kiln::measure
