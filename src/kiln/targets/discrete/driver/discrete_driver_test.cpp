// What a discrete device does that others do not: memory of its own, work in any order that is allowed, and failures.
#include "kiln/targets/discrete/driver/discrete_device.h"
#include "kiln/targets/discrete/driver/discrete_driver.h"

#include "kiln/base/clock_fit.h"
#include "kiln/runtime/hal/conformance/test_executables.h"

#include "gtest/gtest.h"

#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace kiln::hal {

namespace {

Result<Ref<Device>> open(const std::string &path, AllocatorKind allocator = AllocatorKind::Default) {
  DeviceOptions options;
  options.allocator = allocator;
  return DiscreteDriver().createDevice({"discrete", path}, options);
}

Ref<Device> mustOpen(const std::string &path, AllocatorKind allocator = AllocatorKind::Default) {
  Result<Ref<Device>> device = open(path, allocator);
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return *device;
}

Ref<Buffer> allocate(Device &device, uint64_t length) {
  Result<Ref<Buffer>> buffer = device.allocator().allocate(BufferUsage::Result, length);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return *buffer;
}

Status fill(Device &device, Buffer &buffer, std::initializer_list<uint64_t> patterns) {
  KILN_ASSIGN_OR_RETURN(Ref<CommandBuffer> commands, device.createCommandBuffer(CommandBufferMode::OneShot, 1));
  for (uint64_t pattern : patterns)
    KILN_RETURN_IF_ERROR(commands->fill({0, 0, buffer.byteLength()}, pattern, 1));
  KILN_RETURN_IF_ERROR(commands->finalize());
  Binding binding{&buffer, 0, buffer.byteLength()};
  KILN_ASSIGN_OR_RETURN(Ref<Fence> fence, device.execute(nullptr, commands.get(), {&binding, 1}));
  return fence->wait();
}

uint8_t first(Buffer &buffer) {
  std::byte byte{};
  EXPECT_TRUE(buffer.read(0, {&byte, 1}).ok());
  return static_cast<uint8_t>(byte);
}

TEST(DiscreteDriverDeathTest, TheHostCannotTouchItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Ref<Device> device = mustOpen("delay-us=0");
  Ref<Buffer> buffer = allocate(*device, 1000);
  EXPECT_EQ(buffer->memoryKind(), MemoryKind::DeviceLocal);
  EXPECT_EQ(buffer->hostPointer(), nullptr);
  ASSERT_TRUE(fill(*device, *buffer, {7}).ok());
  EXPECT_EQ(first(*buffer), 7);
  auto &memory = static_cast<DiscreteDevice &>(*device).memory();
  auto *address = static_cast<volatile uint8_t *>(DiscreteBuffer::find(memory, *buffer)->pages().hostPointer());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 256, 0U);
  EXPECT_DEATH((void)*address, "");
}

TEST(DiscreteDriverTest, FreshMemoryHoldsNothingOfUse) {
  Ref<Device> device = mustOpen("");
  EXPECT_EQ(first(*allocate(*device, 1)), 0xFF);
}

TEST(DiscreteDriverTest, KeepsFreedMemoryAndForgetsWhatItHeld) {
  for (AllocatorKind allocator : {AllocatorKind::Default, AllocatorKind::Caching, AllocatorKind::Direct}) {
    Ref<Device> device = mustOpen("delay-us=0", allocator);
    auto &memory = static_cast<DiscreteDevice &>(*device).memory();
    Ref<Buffer> buffer = allocate(*device, 5000);
    ASSERT_TRUE(fill(*device, *buffer, {7}).ok());
    EXPECT_EQ(first(*buffer), 7);
    buffer = nullptr;
    EXPECT_EQ(memory.used > 0, allocator != AllocatorKind::Direct);
    const uint64_t used = memory.used;
    buffer = allocate(*device, 4900);
    EXPECT_EQ(first(*buffer), 0xFF);
    if (allocator != AllocatorKind::Direct) {
      EXPECT_EQ(memory.used, used);
    }
    EXPECT_EQ(device->allocator().statistics().deviceLocal.live, 4900U);
    buffer = nullptr;
    device->allocator().trim();
    EXPECT_EQ(memory.used, 0U);
  }
}

TEST(DiscreteDriverTest, CommandsWithoutABarrierRunInAnyOrder) {
  std::set<uint8_t> seen;
  for (int seed = 0; seed < 64 && seen.size() < 2; ++seed) {
    Ref<Device> device = mustOpen(fmt::format("delay-us=0,seed={}", seed));
    Ref<Buffer> buffer = allocate(*device, 1);
    ASSERT_TRUE(fill(*device, *buffer, {1, 2}).ok());
    seen.insert(first(*buffer));
  }
  EXPECT_EQ(seen, (std::set<uint8_t>{1, 2}));
}

// What is in one queue runs in order, without a fence; queues run side by side.
TEST(DiscreteDriverTest, QueuesAreChosen) {
  constexpr int kFills = 40;
  auto lastOf = [](const std::string &path, uint64_t queues) {
    Ref<Device> device = mustOpen(path);
    Ref<Buffer> buffer = allocate(*device, 1);
    std::vector<Ref<Fence>> fences;
    for (int i = 0; i < kFills; ++i) {
      Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::OneShot, 1);
      EXPECT_TRUE(commands->fill({0, 0, 1}, uint64_t(i), 1).ok());
      EXPECT_TRUE(commands->finalize().ok());
      Binding binding{buffer.get(), 0, 1};
      fences.push_back(*device->execute(nullptr, commands.get(), {&binding, 1}, queues));
    }
    for (const Ref<Fence> &fence : fences)
      EXPECT_TRUE(fence->wait().ok());
    return first(*buffer);
  };
  std::set<uint8_t> ofOne, ofAll;
  for (int seed = 0; seed < 64 && (seed < 8 || ofAll.size() < 2); ++seed) {
    std::string path = fmt::format("queues=3,seed={}", seed);
    for (uint64_t queue : {2, 4, 32}) // the last is the queue 5 modulo 3
      ofOne.insert(lastOf(path, queue));
    ofAll.insert(lastOf(path, Device::kAnyQueue));
  }
  EXPECT_EQ(ofOne, std::set<uint8_t>{kFills - 1});
  EXPECT_GE(ofAll.size(), 2u);
}

TEST(DiscreteDriverTest, WorkIsHeldUntilTheHostWaits) {
  Ref<Device> device = mustOpen("hold=1,most-in-flight=2");
  Ref<Buffer> buffer = allocate(*device, 1);
  Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::Replay, 1);
  ASSERT_TRUE(commands->fill({0, 0, 1}, 7, 1).ok());
  ASSERT_TRUE(commands->finalize().ok());
  Binding binding{buffer.get(), 0, 1};
  auto execute = [&](Fence *wait) { return device->execute(wait, commands.get(), {&binding, 1}); };
  Result<Ref<Fence>> a = execute(nullptr), b = execute(a->get()), c = execute(b->get());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(c.status().message(),
            "2 submissions are in flight on device 'discrete://hold=1,most-in-flight=2', whose URI allows no more");
  ASSERT_TRUE((*b)->wait().ok());
  Result<Ref<Fence>> d = execute(nullptr);
  ASSERT_TRUE(d.ok());
  EXPECT_FALSE((*d)->isSignaled());
  ASSERT_TRUE((*d)->wait().ok());
  EXPECT_EQ(first(*buffer), 7);
}

TEST(DiscreteDriverTest, MemoryEnds) {
  Ref<Device> device = mustOpen("memory-mib=1", AllocatorKind::Direct);
  Ref<Buffer> most = allocate(*device, 900'000);
  Status status = device->allocator().allocate(BufferUsage::Result, 200'000).status();
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("cannot allocate 200000 bytes on 'discrete': 147456 of its 1048576 bytes are free"),
            std::string::npos)
      << status.toString();
  most = nullptr;
  EXPECT_TRUE(device->allocator().allocate(BufferUsage::Result, 1'000'000).ok());
}

TEST(DiscreteDriverTest, GivesBackWhatItKeepsBeforeMemoryEnds) {
  Ref<Device> device = mustOpen("memory-mib=1");
  for (uint64_t length : {300'000, 400'000, 500'000, 600'000, 1'000'000})
    EXPECT_TRUE(device->allocator().allocate(BufferUsage::Result, length).ok()) << length;
}

TEST(DiscreteDriverTest, FailsWhereItsUriAsks) {
  Ref<Device> device = mustOpen("fail-allocation=2,fail-submission=2");
  Ref<Buffer> buffer = allocate(*device, 16);
  EXPECT_EQ(device->allocator().allocate(BufferUsage::Result, 16).status().code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(device->allocator().allocate(BufferUsage::Result, 16).ok());
  EXPECT_TRUE(fill(*device, *buffer, {1}).ok());
  EXPECT_EQ(fill(*device, *buffer, {2}).code(), StatusCode::Unavailable);
  EXPECT_TRUE(fill(*device, *buffer, {3}).ok());
  EXPECT_EQ(first(*buffer), 3);
}

TEST(DiscreteDriverTest, ALostDeviceTakesNothingMore) {
  Ref<Device> device = mustOpen("lose-at=2");
  Ref<Buffer> buffer = allocate(*device, 16);
  EXPECT_TRUE(fill(*device, *buffer, {1}).ok());
  Status status = fill(*device, *buffer, {2});
  EXPECT_NE(status.message().find("device 'discrete://lose-at=2' was lost at submission 2"), std::string::npos)
      << status.toString();
  EXPECT_EQ(fill(*device, *buffer, {3}).message(),
            "device 'discrete://lose-at=2' is lost because of an earlier error: device 'discrete://lose-at=2' was lost "
            "at submission 2, as its URI asks; create it anew");
}

// Its ticks take 8 nanoseconds of a clock that runs 200 ppm too fast.
TEST(DiscreteDriverTest, TheClockCanBeFitted) {
  Ref<Device> device = mustOpen("");
  std::vector<ClockSample> samples;
  for (int i = 0; i < 50; ++i) {
    samples.push_back(*device->sampleClock());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GE(samples.front().ticks, uint64_t(1) << 40);
  Result<ClockFit> fit = ClockFit::of(samples);
  ASSERT_TRUE(fit.ok()) << fit.status().toString();
  const double most = 2 * (fit->uncertainty + fit->nanosecondsPerTick);
  EXPECT_LE(fit->residual, most);
  EXPECT_NEAR(fit->nanosecondsPerTick / (8 / 1.0002), 1,
              2 * most / static_cast<double>(samples.back().before - samples.front().before));
}

// Recordings and tables are held to what the device asks for, and memory is given out so.
TEST(DiscreteDriverTest, AlignmentIsTheDevices) {
  Ref<Device> strict = mustOpen("binding-alignment=1024,memory-mib=64"), plain = mustOpen("");
  EXPECT_EQ(plain->limits().bindingAlignment, 64u);
  EXPECT_EQ(plain->limits().bufferAlignment, 256u);
  EXPECT_EQ(strict->limits().bindingAlignment, 1024u);
  EXPECT_EQ(strict->limits().bufferAlignment, 1024u);
  EXPECT_EQ(strict->limits().mostBufferBytes, uint64_t(64) << 20);
  for (const Ref<Device> &device : {plain, strict}) {
    const uint64_t alignment = device->limits().bindingAlignment;
    Result<Ref<Executable>> kernels = conformance::loadTestExecutable(*device, "kernels");
    ASSERT_TRUE(kernels.ok()) << kernels.status().toString();
    auto record = [&](uint64_t offset) -> Result<Ref<CommandBuffer>> {
      KILN_ASSIGN_OR_RETURN(Ref<CommandBuffer> commands, device->createCommandBuffer(CommandBufferMode::Replay, 1));
      const SlotRange range{0, offset, 4};
      Dispatch dispatch;
      dispatch.executable = kernels->get();
      dispatch.exportOrdinal = conformance::CountIds;
      dispatch.bindings = {&range, 1};
      KILN_RETURN_IF_ERROR(commands->dispatch(dispatch));
      KILN_RETURN_IF_ERROR(commands->finalize());
      return commands;
    };
    EXPECT_NE(record(alignment / 2).status().message().find(fmt::format("which is no multiple of {}", alignment)),
              std::string::npos);
    Result<Ref<CommandBuffer>> commands = record(alignment);
    ASSERT_TRUE(commands.ok()) << commands.status().toString();
    Ref<Buffer> buffer = allocate(*device, 4 * alignment);
    Binding binding{buffer.get(), alignment / 2, 2 * alignment};
    EXPECT_NE(device->execute(nullptr, commands->get(), {&binding, 1})
                  .status()
                  .message()
                  .find(fmt::format("a binding starts at a multiple of {}", alignment)),
              std::string::npos);
    binding.offset = alignment;
    Result<Ref<Fence>> done = device->execute(nullptr, commands->get(), {&binding, 1});
    ASSERT_TRUE(done.ok()) << done.status().toString();
    EXPECT_TRUE((*done)->wait(Deadline::infinite()).ok());
  }
}

TEST(DiscreteDriverTest, SettingsAreChecked) {
  for (const char *path : {"speed=1", "seed", "seed=", "seed=-1", "queues=0", "queues=65", "seed=1,,", "delay-us=1x",
                           "binding-alignment=32", "binding-alignment=192", "binding-alignment=8192"})
    EXPECT_EQ(open(path).status().code(), StatusCode::InvalidArgument) << path;
  EXPECT_NE(
      open("speed=1").status().message().find("'speed=1' is no setting of a discrete device; there are memory-mib"),
      std::string::npos);
  EXPECT_NE(open("queues=65").status().message().find("queues takes a number from 1 to 64, not '65'"),
            std::string::npos);
}

} // namespace

} // namespace kiln::hal
