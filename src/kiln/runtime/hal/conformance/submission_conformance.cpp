// Fences, semaphores, failures, concurrency and lifetimes.
#include "kiln/base/clock.h"
#include "kiln/runtime/hal/conformance/conformance.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unistd.h>

namespace kiln::hal::conformance {
namespace {

// Fills the first eight bytes of slot 0 with the byte.
Ref<CommandBuffer> fillWith(Device &device, uint8_t value, uint64_t length = 8) {
  Ref<CommandBuffer> commands = *device.createCommandBuffer(CommandBufferMode::Replay, 1);
  KILN_EXPECT_OK(commands->fill({0, 0, length}, value, 1));
  KILN_EXPECT_OK(commands->finalize());
  return commands;
}

TEST_P(Conformance, SemaphoresCountUp) {
  KILN_ASSERT_ASSIGN(Ref<Semaphore> semaphore, device->createSemaphore(5));
  EXPECT_EQ(*semaphore->query(), 5u);
  EXPECT_TRUE(semaphore->isReached(5));
  EXPECT_FALSE(semaphore->isReached(6));
  KILN_EXPECT_OK(semaphore->wait(3, Deadline::immediate()));
  KILN_EXPECT_ERROR(semaphore->wait(6, Deadline::immediate()), DeadlineExceeded, "");
  KILN_EXPECT_ERROR(semaphore->wait(6, Deadline::after(5'000'000)), DeadlineExceeded, "");
  KILN_EXPECT_OK(semaphore->signal(9));
  KILN_EXPECT_OK(semaphore->wait(7, Deadline::infinite()));
  KILN_EXPECT_ERROR(semaphore->signal(9), InvalidArgument, "stands at 9 cannot be signalled to 9");
  KILN_EXPECT_ERROR(semaphore->signal(2), InvalidArgument, "stands at 9 cannot be signalled to 2");
  KILN_EXPECT_ERROR(semaphore->signal(UINT64_MAX), InvalidArgument, "reserved");
  EXPECT_EQ(*semaphore->query(), 9u);
}

TEST_P(Conformance, SemaphoresFailForGood) {
  KILN_ASSERT_ASSIGN(Ref<Semaphore> semaphore, device->createSemaphore(0));
  semaphore->fail(dataLoss("first"));
  semaphore->fail(dataLoss("second"));
  KILN_EXPECT_ERROR(semaphore->query(), DataLoss, "first");
  KILN_EXPECT_ERROR(semaphore->signal(1), DataLoss, "first");
  KILN_EXPECT_ERROR(semaphore->wait(1, Deadline::infinite()), DataLoss, "first");
  EXPECT_TRUE(semaphore->isReached(1000));
}

TEST_P(Conformance, WaitersWakeWhenAnotherThreadSignals) {
  for (int round = 0; round < 20; ++round) {
    KILN_ASSERT_ASSIGN(Ref<Semaphore> semaphore, device->createSemaphore(0));
    std::vector<std::thread> waiters;
    for (uint64_t i = 0; i < 3; ++i)
      waiters.emplace_back([&, i] { KILN_EXPECT_OK(semaphore->wait(i + 1, patience())); });
    if (round % 2)
      usleep(1000);
    for (uint64_t value : {1, 2, 3})
      KILN_EXPECT_OK(semaphore->signal(value));
    for (std::thread &waiter : waiters)
      waiter.join();
  }
}

TEST_P(Conformance, WorkWaitsForItsFence) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> commands = fillWith(*device, 7);
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  Ref<Fence> open = Fence::create(gate, 1);
  KILN_ASSERT_ASSIGN(Ref<Fence> done, execute(*commands, table({buffer}), open.get()));
  usleep(5000);
  EXPECT_FALSE(done->isSignaled());
  KILN_EXPECT_ERROR(done->wait(Deadline::after(1'000'000)), DeadlineExceeded, "");
  EXPECT_EQ(contents<uint8_t>(buffer.get()), std::vector<uint8_t>(8, 0));
  KILN_ASSERT_OK(gate->signal(1));
  KILN_ASSERT_OK(done->wait(patience()));
  EXPECT_TRUE(done->isSignaled());
  EXPECT_EQ(contents<uint8_t>(buffer.get()), std::vector<uint8_t>(8, 7));
}

// What was executed once can be put together and run again, in order, and its time is the device's.
TEST_P(Conformance, ClocksTimeWhatWasExecuted) {
  DeviceClock *clock = device->clock();
  if (!clock)
    GTEST_SKIP() << "the device has no clock of its own";
  constexpr uint64_t kBytes = 1 << 16;
  Ref<Buffer> source = allocate(std::vector<uint8_t>(kBytes, 1)), target = allocate(std::vector<uint8_t>(kBytes, 2));
  Ref<CommandBuffer> copy = record(2, CommandBufferMode::OneShot), fill = fillWith(*device, 9, kBytes);
  KILN_ASSERT_OK(copy->copy({0, 0, kBytes}, 1, 0));
  KILN_ASSERT_OK(copy->finalize());
  std::vector<Submission> kept;
  device->keepSubmissions(&kept);
  KILN_ASSERT_OK(run(*copy, table({source, target})));
  KILN_ASSERT_OK(run(*fill, table({source})));
  device->keepSubmissions(nullptr);
  KILN_ASSERT_OK(run(*fill, table({target})));
  ASSERT_EQ(kept.size(), 2u);
  KILN_ASSERT_ASSIGN(Ref<TimedWork> pair, clock->prepare(kept));
  std::vector<Submission> all;
  for (int i = 0; i < 30; ++i)
    all.insert(all.end(), kept.begin(), kept.end());
  KILN_ASSERT_ASSIGN(Ref<TimedWork> many, clock->prepare(std::move(all)));
  EXPECT_EQ(contents<uint8_t>(target.get()).front(), 9) << "nothing runs before it is asked to";
  std::vector<double> ofPair;
  for (uint8_t value : {4, 5, 6, 7}) {
    const std::vector<uint8_t> values(kBytes, value);
    KILN_ASSERT_OK(source->write(0, std::as_bytes(std::span(values))));
    KILN_ASSERT_ASSIGN(ofPair.emplace_back(), pair->run());
    EXPECT_GT(ofPair.back(), 0);
    EXPECT_EQ(contents<uint8_t>(target.get()), values);
    EXPECT_EQ(contents<uint8_t>(source.get()), std::vector<uint8_t>(kBytes, 9));
  }
  const uint64_t before = monotonicNanoseconds();
  KILN_ASSERT_ASSIGN(const double ofMany, many->run());
  EXPECT_GT(ofMany, 5 * *std::ranges::min_element(ofPair));
  if (!clock->isSimulated()) {
    EXPECT_LT(ofMany, 1.01 * double(monotonicNanoseconds() - before));
  }
}

TEST_P(Conformance, ChainsOfWorkKeepTheirOrder) {
  // All of it is submitted before anything may start; the last link decides.
  constexpr int kLinks = 20'000;
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> even = fillWith(*device, 2), odd = fillWith(*device, 3), empty = record(0);
  KILN_ASSERT_OK(empty->finalize());
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  Ref<Fence> last = Fence::create(gate, 1);
  for (int i = 0; i < kLinks; ++i) {
    if (i % 3 == 2) {
      KILN_ASSERT_ASSIGN(last, execute(*empty, {}, last.get()));
    } else {
      KILN_ASSERT_ASSIGN(last, execute(i % 2 ? *odd : *even, table({buffer}), last.get()));
    }
  }
  EXPECT_FALSE(last->isSignaled());
  KILN_ASSERT_OK(gate->signal(1));
  KILN_ASSERT_OK(last->wait(patience()));
  EXPECT_EQ(contents<uint8_t>(buffer.get())[0], (kLinks - 1) % 2 ? 3 : 2);
}

// What is given back behind a fence goes to work that waits for it, before it has ended; others get other memory.
TEST_P(Conformance, MemoryGoesOnBehindAFence) {
  constexpr uint64_t kBytes = 1000;
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  KILN_ASSERT_ASSIGN(Ref<Semaphore> other, device->createSemaphore(0));
  Ref<Fence> closed = Fence::create(gate, 1), unrelated = Fence::create(other, 1);
  Ref<Buffer> seen = allocate(std::vector<uint8_t>(2 * kBytes, 0));
  Ref<CommandBuffer> copy = record(2);
  KILN_ASSERT_OK(copy->copy({0, 0, kBytes}, 1, 0));
  KILN_ASSERT_OK(copy->finalize());
  Ref<CommandBuffer> ones = fillWith(*device, 1, kBytes), twos = fillWith(*device, 2, kBytes);
  auto tableOf = [&](const Ref<Buffer> &buffer, uint64_t half) {
    std::vector<Binding> bindings = table({buffer, seen});
    bindings[1] = {seen.get(), half * kBytes, kBytes};
    return bindings;
  };

  KILN_ASSERT_ASSIGN(Ref<Buffer> first, device->allocateOrdered(closed.get(), BufferUsage::Transient, kBytes));
  KILN_ASSERT_ASSIGN(Ref<Fence> filled, execute(*ones, table({first}), closed.get()));
  KILN_ASSERT_ASSIGN(Ref<Fence> done, execute(*copy, tableOf(first, 0), filled.get()));
  device->releaseOrdered(done.get(), *first);
  const Buffer *address = first.get();
  first = nullptr;
  KILN_ASSERT_ASSIGN(Ref<Buffer> apart, device->allocateOrdered(unrelated.get(), BufferUsage::Transient, kBytes));
  KILN_ASSERT_ASSIGN(Ref<Buffer> shorter, device->allocateOrdered(done.get(), BufferUsage::Transient, kBytes - 1));
  EXPECT_NE(apart.get(), address);
  EXPECT_NE(shorter.get(), address);
  Fence *both[] = {unrelated.get(), done.get()};
  Ref<Fence> behind = Fence::join(both);
  KILN_ASSERT_ASSIGN(Ref<Buffer> second, device->allocateOrdered(behind.get(), BufferUsage::Transient, kBytes));
  EXPECT_EQ(second.get() == address, device->queueCount() > 0);
  KILN_ASSERT_ASSIGN(Ref<Buffer> third, device->allocateOrdered(done.get(), BufferUsage::Transient, kBytes));
  EXPECT_NE(third.get(), address);
  KILN_ASSERT_ASSIGN(Ref<Fence> refilled, execute(*twos, table({second}), behind.get()));
  KILN_ASSERT_ASSIGN(Ref<Fence> last, execute(*copy, tableOf(second, 1), refilled.get()));
  // A result is not a program's own.
  device->releaseOrdered(last.get(), *seen);
  KILN_ASSERT_ASSIGN(Ref<Buffer> result, device->allocateOrdered(last.get(), BufferUsage::Result, 2 * kBytes));
  EXPECT_NE(result.get(), seen.get());
  device->releaseOrdered(last.get(), *second);
  second = third = apart = shorter = nullptr;

  KILN_ASSERT_OK(gate->signal(1));
  KILN_ASSERT_OK(other->signal(1));
  KILN_ASSERT_OK(last->wait(patience()));
  std::vector<uint8_t> expected(kBytes, 1);
  expected.resize(2 * kBytes, 2);
  EXPECT_EQ(contents<uint8_t>(seen.get()), expected);
  // Nothing is kept for long once the fence is signalled.
  for (int i = 0; i < 60'000 && device->allocator().statistics().transient.live > 0; ++i)
    usleep(1000);
  EXPECT_EQ(device->allocator().statistics().transient.live, 0U);
}

TEST_P(Conformance, FewPointsOfAFenceAreLeft) {
  std::vector<Ref<Semaphore>> timelines;
  std::vector<SemaphorePoint> points;
  for (int i = 0; i < 4; ++i) {
    KILN_ASSERT_ASSIGN(timelines.emplace_back(), device->createSemaphore(0));
    points.push_back({timelines.back(), 1});
  }
  Ref<Fence> all = Fence::create(points);
  KILN_ASSERT_ASSIGN(Ref<Fence> same, all->waitUntilFewer(5, nullptr));
  EXPECT_EQ(same.get(), all.get());
  std::thread other([&] {
    usleep(2000);
    KILN_EXPECT_OK(timelines[0]->signal(1));
  });
  KILN_ASSERT_ASSIGN(Ref<Fence> rest, all->waitUntilFewer(4, nullptr));
  other.join();
  ASSERT_EQ(rest->points().size(), 3u);
  EXPECT_EQ(rest->points()[0].semaphore.get(), timelines[1].get());
  EXPECT_FALSE(rest->isSignaled());
  timelines[1]->fail(dataLoss("the second"));
  KILN_EXPECT_ERROR(rest->waitUntilFewer(3, nullptr), DataLoss, "the second");
  KILN_ASSERT_OK(timelines[2]->signal(1));
  KILN_ASSERT_OK(timelines[3]->signal(1));
}

TEST_P(Conformance, JoinsFences) {
  KILN_ASSERT_ASSIGN(Ref<Semaphore> a, device->createSemaphore(0));
  KILN_ASSERT_ASSIGN(Ref<Semaphore> b, device->createSemaphore(0));
  Ref<Fence> fences[] = {Fence::create(a, 1), Fence::create(b, 2), Fence::create(a, 3), Fence::signaled()};
  Fence *list[] = {fences[0].get(), nullptr, fences[1].get(), fences[2].get(), fences[3].get()};
  Ref<Fence> all = Fence::join(list);
  EXPECT_EQ(all->points().size(), 2u);
  KILN_ASSERT_OK(a->signal(2));
  KILN_ASSERT_OK(b->signal(2));
  EXPECT_FALSE(all->isSignaled());
  KILN_EXPECT_ERROR(all->wait(Deadline::immediate()), DeadlineExceeded, "");
  KILN_ASSERT_OK(a->signal(3));
  EXPECT_TRUE(all->isSignaled());
  KILN_EXPECT_OK(all->wait());

  EXPECT_TRUE(Fence::join({})->isSignaled());
  Fence *nulls[] = {nullptr, fences[3].get(), nullptr};
  EXPECT_TRUE(Fence::join(nulls)->isSignaled());
  Fence *one[] = {nullptr, fences[1].get(), fences[3].get()};
  EXPECT_EQ(Fence::join(one).get(), fences[1].get());
}

TEST_P(Conformance, JoinsVeryManyFences) {
  std::vector<Ref<Semaphore>> semaphores;
  std::vector<Ref<Fence>> fences;
  std::vector<Fence *> list;
  for (uint64_t i = 0; i < 20'000; ++i) {
    if (i % 2 == 0)
      semaphores.push_back(*device->createSemaphore(0));
    fences.push_back(Fence::create(semaphores.back(), 1 + i % 2));
    list.push_back(fences.back().get());
  }
  Ref<Fence> all = Fence::join(list);
  EXPECT_EQ(all->points().size(), semaphores.size());
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> commands = fillWith(*device, 5);
  KILN_ASSERT_ASSIGN(Ref<Fence> done, execute(*commands, table({buffer}), all.get()));
  for (const Ref<Semaphore> &semaphore : semaphores) {
    EXPECT_FALSE(done->isSignaled());
    KILN_ASSERT_OK(semaphore->signal(2));
  }
  KILN_ASSERT_OK(done->wait(patience()));
}

TEST_P(Conformance, FailuresReachTheWorkThatWaits) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> commands = fillWith(*device, 7), empty = record(0);
  KILN_ASSERT_OK(empty->finalize());
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  KILN_ASSERT_ASSIGN(Ref<Semaphore> other, device->createSemaphore(0));
  Ref<Fence> a = Fence::create(gate, 1), b = Fence::create(other, 1);
  Fence *both[] = {a.get(), b.get()};
  KILN_ASSERT_ASSIGN(Ref<Fence> first, execute(*commands, table({buffer}), Fence::join(both).get()));
  KILN_ASSERT_ASSIGN(Ref<Fence> second, execute(*empty, {}, first.get()));
  gate->fail(dataLoss("the disk is gone"));
  KILN_ASSERT_OK(other->signal(1));
  KILN_EXPECT_ERROR(first->wait(patience()), DataLoss, "the disk is gone");
  KILN_EXPECT_ERROR(second->wait(patience()), DataLoss, "the disk is gone");
  EXPECT_EQ(contents<uint8_t>(buffer.get()), std::vector<uint8_t>(8, 0));
  // A fence that had failed before it was waited for.
  Ref<Fence> failed = Fence::failed(dataLoss("long ago"));
  EXPECT_TRUE(failed->isSignaled());
  KILN_ASSERT_ASSIGN(Ref<Fence> third, execute(*commands, table({buffer}), failed.get()));
  KILN_EXPECT_ERROR(third->wait(patience()), DataLoss, "long ago");
  EXPECT_EQ(contents<uint8_t>(buffer.get()), std::vector<uint8_t>(8, 0));
}

TEST_P(Conformance, WorkThatNobodyCanStartIsCancelled) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> commands = fillWith(*device, 7);
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  Ref<Fence> open = Fence::create(gate, 1);
  KILN_ASSERT_ASSIGN(Ref<Fence> done, execute(*commands, table({buffer}), open.get()));
  open = nullptr;
  gate = nullptr;
  KILN_EXPECT_ERROR(done->wait(patience()), Cancelled, "destroyed before it was signalled");
}

TEST_P(Conformance, ReplaysFromManyThreadsAtOnce) {
  KILN_SKIP_WITHOUT_DISPATCH();
  constexpr uint64_t kGroups = 33;
  constexpr int kThreads = 4, kRounds = 300;
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(commands->fill({1, 0, kGroups * 4}, 0, 4));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, kGroups * 4}}, kGroups));
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{1, 0, kGroups * 4}}, kGroups));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{1, 0, kGroups * 4}}, kGroups));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> shared = allocate(std::vector<uint32_t>(kGroups, 0));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Ref<Buffer> own = allocate(kGroups * 4);
      for (int round = 0; round < kRounds; ++round) {
        KILN_ASSERT_OK(run(*commands, table({shared, own})));
        ASSERT_EQ(contents<uint32_t>(own.get()), std::vector<uint32_t>(kGroups, 2));
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(contents<uint32_t>(shared.get()), std::vector<uint32_t>(kGroups, kThreads * kRounds));
}

TEST_P(Conformance, HoldsMoreSubmissionsThanItCanRun) {
  Ref<CommandBuffer> commands = fillWith(*device, 7);
  std::vector<Ref<Buffer>> buffers;
  std::vector<Ref<Fence>> fences;
  for (int i = 0; i < 1000; ++i) {
    buffers.push_back(allocate(std::vector<uint8_t>(8, 0)));
    KILN_ASSERT_ASSIGN(Ref<Fence> fence, execute(*commands, table({buffers.back()})));
    fences.push_back(std::move(fence));
  }
  for (size_t i = fences.size(); i-- > 0;) {
    KILN_ASSERT_OK(fences[i]->wait(patience()));
    ASSERT_EQ(contents<uint8_t>(buffers[i].get()), std::vector<uint8_t>(8, 7));
  }
}

// Whoever submits may forget everything at once.
TEST_P(Conformance, SubmissionsRetainWhatTheyUse) {
  constexpr uint64_t kLength = 1 << 20;
  for (int round = 0; round < 20; ++round) {
    KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
    Ref<Fence> done;
    {
      Ref<Buffer> buffer = allocate(kLength, BufferUsage::Transient);
      Ref<Fence> open = Fence::create(gate, 1);
      Ref<CommandBuffer> commands = fillWith(*device, 7, kLength);
      KILN_ASSERT_ASSIGN(done, execute(*commands, table({buffer}), open.get()));
    }
    EXPECT_EQ(device->allocator().statistics().transient.live, kLength);
    KILN_ASSERT_OK(gate->signal(1));
    KILN_ASSERT_OK(done->wait(patience()));
    // The memory is free when the fence says that the work is done.
    EXPECT_EQ(device->allocator().statistics().transient.live, 0u);
  }
}

TEST_P(Conformance, DispatchesRetainTheirExecutable) {
  KILN_SKIP_WITHOUT_DISPATCH();
  Ref<Buffer> counts = allocate(std::vector<uint32_t>(8, 0));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 32}}, 8));
  KILN_ASSERT_OK(commands->finalize());
  kernels = nullptr;
  KILN_ASSERT_ASSIGN(Ref<Fence> done, execute(*commands, table({counts})));
  commands = nullptr;
  KILN_ASSERT_OK(done->wait(patience()));
  EXPECT_EQ(contents<uint32_t>(counts.get()), std::vector<uint32_t>(8, 1));
}

// The device may go while its work is on the way; the last reference may be one that a worker drops.
TEST_P(Conformance, TheDeviceMayGoBeforeItsWork) {
  for (int round = 0; round < 30; ++round) {
    DeviceOptions options;
    options.task.workerCount = GetParam().workers;
    KILN_ASSERT_ASSIGN(Ref<Device> own, registry.createDevice(GetParam().uri, options));
    constexpr uint64_t kLength = 1 << 18;
    Ref<CommandBuffer> commands = fillWith(*own, 9, kLength);
    std::vector<Ref<Buffer>> buffers;
    std::vector<Ref<Fence>> fences;
    for (int i = 0; i < 10; ++i) {
      buffers.push_back(*own->allocator().allocate(BufferUsage::Result, kLength));
      fences.push_back(*own->execute(nullptr, commands.get(), table({buffers.back()})));
    }
    own = nullptr;
    commands = nullptr;
    if (round % 3 == 1)
      fences.clear(); // nobody waits: a worker is the last
    if (round % 3 == 2)
      usleep(200);
    for (size_t i = 0; i < fences.size(); ++i) {
      KILN_EXPECT_OK(fences[i]->wait(patience()));
      EXPECT_EQ(contents<uint8_t>(buffers[i].get()), std::vector<uint8_t>(kLength, 9));
    }
  }
}

// Work that is to be thrown away with its gate, from another thread than the one that submitted it.
TEST_P(Conformance, TheDeviceMayGoWithWorkThatNeverStarts) {
  DeviceOptions options;
  options.task.workerCount = GetParam().workers;
  KILN_ASSERT_ASSIGN(Ref<Device> own, registry.createDevice(GetParam().uri, options));
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, own->createSemaphore(0));
  Ref<Buffer> buffer = *own->allocator().allocate(BufferUsage::Result, 8);
  Ref<CommandBuffer> commands = fillWith(*own, 9);
  KILN_ASSERT_ASSIGN(Ref<Fence> done, own->execute(Fence::create(gate, 1).get(), commands.get(), table({buffer})));
  commands = nullptr;
  buffer = nullptr;
  own = nullptr;
  std::thread([gate = std::move(gate)]() mutable { gate = nullptr; }).join();
  KILN_EXPECT_ERROR(done->wait(patience()), Cancelled, "destroyed before it was signalled");
}

} // namespace
} // namespace kiln::hal::conformance
