#include "kiln/runtime/task/scheduler.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kiln::task {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// Parts that are claimed one at a time; signals when all are done and it has retired.
class TestJob final : public Job {
public:
  TestJob(uint64_t parts, std::function<void(Worker &, uint64_t)> run) : parts(parts), run(std::move(run)) {}

  Progress work(Worker &worker) override {
    inside.fetch_add(1);
    Progress progress = Progress::Nothing;
    for (uint64_t part; !worker.isInterrupted() && (part = next.fetch_add(1)) < parts;) {
      run(worker, part);
      progress = done.fetch_add(1) + 1 == parts ? Progress::Completed : Progress::Worked;
    }
    inside.fetch_sub(1);
    return progress;
  }
  void complete() override { completed.fetch_add(1); }
  void retire() override {
    EXPECT_EQ(inside.load(), 0);
    EXPECT_EQ(completed.load(), 1);
    retired.fetch_add(1);
    parker.unpark();
  }

  const uint64_t parts;
  const std::function<void(Worker &, uint64_t)> run;
  std::atomic<uint64_t> next{0}, done{0};
  std::atomic<int> inside{0}, completed{0}, retired{0};
  Parker parker;
};

// Met when a number is reached.
class Reached final : public WaitCondition {
public:
  explicit Reached(std::function<bool()> met) : met(std::move(met)) {}
  bool isMet() const override { return met(); }
  bool arm(Parker &parker) override {
    std::lock_guard lock(mutex);
    if (met())
      return false;
    armed = &parker;
    return true;
  }
  void disarm() override {
    std::lock_guard lock(mutex);
    armed = nullptr;
  }
  // After the number has changed.
  void notify() {
    std::lock_guard lock(mutex);
    if (armed)
      armed->unpark();
  }

private:
  const std::function<bool()> met;
  std::mutex mutex;
  Parker *armed = nullptr;
};

Topology cores(size_t count) {
  Topology topology;
  for (size_t i = 0; i < count; ++i)
    topology.cores.push_back(Core{{uint32_t(i)}});
  return topology;
}

class SchedulerTest : public testing::TestWithParam<uint32_t> {
protected:
  void SetUp() override { create(SchedulerOptions()); }
  void TearDown() override {
    if (scheduler)
      scheduler->shutDown();
  }
  void create(SchedulerOptions options) {
    if (scheduler)
      scheduler->shutDown();
    options.workerCount = GetParam();
    Result<std::shared_ptr<Scheduler>> result = Scheduler::create(options, cores(1));
    ASSERT_TRUE(result.ok()) << result.status().toString();
    scheduler = *result;
  }
  void finish(TestJob &job) { ASSERT_TRUE(job.parker.park(Deadline::after(60 * kSecond))); }

  std::shared_ptr<Scheduler> scheduler;
};

TEST_P(SchedulerTest, RunsEveryPartOnce) {
  for (uint64_t parts : {1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> counts(parts);
    TestJob job(parts, [&](Worker &worker, uint64_t part) {
      EXPECT_LT(worker.index(), GetParam());
      counts[part].fetch_add(1);
    });
    scheduler->submit(&job, parts);
    finish(job);
    for (std::atomic<int> &count : counts)
      EXPECT_EQ(count.load(), 1);
  }
}

TEST_P(SchedulerTest, LendsTheWaitingThreadAsWorkerZero) {
  // Nobody else can: all workers but worker 0 are kept busy.
  std::atomic<bool> release{false};
  std::atomic<uint32_t> busy{0};
  TestJob blocker(GetParam(), [&](Worker &worker, uint64_t) {
    if (worker.index() == 0)
      return;
    busy.fetch_add(1);
    while (!release.load())
      usleep(100);
  });
  if (GetParam() > 1)
    scheduler->submit(&blocker, GetParam());
  while (busy.load() < GetParam() - 1 && blocker.next.load() < GetParam())
    usleep(100);
  std::atomic<bool> ran{false};
  std::atomic<uint32_t> index{99};
  Reached condition([&] { return ran.load(); });
  TestJob job(1, [&](Worker &worker, uint64_t) {
    index.store(worker.index());
    ran.store(true);
    condition.notify();
  });
  scheduler->submit(&job, 1);
  EXPECT_TRUE(scheduler->help(condition, Deadline::after(60 * kSecond)));
  finish(job);
  // By this thread as worker 0, by the reserve if that came first, or by a worker that had nothing else to do.
  EXPECT_LT(index.load(), GetParam());
  if (GetParam() == 1) {
    EXPECT_EQ(index.load(), 0u);
  }
  release.store(true);
  if (GetParam() > 1)
    finish(blocker);
}

TEST_P(SchedulerTest, MostCallsNeedNoOtherThread) {
  if (GetParam() != 1)
    GTEST_SKIP() << "with more workers, any of them may be first";
  int own = 0;
  for (int i = 0; i < 1000; ++i) {
    std::atomic<bool> ran{false};
    Reached condition([&] { return ran.load(); });
    std::thread::id thread;
    TestJob job(1, [&](Worker &, uint64_t) {
      thread = std::this_thread::get_id();
      ran.store(true);
      condition.notify();
    });
    scheduler->submit(&job, 1);
    ASSERT_TRUE(scheduler->help(condition, Deadline::after(60 * kSecond)));
    finish(job);
    own += thread == std::this_thread::get_id();
  }
  EXPECT_GT(own, 700);
}

TEST_P(SchedulerTest, HelpersLeaveWhenWhatTheyWaitForHappens) {
  // The foreign job would keep the thread for long. What others do of it meanwhile is their affair.
  std::atomic<bool> met{false};
  Reached condition([&] { return met.load(); });
  const std::thread::id helper = std::this_thread::get_id();
  std::atomic<uint64_t> parts{0}, ownAfterwards{0};
  TestJob job(2000, [&](Worker &, uint64_t) {
    bool isOver = met.load();
    ownAfterwards.fetch_add(isOver && std::this_thread::get_id() == helper);
    if (parts.fetch_add(1) == 10) {
      met.store(true);
      condition.notify();
    }
    usleep(500);
  });
  scheduler->submit(&job, 1);
  EXPECT_TRUE(scheduler->help(condition, Deadline::after(60 * kSecond)));
  // One that it had claimed before, at most.
  EXPECT_LE(ownAfterwards.load(), 1u);
  finish(job);
}

TEST_P(SchedulerTest, HelpTimesOut) {
  Reached condition([] { return false; });
  EXPECT_FALSE(scheduler->help(condition, Deadline::immediate()));
  uint64_t start = monotonicNanoseconds();
  EXPECT_FALSE(scheduler->help(condition, Deadline::after(20'000'000)));
  EXPECT_GE(monotonicNanoseconds() - start, 20'000'000u);
}

TEST_P(SchedulerTest, SleepingHelpersWakeForWorkAndForTheirCondition) {
  SchedulerOptions options;
  options.spinNanoseconds = 0;
  create(options);
  std::atomic<bool> met{false};
  Reached condition([&] { return met.load(); });
  std::thread helper([&] { EXPECT_TRUE(scheduler->help(condition, Deadline::after(60 * kSecond))); });
  for (int i = 0; i < 50; ++i) {
    usleep(300);
    TestJob job(1 + i % 3, [&](Worker &, uint64_t) {});
    scheduler->submit(&job, 1 + i % 3);
    finish(job);
  }
  met.store(true);
  condition.notify();
  helper.join();
}

TEST_P(SchedulerTest, WorksWithoutAWaiterAfterALongSleep) {
  for (int i = 0; i < 4; ++i) {
    TestJob job(1, [](Worker &, uint64_t) {});
    scheduler->submit(&job, 1);
    finish(job);
    usleep(30'000); // the reserve has gone to sleep for good
  }
}

TEST_P(SchedulerTest, TakesMoreJobsThanItHasSlots) {
  constexpr int kJobs = 500;
  std::atomic<int> ran{0};
  std::vector<std::unique_ptr<TestJob>> jobs;
  for (int i = 0; i < kJobs; ++i)
    jobs.push_back(std::make_unique<TestJob>(3, [&](Worker &, uint64_t) { ran.fetch_add(1); }));
  for (std::unique_ptr<TestJob> &job : jobs)
    scheduler->submit(job.get(), 3);
  for (std::unique_ptr<TestJob> &job : jobs)
    finish(*job);
  EXPECT_EQ(ran.load(), 3 * kJobs);
}

TEST_P(SchedulerTest, SubmitsFromManyThreads) {
  std::atomic<uint64_t> ran{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 500; ++round) {
        TestJob job(1 + round % 5, [&](Worker &, uint64_t) { ran.fetch_add(1); });
        Reached condition([&] { return job.retired.load() != 0; });
        scheduler->submit(&job, 1 + round % 5);
        if ((round + i) % 2)
          scheduler->help(condition, Deadline::after(1'000'000));
        finish(job);
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(ran.load(), 4 * 100 * 15u);
}

TEST_P(SchedulerTest, GivesWorkersMemoryThatGrows) {
  TestJob job(50, [&](Worker &worker, uint64_t part) {
    uint64_t bytes = part * 1000 + 1;
    void *memory = worker.localMemory(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::fill_n(static_cast<char *>(memory), bytes, char(part));
    EXPECT_EQ(worker.localMemory(UINT64_MAX), nullptr);
  });
  scheduler->submit(&job, 50);
  finish(job);
}

TEST_P(SchedulerTest, AWorkerMayShutItDown) {
  // As the last reference to a device does.
  struct LastJob final : Job {
    Progress work(Worker &) override { return taken.exchange(true) ? Progress::Nothing : Progress::Completed; }
    void complete() override {}
    void retire() override {
      scheduler->shutDown();
      scheduler = nullptr;
      done->unpark();
    }
    std::atomic<bool> taken{false};
    std::shared_ptr<Scheduler> scheduler;
    Parker *done = nullptr;
  } job;
  Parker done;
  // The thread that submits keeps the scheduler for as long as the call lasts.
  std::shared_ptr<Scheduler> keep = scheduler;
  job.scheduler = std::move(scheduler);
  job.done = &done;
  keep->submit(&job, 1);
  keep = nullptr;
  EXPECT_TRUE(done.park(Deadline::after(60 * kSecond)));
}

INSTANTIATE_TEST_SUITE_P(Workers, SchedulerTest, testing::Values(1, 2, 3, 9));

TEST(SchedulerOptionsTest, RefusesImpossibleNumbers) {
  SchedulerOptions options;
  options.workerCount = Scheduler::kMaxWorkers + 1;
  EXPECT_EQ(Scheduler::create(options, cores(1)).status().toString(),
            "INVALID_ARGUMENT: 4097 workers were asked for; between 1 and 4096 are possible");
}

TEST(SchedulerOptionsTest, BindsWorkersToTheirCores) {
  const Topology &topology = Topology::host();
  if (topology.cores.size() < 2)
    GTEST_SKIP() << "one core: there is nothing to choose";
  SchedulerOptions options;
  Result<std::shared_ptr<Scheduler>> scheduler = Scheduler::create(options, topology);
  ASSERT_TRUE(scheduler.ok());
  ASSERT_EQ((*scheduler)->workerCount(), topology.cores.size());
  std::atomic<uint32_t> arrived{0};
  std::mutex mutex;
  std::set<uint32_t> seen;
  auto count = uint64_t(topology.cores.size());
  TestJob job(count, [&](Worker &worker, uint64_t) {
    cpu_set_t set;
    ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof(set), &set), 0);
    const Core &core = topology.cores[worker.index()];
    EXPECT_EQ(CPU_COUNT(&set), int(core.cpus.size()));
    EXPECT_TRUE(CPU_ISSET(core.cpus[0], &set));
    {
      std::lock_guard lock(mutex);
      seen.insert(worker.index());
    }
    // All at once, so that each worker has one.
    arrived.fetch_add(1);
    Deadline end = Deadline::after(60 * kSecond);
    while (arrived.load() < count && end.remaining())
      sched_yield();
  });
  (*scheduler)->submit(&job, count);
  ASSERT_TRUE(job.parker.park(Deadline::after(120 * kSecond)));
  EXPECT_EQ(seen.size(), count);
  (*scheduler)->shutDown();
}

TEST(ParkerTest, KeepsOneToken) {
  Parker parker;
  EXPECT_FALSE(parker.park(Deadline::immediate()));
  parker.unpark();
  parker.unpark();
  EXPECT_TRUE(parker.park(Deadline::immediate()));
  EXPECT_FALSE(parker.park(Deadline::after(1'000'000)));
}

TEST(ParkerTest, WakesTheSleeper) {
  for (int i = 0; i < 200; ++i) {
    Parker there, back;
    std::thread other([&] {
      EXPECT_TRUE(there.park(Deadline::after(60 * kSecond)));
      back.unpark();
    });
    if (i % 2)
      usleep(50);
    there.unpark();
    EXPECT_TRUE(back.park());
    other.join();
  }
}

TEST(TopologyTest, KnowsTheCoresOfThisProcess) {
  const Topology &topology = Topology::host();
  ASSERT_FALSE(topology.cores.empty());
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  size_t cpus = 0;
  for (const Core &core : topology.cores)
    for (uint32_t cpu : core.cpus) {
      EXPECT_TRUE(CPU_ISSET(cpu, &allowed));
      ++cpus;
    }
  EXPECT_EQ(cpus, size_t(CPU_COUNT(&allowed)));
}

// In a process of its own, in which hwloc makes a machine up: two packages of two cores of two threads.
TEST(TopologyDeathTest, PutsFirstThreadsOfCoresFirst) {
  auto look = [] {
    ::setenv("HWLOC_SYNTHETIC", "pack:2 l3:1(size=16777216) l2:2(size=1048576) core:1 pu:2", 1);
    ::setenv("HWLOC_THISSYSTEM", "0", 1);
    const Topology &topology = Topology::host();
    EXPECT_EQ(topology.cpus, (std::vector<uint32_t>{0, 2, 4, 6, 1, 3, 5, 7}));
    EXPECT_EQ(topology.machineCpus, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(topology.machineCores, 4U);
    EXPECT_EQ(topology.packages, 2U);
    EXPECT_EQ(topology.cores.size(), 4U);
    std::vector<const Cache *> caches = topology.cachesOf(5);
    EXPECT_EQ(caches.size(), 2U);
    EXPECT_EQ(caches.at(0)->bytes, 1U << 20);
    EXPECT_EQ(caches.at(0)->cpus, (std::vector<uint32_t>{4, 5}));
    EXPECT_EQ(caches.at(1)->type, "Unified");
    EXPECT_EQ(caches.at(1)->level, 3U);
    EXPECT_EQ(caches.at(1)->cpus, (std::vector<uint32_t>{4, 5, 6, 7}));
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace kiln::task
