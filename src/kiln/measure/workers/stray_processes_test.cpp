// What workers leave behind, and what they do between their turns.
#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
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
#include "kiln/measure/workers/worker_times.h"
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

// Longer than anything takes, however busy the machine is.
constexpr uint64_t kLong = 60'000 * kMillisecond;

// Until it has run for so long, which it does at once where nobody else does.
bool runsFor(pid_t process, uint64_t nanoseconds) {
  uint64_t before = cpuTime(process);
  for (Deadline end = Deadline::after(kLong); cpuTime(process) - before < nanoseconds && end.remaining() > 0;)
    sleepFor(5);
  return cpuTime(process) - before >= nanoseconds;
}

// A process that is told to stop does so when it gets a processor.
bool stops(pid_t process) {
  for (Deadline end = Deadline::after(kLong); end.remaining() > 0; sleepFor(5)) {
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    size_t name = text.rfind(") ");
    if (name != std::string::npos && text[name + 2] == 'T')
      return true;
  }
  return false;
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
  bool hello() { return worker->ask(HelloRequest{}, Deadline::after(kLong)).ok(); }
  Status quit() { return worker->quit(Deadline::after(kLong)); }
  // The process that the worker says it has started.
  pid_t child() {
    for (Deadline end = Deadline::after(kLong);
         end.remaining() > 0 && worker->errorOutput().find('\n') == std::string_view::npos;) {
      sleepFor(5);
      EXPECT_TRUE(hello());
    }
    std::string said(worker->errorOutput());
    EXPECT_TRUE(said.starts_with("child ")) << said;
    return said.starts_with("child ") ? std::stoi(said.substr(6)) : -1;
  }

  // Stops the worker until something has continued it. A stop that a busy machine delays may not be seen, and then it
  // is stopped once more.
  Status continuedByItself() {
    for (Deadline end = Deadline::after(kLong / 4); end.remaining() > 0; worker->resume()) {
      worker->pause();
      sleepFor(600);
      KILN_RETURN_IF_ERROR(worker->checkPaused());
    }
    return okStatus();
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
    EXPECT_LT(monotonicNanoseconds() - asked, 10'000 * kMillisecond); // by itself it ends after 20 seconds
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
  EXPECT_TRUE(first->quit(Deadline::after(kLong)).ok());
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
  EXPECT_TRUE(runsFor(worker->pid(), 5 * kMillisecond));
  worker->pause();
  ASSERT_TRUE(stops(worker->pid()));
  sleepFor(5); // the system may count what ran until the stop a moment after it
  uint64_t before = cpuTime(worker->pid());
  sleepFor(100);
  EXPECT_LT(cpuTime(worker->pid()) - before, kMillisecond);
  worker->pause();
  worker->resume();
  EXPECT_TRUE(runsFor(worker->pid(), 5 * kMillisecond));
  worker->resume();
  EXPECT_TRUE(hello());
  worker->pause();
  EXPECT_TRUE(hello()); // who is asked runs
  EXPECT_TRUE(runsFor(worker->pid(), 5 * kMillisecond));
}

TEST_F(StrayProcesses, WhoContinuesByItselfIsEnded) {
  start({"spin"});
  worker->pause();
  sleepFor(300);
  EXPECT_TRUE(worker->checkPaused().ok());
  EXPECT_TRUE(hello());
  start({"awake"});
  Status ran = continuedByItself();
  EXPECT_TRUE(ran.message().starts_with("runs while it is stopped: for ")) << ran.toString();
  EXPECT_FALSE(worker->alive());
  EXPECT_EQ(worker->outcome(), Outcome::Rubbish);
  // Who is asked is looked at before.
  start({"awake"});
  worker->pause();
  EXPECT_TRUE(runsFor(worker->pid(), 2 * kMillisecond)); // which its timers let it
  EXPECT_FALSE(hello());
}

TEST_F(StrayProcesses, WhoContinuesAChildIsEnded) {
  start({"sleepchild"});
  worker->pause();
  sleepFor(100);
  EXPECT_TRUE(worker->checkPaused().ok());
  EXPECT_TRUE(hello());
  start({"awakechild"});
  (void)child(); // it has set its timers
  Status ran = continuedByItself();
  EXPECT_TRUE(ran.message().starts_with("runs while it is stopped")) << ran.toString();
}

TEST_F(StrayProcesses, ChildrenThatHaveEndedAreNotAwaited) {
  start({"zombie"});
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 20; ++i) {
    uint64_t began = monotonicNanoseconds();
    worker->pause();
    shortest = std::min(shortest, monotonicNanoseconds() - began);
    EXPECT_TRUE(hello());
  }
  EXPECT_LT(shortest, 100 * kMillisecond); // the patience of each, where it awaits them
}

TEST_F(StrayProcesses, NorDoesWhatAPausedWorkerStarted) {
  start({"session"});
  pid_t burning = child();
  EXPECT_TRUE(runsFor(burning, 5 * kMillisecond));
  worker->pause();
  ASSERT_TRUE(stops(burning));
  sleepFor(5); // the system may count what ran until the stop a moment after it
  uint64_t before = cpuTime(burning);
  sleepFor(100);
  EXPECT_EQ(cpuTime(burning), before);
  worker->resume();
  EXPECT_TRUE(runsFor(burning, 5 * kMillisecond));
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
  for (Deadline end = Deadline::after(kLong); ::waitpid(pid, &status, WNOHANG) == 0 && end.remaining() > 0;)
    sleepFor(5);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// What a turn of a worker that lives on pays for it, less what it and this process wait for a processor meanwhile.
TEST_F(StrayProcesses, PausingCostsLittle) {
  start({});
  auto times = [&] { return std::pair(WorkerTimes::of(::getpid()), WorkerTimes::of(worker->pid())); };
  std::vector<double> both;
  for (int i = 0; i < 200; ++i) {
    auto before = times();
    uint64_t begin = monotonicNanoseconds();
    worker->pause();
    uint64_t paused = monotonicNanoseconds();
    sleepFor(1);
    uint64_t again = monotonicNanoseconds();
    worker->resume();
    uint64_t took = paused - begin + monotonicNanoseconds() - again;
    auto after = times();
    uint64_t waited = waitedBetween(before.first, after.first) + waitedBetween(before.second, after.second);
    both.push_back(double(took - std::min(took, waited)) / 1000);
    ASSERT_TRUE(hello());
  }
  std::ranges::sort(both);
  std::printf("pausing and resuming a worker: median %.0f us, 9 of 10 below %.0f us\n", both[100], both[180]);
  EXPECT_LT(both[100], kSanitized ? 100'000 : 2000);
}

} // namespace
} // namespace kiln::measure
