#include "kiln/measure/workers/worker_times.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "kiln/base/clock.h"
#include "gtest/gtest.h"

namespace kiln::measure {
namespace {

void runFor(uint64_t nanoseconds) {
  for (uint64_t start = monotonicNanoseconds(); monotonicNanoseconds() - start < nanoseconds;) {
  }
}

uint64_t processorTime() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}
// Of processor time, which others do not change.
void computeFor(uint64_t nanoseconds) {
  for (uint64_t start = processorTime(); processorTime() - start < nanoseconds;) {
  }
}

TEST(WorkerTimes, CountWhatAllThreadsRan) {
  WorkerTimes before = WorkerTimes::of(::getpid());
  computeFor(20'000'000);
  std::thread([] { computeFor(20'000'000); }).join();
  WorkerTimes after = WorkerTimes::of(::getpid());
  uint64_t running = after.running - before.running;
  EXPECT_GE(running, 40'000'000U);
  EXPECT_LT(running, 60'000'000U);
  EXPECT_TRUE(after.threads.contains(::getpid()));
}

TEST(WorkerTimes, WaitingForOthersIsADisturbanceAndForEachOtherIsNot) {
  auto times = [](ThreadTimes first, ThreadTimes second) {
    WorkerTimes all;
    all.threads = {{1, first}, {2, second}};
    all.running = first.running + second.running;
    return all;
  };
  WorkerTimes start = times({100, 10}, {50, 5});
  EXPECT_EQ(disturbedBetween(start, times({200, 90}, {50, 5})), 80U);
  EXPECT_EQ(disturbedBetween(start, times({200, 10}, {50, 100})), 0U); // it waited while the first one ran
  EXPECT_EQ(disturbedBetween(start, times({110, 10}, {50, 100})), 85U);
  WorkerTimes parent = times({200, 90}, {50, 5});
  parent.hasChildren = true;
  EXPECT_EQ(disturbedBetween(start, parent), 0U);
}

// A thread that has ended may have given its number to another; a program that is not counted has no excuse.
TEST(WorkerTimes, NoTimeGoesBackwards) {
  auto times = [](uint64_t running, uint64_t waiting) {
    WorkerTimes all;
    all.threads = {{1, {running, waiting}}};
    all.running = 1000;
    return all;
  };
  EXPECT_EQ(waitedBetween(times(10, 900), times(20, 100)), 100U);
  EXPECT_EQ(waitedBetween(times(900, 10), times(20, 100)), 100U);
  WorkerTimes escaped = times(20, 100);
  escaped.running = 1010;
  EXPECT_EQ(disturbedBetween(times(10, 0), escaped), 100U);
  escaped.escaped = true;
  EXPECT_EQ(disturbedBetween(times(10, 0), escaped), 0U);
}

// Two threads that wait for each other on one processor are not disturbed, though each of them waits.
TEST(WorkerTimes, WaitingIsForOthersAsFarAsOthersRan) {
  constexpr uint64_t second = 1'000'000'000;
  Disturbances quiet, busy, half;
  uint64_t kept[3] = {};
  for (int i = 0; i < 100; ++i) {
    kept[0] += quiet.add(second / 100, 0);
    kept[1] += busy.add(second / 100, second / 50);
    kept[2] += half.add(second / 100, i % 2 ? second / 100 : 0); // counted in steps
  }
  EXPECT_LT(kept[0], second / 8);
  EXPECT_EQ(kept[1], second);
  EXPECT_NEAR(double(kept[2]) / second, 0.55, 0.1);
}

// A host that takes a seventh of the time is counted late, in steps; who was idle longer than that has no excuse.
TEST(WorkerTimes, WhatTheHostTookIsNobodysTime) {
  constexpr uint64_t ms = 1'000'000;
  StolenTime honest, idler, quiet;
  uint64_t excused[3] = {};
  for (int i = 0; i < 100; ++i) {
    uint64_t stolen = i % 5 == 4 ? 10 * ms : 0; // 2 of each request
    excused[0] += honest.add(2 * ms, stolen);
    excused[1] += idler.add(8 * ms, stolen);
    excused[2] += quiet.add(8 * ms, 0);
  }
  EXPECT_NEAR(double(excused[0]), double(200 * ms), double(10 * ms));
  EXPECT_LE(excused[1], 200 * ms);
  EXPECT_EQ(excused[2], 0U);
  EXPECT_EQ(mostStolen(std::vector<uint64_t>{10, 20, 9}, std::vector<uint64_t>{11, 25, 0}), 5U);
  StolenTime before;
  before.add(0, 1000 * ms);
  before.add(0, 0);
  EXPECT_LE(before.add(1000 * ms, 0), 20 * ms); // what was taken long ago is no excuse
}

TEST(WorkerTimes, TheSystemCountsWhatRuns) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  std::vector<uint32_t> cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all))
      cpus.push_back(cpu);
  uint64_t before = busyNanoseconds(cpus);
  if (before == 0)
    GTEST_SKIP() << "this system does not tell";
  WorkerTimes start = WorkerTimes::of(::getpid());
  runFor(300'000'000);
  uint64_t ran = WorkerTimes::of(::getpid()).running - start.running;
  EXPECT_GE(busyNanoseconds(cpus) - before, ran / 2);
  EXPECT_EQ(busyNanoseconds({}), 0U);
}

// Time in the kernel counts, and what a child ran that has ended.
TEST(WorkerTimes, ACounterCountsAll) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  pid_t worker = ::fork();
  if (worker == 0) {
    char ready = 0;
    [[maybe_unused]] ssize_t got = ::read(gate[0], &ready, 1);
    for (uint64_t start = monotonicNanoseconds(); monotonicNanoseconds() - start < 50'000'000;)
      ::syscall(SYS_getppid);
    if (pid_t child = ::fork(); child == 0) {
      runFor(50'000'000);
      ::_exit(0);
    } else {
      ::waitpid(child, nullptr, 0);
    }
    ::_exit(0);
  }
  RunTimeCounter counter = RunTimeCounter::of(worker);
  ASSERT_EQ(::write(gate[1], "", 1), 1);
  ::close(gate[0]);
  ::close(gate[1]);
  rusage usage = {};
  ASSERT_EQ(::wait4(worker, nullptr, 0, &usage), worker);
  if (!counter.read())
    GTEST_SKIP() << "this system does not tell";
  auto nanoseconds = [](const timeval &time) {
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_usec) * 1000;
  };
  uint64_t ran = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  EXPECT_GT(*counter.read() + 15'000'000, ran);
  EXPECT_LT(*counter.read(), ran + 30'000'000);
}

// Two threads on one processor: each of them waits for the other.
TEST(WorkerTimes, WaitingIsSeen) {
  cpu_set_t one, all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  pid_t child = ::fork();
  if (child == 0) {
    runFor(200'000'000);
    ::_exit(0);
  }
  WorkerTimes before = WorkerTimes::of(::getpid());
  runFor(100'000'000);
  WorkerTimes after = WorkerTimes::of(::getpid());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
  if (after.threads.empty())
    GTEST_SKIP() << "this system does not tell";
  EXPECT_EQ(disturbedBetween(before, after), 0U); // it is a child of its own
  before.hasChildren = after.hasChildren = false;
  EXPECT_GT(disturbedBetween(before, after), 10'000'000U);
}

} // namespace
} // namespace kiln::measure
