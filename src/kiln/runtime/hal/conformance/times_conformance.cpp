// When submissions and dispatches were at work, by the device's clock, and what that is in the host's time.
#include "kiln/runtime/hal/conformance/conformance.h"

#include "kiln/base/clock.h"

#include <algorithm>
#include <memory>
#include <unistd.h>

namespace kiln::hal::conformance {
namespace {

// Filling 4 KiB, `count` times, each after the one before.
Ref<CommandBuffer> recordFills(Device &device, int count) {
  Result<Ref<CommandBuffer>> commands = device.createCommandBuffer(CommandBufferMode::Replay, 1);
  EXPECT_TRUE(commands.ok()) << commands.status().toString();
  for (int i = 0; i < count; ++i) {
    KILN_EXPECT_OK((*commands)->fill({0, 0, 4096}, uint64_t(i), 1));
    KILN_EXPECT_OK((*commands)->barrier());
  }
  KILN_EXPECT_OK((*commands)->finalize());
  return *commands;
}

bool isInside(const TickRange &inner, const TickRange &outer) {
  return outer.begin <= inner.begin && inner.begin <= inner.end && inner.end <= outer.end;
}

} // namespace

// In flight at the same time, replays keep times of their own; each begins after the one that it waits for has ended.
TEST_P(Conformance, SubmissionsTellWhenTheyRan) {
  constexpr int kSubmissions = 20;
  for (int fills : {0, 1, 3}) {
    Ref<Buffer> buffer = allocate(4096);
    Ref<CommandBuffer> commands = recordFills(*device, fills);
    std::vector<Ref<ExecutionTimes>> all;
    Ref<Fence> last;
    const uint64_t before = monotonicNanoseconds();
    for (int i = 0; i < kSubmissions; ++i) {
      all.push_back(makeRef<ExecutionTimes>());
      KILN_ASSERT_ASSIGN(
          last, device->execute(last.get(), commands.get(), table({buffer}), Device::kAnyQueue, all.back().get()));
    }
    const uint64_t after = monotonicNanoseconds();
    KILN_ASSERT_OK(last->wait(patience()));
    for (int i = 0; i < kSubmissions; ++i) {
      EXPECT_GT(all[i]->submission.begin, 0u);
      EXPECT_LE(all[i]->submission.begin, all[i]->submission.end);
      EXPECT_GE(all[i]->submitted, i ? all[i - 1]->submitted : before);
      EXPECT_LE(all[i]->submitted, after);
      EXPECT_TRUE(all[i]->dispatches.empty());
      if (i) {
        EXPECT_LE(all[i - 1]->submission.end, all[i]->submission.begin) << "submission " << i;
      }
    }
  }
}

TEST_P(Conformance, DispatchesTellWhenTheyRan) {
  constexpr uint64_t kCount = 1000;
  Ref<Buffer> input = allocate(std::vector<float>(kCount, 3)), output = allocate(std::vector<float>(kCount, 0));
  const SlotRange out{1, 0, kCount * 4};
  for (CommandBufferMode mode : {CommandBufferMode::Replay, CommandBufferMode::OneShot}) {
    Ref<CommandBuffer> commands = record(2, mode);
    KILN_ASSERT_OK(commands->fill(out, 1, 4));
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(addDispatch(*commands, Busy, {200'000}, {}));
    KILN_ASSERT_OK(addDispatch(*commands, Nothing, {}, {}, 0)); // none
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(addDispatch(*commands, Nothing, {}, {}, 7, 3));
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(commands->copy({0, 0, 16}, 1, 64));
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(addDispatch(*commands, Nothing, {}, {}));
    KILN_ASSERT_OK(commands->finalize());
    ASSERT_EQ(commands->dispatches().size(), 3u);
    EXPECT_EQ(commands->dispatches()[0]->name, "busy");
    EXPECT_EQ(commands->dispatches()[1]->name, "nothing");
    const int runs = mode == CommandBufferMode::Replay ? 6 : 1;
    std::vector<Ref<ExecutionTimes>> all;
    Ref<Fence> last;
    for (int i = 0; i < runs; ++i) {
      all.push_back(makeRef<ExecutionTimes>(TimesDetail::Dispatches));
      KILN_ASSERT_ASSIGN(last, device->execute(last.get(), commands.get(), table({input, output}), Device::kAnyQueue,
                                               all.back().get()));
    }
    KILN_ASSERT_OK(last->wait(patience()));
    uint64_t before = 0, ofBusy = UINT64_MAX, ofNothing = UINT64_MAX;
    for (const Ref<ExecutionTimes> &times : all) {
      ASSERT_EQ(times->dispatches.size(), 3u);
      EXPECT_LE(before, times->submission.begin);
      before = times->submission.end;
      const std::vector<TickRange> &each = times->dispatches;
      for (const TickRange &range : each)
        EXPECT_TRUE(isInside(range, times->submission));
      EXPECT_LE(each[0].end, each[1].begin);
      EXPECT_LE(each[1].end, each[2].begin);
      ofBusy = std::min(ofBusy, each[0].end - each[0].begin);
      ofNothing = std::min(ofNothing, each[2].end - each[2].begin);
    }
    if (mode == CommandBufferMode::Replay && whyNoDispatch().empty()) {
      EXPECT_GT(ofBusy, ofNothing);
    }
  }
}

// A submission without times beside those with them, and another recording in between: places and graphs are shared.
TEST_P(Conformance, TimesDoNotChangeWhatIsComputed) {
  KILN_SKIP_WITHOUT_DISPATCH();
  constexpr uint64_t kCount = 256;
  std::vector<int32_t> values(kCount), expected(kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    values[i] = int32_t(i);
    expected[i] = int32_t(3 * i + 1);
  }
  Ref<Buffer> input = allocate(values);
  Ref<CommandBuffer> commands = record(2), many = recordFills(*device, 600);
  const SlotRange in{0, 0, kCount * 4}, out{1, 0, kCount * 4};
  KILN_ASSERT_OK(commands->fill(out, 0, 4));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, ScaleAdd, {kCount, 3, 1}, {in, out}, 5));
  KILN_ASSERT_OK(commands->finalize());
  for (int i = 0; i < 12; ++i) {
    Ref<Buffer> output = allocate(std::vector<int32_t>(kCount, -1));
    Ref<ExecutionTimes> times =
        i % 3 == 0 ? nullptr : makeRef<ExecutionTimes>(i % 3 == 1 ? TimesDetail::Submission : TimesDetail::Dispatches);
    KILN_ASSERT_ASSIGN(Ref<Fence> done, device->execute(nullptr, commands.get(), table({input, output}),
                                                        Device::kAnyQueue, times.get()));
    KILN_ASSERT_OK(done->wait(patience()));
    EXPECT_EQ(contents<int32_t>(output.get()), expected);
    if (i == 5) {
      Ref<Buffer> other = allocate(4096);
      Ref<ExecutionTimes> more = makeRef<ExecutionTimes>(TimesDetail::Dispatches);
      KILN_ASSERT_ASSIGN(done, device->execute(nullptr, many.get(), table({other}), Device::kAnyQueue, more.get()));
      KILN_ASSERT_OK(done->wait(patience()));
      EXPECT_LT(more->submission.begin, more->submission.end);
    }
  }
}

TEST_P(Conformance, WhatFailsHasNoTimes) {
  KILN_ASSERT_ASSIGN(Ref<Semaphore> gate, device->createSemaphore(0));
  Ref<Buffer> buffer = allocate(4096);
  Ref<CommandBuffer> commands = recordFills(*device, 2);
  Ref<Fence> open = Fence::create(gate, 1);
  Ref<ExecutionTimes> times = makeRef<ExecutionTimes>(TimesDetail::Dispatches);
  KILN_ASSERT_ASSIGN(Ref<Fence> done,
                     device->execute(open.get(), commands.get(), table({buffer}), Device::kAnyQueue, times.get()));
  gate->fail(dataLoss("the gate broke"));
  KILN_EXPECT_ERROR(done->wait(patience()), DataLoss, "the gate broke");
  EXPECT_EQ(times->submission.begin, 0u);
  EXPECT_EQ(times->submission.end, 0u);
}

TEST_P(Conformance, WhatFailsOnItsWayHasNoTimes) {
  KILN_SKIP_WITHOUT_KERNEL(FailInOne);
  Ref<Buffer> counts = allocate(std::vector<uint32_t>(16, 0));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(addDispatch(*commands, CountIds, {}, {{0, 0, 64}}, 16));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(addDispatch(*commands, FailInOne, {uint64_t(uint32_t(-42)), 5}, {}, 3, 2, 1));
  KILN_ASSERT_OK(commands->finalize());
  Ref<ExecutionTimes> times = makeRef<ExecutionTimes>(TimesDetail::Dispatches);
  KILN_ASSERT_ASSIGN(Ref<Fence> done,
                     device->execute(nullptr, commands.get(), table({counts}), Device::kAnyQueue, times.get()));
  KILN_EXPECT_ERROR(done->wait(patience()), Unknown, "dispatch 'fail_in_one' failed");
  EXPECT_EQ(times->submission.end, 0u);
  ASSERT_EQ(times->dispatches.size(), 2u);
  for (const TickRange &range : times->dispatches)
    EXPECT_EQ(range.begin + range.end, 0u);
}

TEST_P(Conformance, AWatchGetsTheTimesOfAllThatIsExecuted) {
  Ref<Buffer> buffer = allocate(4096);
  Ref<CommandBuffer> commands = recordFills(*device, 2);
  auto watch = std::make_shared<ExecutionWatch>();
  device->watch(watch);
  KILN_ASSERT_OK(run(*commands, table({buffer})));
  EXPECT_TRUE(watch->take().empty());
  watch->turn(true);
  Ref<ExecutionTimes> own = makeRef<ExecutionTimes>(TimesDetail::Dispatches);
  KILN_ASSERT_OK(run(*commands, table({buffer})));
  KILN_ASSERT_ASSIGN(Ref<Fence> done,
                     device->execute(nullptr, commands.get(), table({buffer}), Device::kAnyQueue, own.get()));
  KILN_ASSERT_OK(done->wait(patience()));
  watch->turn(false);
  KILN_ASSERT_OK(run(*commands, table({buffer})));
  const std::vector<Ref<ExecutionTimes>> all = watch->take();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].get(), own.get());
  EXPECT_LE(all[0]->submission.end, all[1]->submission.begin);
  device->watch(nullptr);
}

// Samples of the clock give a line on which a submission ran when the host says that it did.
TEST_P(Conformance, ClocksFitTheHosts) {
  Ref<Buffer> buffer = allocate(4096);
  Ref<CommandBuffer> commands = recordFills(*device, 2);
  struct Run {
    uint64_t before, after;
    Ref<ExecutionTimes> times;
  };
  std::vector<ClockSample> samples;
  std::vector<Run> runs;
  for (int i = 0; i < 24; ++i) {
    KILN_ASSERT_ASSIGN(samples.emplace_back(), device->sampleClock());
    EXPECT_LE(samples.back().before, samples.back().after);
    if (i) {
      EXPECT_LT(samples[i - 1].ticks, samples[i].ticks) << "the clock stands still, or runs backwards";
    }
    Run &run = runs.emplace_back(monotonicNanoseconds(), 0, makeRef<ExecutionTimes>());
    KILN_ASSERT_ASSIGN(Ref<Fence> done,
                       device->execute(nullptr, commands.get(), table({buffer}), Device::kAnyQueue, run.times.get()));
    KILN_ASSERT_OK(done->wait(patience()));
    run.after = monotonicNanoseconds();
    EXPECT_LE(samples.back().ticks, run.times->submission.begin);
    usleep(1000);
  }
  if (device->clock() && device->clock()->isSimulated())
    return; // it counts what is executed, and not time
  KILN_ASSERT_ASSIGN(const ClockFit fit, ClockFit::of(samples));
  // The middle of a sample may be wrong by half of its width, and a tick is a moment of that length.
  const double most = 2 * (fit.uncertainty + fit.nanosecondsPerTick);
  EXPECT_LE(fit.residual, most);
  for (const Run &run : runs) {
    EXPECT_GE(double(fit.toHost(run.times->submission.begin)), double(run.before) - most);
    EXPECT_LE(double(fit.toHost(run.times->submission.end)), double(run.after) + most);
  }
}

} // namespace kiln::hal::conformance
