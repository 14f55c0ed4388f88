// What dispatches see, and how they run beside each other.
#include "kiln/runtime/hal/conformance/conformance.h"

#include <algorithm>
#include <numeric>
#include <unistd.h>

namespace kiln::hal::conformance {
namespace {

// In ticks of the kernels' clock: some seconds on the time-stamp counters of today.
constexpr uint64_t kLongTicks = uint64_t(60) * 1'000'000'000;

TEST_P(Conformance, PassesConstantsAndBindings) {
  KILN_SKIP_WITHOUT_DISPATCH();
  std::vector<int32_t> values(1000);
  std::iota(values.begin(), values.end(), -500);
  Ref<Buffer> source = allocate(values), target = allocate(std::vector<int32_t>(1016, 7));
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(
      addDispatch(*commands, ScaleAdd, {1000, 3, uint64_t(uint32_t(-4))}, {{0, 0, 4000}, {1, 64, 4000}}, 17));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({source, target})));
  std::vector<int32_t> expected(1016, 7);
  for (int i = 0; i < 1000; ++i)
    expected[i + 16] = values[i] * 3 - 4;
  EXPECT_EQ(contents<int32_t>(target.get()), expected);
}

TEST_P(Conformance, TellsDispatchesTheirBindings) {
  KILN_SKIP_WITHOUT_KERNEL(DescribeBindings);
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(addDispatch(*commands, DescribeBindings, {}, {{0, 64, 128}, {1, 128, 77}}));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> result = allocate(std::vector<uint64_t>(64, 1)), other = allocate(1000);
  KILN_ASSERT_OK(run(*commands, {{result.get(), 64, 192}, {other.get(), 0, 1000}}));
  std::vector<uint64_t> values = contents<uint64_t>(result.get());
  EXPECT_EQ(std::vector<uint64_t>(values.begin() + 16, values.begin() + 20), (std::vector<uint64_t>{128, 77, 0, 0}));
}

TEST_P(Conformance, CoversTheGridExactlyOnce) {
  KILN_SKIP_WITHOUT_DISPATCH();
  struct Grid {
    uint64_t x, y, z;
  };
  for (Grid grid : {Grid{1, 1, 1}, Grid{7, 1, 1}, Grid{1, 7, 1}, Grid{1, 1, 7}, Grid{3, 5, 2}, Grid{1, 13, 11},
                    Grid{1000, 1, 3}, Grid{100, 100, 1}}) {
    uint64_t total = grid.x * grid.y * grid.z;
    Ref<CommandBuffer> commands = record(1);
    KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, total * 4}}, grid.x, grid.y, grid.z));
    KILN_ASSERT_OK(commands->finalize());
    Ref<Buffer> counts = allocate(std::vector<uint32_t>(total, 0));
    for (uint32_t round = 1; round <= 20; ++round) {
      KILN_ASSERT_OK(run(*commands, table({counts})));
      ASSERT_EQ(contents<uint32_t>(counts.get()), std::vector<uint32_t>(total, round))
          << grid.x << " x " << grid.y << " x " << grid.z;
    }
  }
}

TEST_P(Conformance, RunsNothingForAnEmptyGrid) {
  KILN_SKIP_WITHOUT_DISPATCH();
  Ref<Buffer> counts = allocate(std::vector<uint32_t>(16, 0));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 64}}, 0, 4, 4));
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 64}}, 4, 0, UINT32_MAX));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({counts})));
  EXPECT_EQ(contents<uint32_t>(counts.get()), std::vector<uint32_t>(16, 0));
}

// What is known to be written must be memory that may be; what is only read may be any.
TEST_P(Conformance, DispatchesWriteNoReadOnlyMemory) {
  std::vector<int32_t> values(64, 5);
  HostMemory host;
  host.data = values.data();
  host.length = values.size() * 4;
  host.access = MemoryAccess::Read;
  KILN_ASSERT_ASSIGN(Ref<Buffer> constant, device->allocator().importHost(host));
  Ref<Buffer> buffer = allocate(std::vector<int32_t>(64, 0));
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(addDispatch(*commands, ScaleAdd, {64, 2, 1}, {{0, 0, 256}, {1, 0, 256}}));
  KILN_ASSERT_OK(commands->finalize());
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, constant})), PermissionDenied,
                    "binding slot 1 is written, and its buffer is read-only");
  KILN_ASSERT_OK(run(*commands, table({constant, buffer})));
  if (whyNoDispatch().empty()) {
    EXPECT_EQ(contents<int32_t>(buffer.get()), std::vector<int32_t>(64, 11));
  }
  // Nothing is known of what this one does.
  Ref<CommandBuffer> unknown = record(1);
  KILN_ASSERT_OK(addDispatch(*unknown, Rendezvous, {0, 0, 1}, {{0, 0, 8}}));
  KILN_ASSERT_OK(unknown->finalize());
  const std::vector<Binding> readOnly = table({constant});
  KILN_EXPECT_OK(unknown->checkBindings(readOnly));
}

TEST_P(Conformance, BarriersOrderDispatches) {
  KILN_SKIP_WITHOUT_DISPATCH();
  // x -> 2x + 1, forty times, from one half of the buffer to the other.
  constexpr uint64_t kElements = 4096;
  constexpr int kSteps = 20;
  Ref<Buffer> a = allocate(std::vector<int32_t>(kElements, 1)), b = allocate(kElements * 4);
  Ref<CommandBuffer> commands = record(2);
  for (int i = 0; i < kSteps; ++i) {
    for (uint32_t from : {0, 1}) {
      KILN_ASSERT_OK(addDispatch(*commands, ScaleAdd, {kElements, uint64_t(from ? 1 : 2), 1},
                                 {{from, 0, kElements * 4}, {1 - from, 0, kElements * 4}}, 64));
      KILN_ASSERT_OK(commands->barrier());
    }
  }
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({a, b})));
  int32_t expected = 1;
  for (int i = 0; i < kSteps; ++i)
    expected = 2 * expected + 2;
  EXPECT_EQ(contents<int32_t>(a.get()), std::vector<int32_t>(kElements, expected));
}

TEST_P(Conformance, GivesWorkgroupsLocalMemory) {
  KILN_SKIP_WITHOUT_KERNEL(UseLocalMemory);
  constexpr uint64_t kGroups = 300;
  Ref<Buffer> sums = allocate(kGroups * 8);
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, UseLocalMemory, {}, {{0, 0, kGroups * 8}}, kGroups));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({sums})));
  std::vector<uint64_t> values = contents<uint64_t>(sums.get());
  for (uint64_t id = 0; id < kGroups; ++id)
    ASSERT_EQ(values[id], 1024 * id + 1023 * 1024 / 2) << "workgroup " << id;
}

TEST_P(Conformance, NamesWorkersBelowTheirNumber) {
  KILN_SKIP_WITHOUT_KERNEL(NoteWorker);
  constexpr uint64_t kGroups = 200;
  Ref<Buffer> workers = allocate(std::vector<uint32_t>(kGroups, UINT32_MAX));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, NoteWorker, {}, {{0, 0, kGroups * 4}}, kGroups));
  KILN_ASSERT_OK(commands->finalize());
  for (int round = 0; round < 50; ++round) {
    KILN_ASSERT_OK(run(*commands, table({workers})));
    for (uint32_t worker : contents<uint32_t>(workers.get()))
      ASSERT_LT(worker, device->workerCount());
  }
}

// Each waits until the other has started: one after the other they would wait in vain.
TEST_P(Conformance, OverlapsIndependentDispatches) {
  KILN_SKIP_WITHOUT_DISPATCH();
  if (device->workerCount() < 2)
    GTEST_SKIP() << "the device has one worker, on which nothing overlaps";
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, Rendezvous, {0, 1, kLongTicks}, {{0, 0, 16}}));
  KILN_ASSERT_OK(addDispatch(*commands, Rendezvous, {1, 0, kLongTicks}, {{0, 0, 16}}));
  KILN_ASSERT_OK(commands->finalize());
  for (int round = 0; round < 20; ++round) {
    Ref<Buffer> flags = allocate(std::vector<uint64_t>(2, 0));
    KILN_ASSERT_OK(run(*commands, table({flags})));
  }
}

TEST_P(Conformance, OverlapsIndependentSubmissions) {
  KILN_SKIP_WITHOUT_DISPATCH();
  if (device->workerCount() < 2)
    GTEST_SKIP() << "the device has one worker, on which nothing overlaps";
  Ref<CommandBuffer> commands[2];
  for (uint64_t i : {0, 1}) {
    commands[i] = record(1);
    KILN_ASSERT_OK(addDispatch(*commands[i], Rendezvous, {i, 1 - i, kLongTicks}, {{0, 0, 16}}));
    KILN_ASSERT_OK(commands[i]->finalize());
  }
  for (int round = 0; round < 20; ++round) {
    Ref<Buffer> flags = allocate(std::vector<uint64_t>(2, 0));
    KILN_ASSERT_ASSIGN(Ref<Fence> a, execute(*commands[0], table({flags})));
    KILN_ASSERT_ASSIGN(Ref<Fence> b, execute(*commands[1], table({flags})));
    KILN_ASSERT_OK(a->wait(patience()));
    KILN_ASSERT_OK(b->wait(patience()));
  }
}

// A device with workers runs what nobody waits for.
TEST_P(Conformance, MakesProgressWithoutAWaiter) {
  KILN_SKIP_WITHOUT_DISPATCH();
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 4}}));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 256}}, 64));
  KILN_ASSERT_OK(commands->finalize());
  for (int round = 0; round < 5; ++round) {
    Ref<Buffer> counts = allocate(std::vector<uint32_t>(64, 0));
    KILN_ASSERT_ASSIGN(Ref<Fence> fence, execute(*commands, table({counts})));
    Deadline end = patience();
    while (!fence->isSignaled() && end.remaining())
      usleep(100);
    ASSERT_TRUE(fence->isSignaled());
    EXPECT_EQ(contents<uint32_t>(counts.get())[0], 2u);
    usleep(20'000);
  }
}

TEST_P(Conformance, ReportsTheDispatchThatFails) {
  KILN_SKIP_WITHOUT_KERNEL(FailInOne);
  Ref<Buffer> counts = allocate(std::vector<uint32_t>(16, 0));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, FailInOne, {uint64_t(uint32_t(-42)), 5}, {}, 3, 2, 1));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 64}}, 16));
  KILN_ASSERT_OK(commands->finalize());
  for (int round = 0; round < 10; ++round)
    KILN_EXPECT_ERROR(run(*commands, table({counts})), Unknown,
                      "dispatch 'fail_in_one' failed with code -42 in workgroup (2, 1, 0)");
  // What comes after the failure does not run.
  EXPECT_EQ(contents<uint32_t>(counts.get()), std::vector<uint32_t>(16, 0));
}

TEST_P(Conformance, ReportsWhyADispatchFails) {
  KILN_SKIP_WITHOUT_KERNEL(FailInOne);
  auto fail = [&](uint64_t code) {
    Ref<CommandBuffer> commands = record(0);
    EXPECT_TRUE(addDispatch(*commands, FailInOne, {code, 5}, {}, 3, 2, 1).ok());
    EXPECT_TRUE(commands->finalize().ok());
    return run(*commands, table({}));
  };
  KILN_EXPECT_ERROR(fail(1), FailedPrecondition, "the first reason (in dispatch 'fail_in_one', workgroup (2, 1, 0))");
  KILN_EXPECT_ERROR(fail(2), FailedPrecondition, "the second reason");
  KILN_EXPECT_ERROR(fail(3), Unknown, "dispatch 'fail_in_one' failed with code 3 in workgroup (2, 1, 0)");
}

} // namespace
} // namespace kiln::hal::conformance
