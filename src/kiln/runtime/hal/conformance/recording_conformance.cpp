// The life of a recording, and what is refused while recording and while executing.
#include "kiln/runtime/hal/conformance/conformance.h"

#include <utility>

namespace kiln::hal::conformance {
namespace {

TEST_P(Conformance, RecordsOnceAndThenNoMore) {
  Ref<CommandBuffer> commands = record(1);
  EXPECT_EQ(commands->slotCount(), 1u);
  EXPECT_FALSE(commands->isFinalized());
  Ref<Buffer> buffer = allocate(8);
  KILN_ASSERT_OK(commands->fill({0, 0, 8}, 1, 1));
  KILN_EXPECT_ERROR(execute(*commands, table({buffer})), FailedPrecondition, "not finalized");
  KILN_ASSERT_OK(commands->finalize());
  EXPECT_TRUE(commands->isFinalized());
  KILN_EXPECT_ERROR(commands->fill({0, 0, 8}, 1, 1), FailedPrecondition, "is finalized");
  KILN_EXPECT_ERROR(commands->barrier(), FailedPrecondition, "is finalized");
  KILN_EXPECT_ERROR(commands->finalize(), FailedPrecondition, "is finalized");
  KILN_EXPECT_OK(run(*commands, table({buffer})));
}

TEST_P(Conformance, RunsAOneShotRecordingOnce) {
  Ref<CommandBuffer> commands = record(1, CommandBufferMode::OneShot);
  KILN_ASSERT_OK(commands->fill({0, 0, 8}, 1, 1));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> buffer = allocate(8);
  // A call that is refused does not count.
  KILN_EXPECT_ERROR(execute(*commands, {}), InvalidArgument, "has 1 binding slots; the table has 0");
  KILN_EXPECT_OK(run(*commands, table({buffer})));
  KILN_EXPECT_ERROR(execute(*commands, table({buffer})), FailedPrecondition, "recorded for one execution");
}

TEST_P(Conformance, RunsAnEmptyRecording) {
  Ref<CommandBuffer> commands = record(0);
  KILN_ASSERT_OK(commands->finalize());
  for (int i = 0; i < 3; ++i)
    KILN_EXPECT_OK(run(*commands, {}));
}

TEST_P(Conformance, RefusesTablesThatDoNotFit) {
  Ref<CommandBuffer> commands = record(3);
  KILN_ASSERT_OK(commands->fill({2, 0, 8}, 1, 1));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> buffer = allocate(8);
  // Slots that no command uses may be anything.
  KILN_EXPECT_OK(run(*commands, table({nullptr, nullptr, buffer})));
  KILN_EXPECT_OK(run(*commands, {{buffer.get(), 99, 99}, {}, {buffer.get(), 0, 8}}));
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, buffer})), InvalidArgument, "3 binding slots; the table has 2");
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, buffer, buffer, buffer})), InvalidArgument, "the table has 4");
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, buffer, nullptr})), InvalidArgument,
                    "binding slot 2 is used, and its buffer is null");
}

// Memory of a device that nobody else can see.
class FarBuffer final : public Buffer {
public:
  static Ref<Buffer> create(uint64_t length) {
    Properties properties;
    properties.length = length;
    properties.kind = MemoryKind::DeviceLocal;
    return Ref<Buffer>::adopt(new FarBuffer(properties));
  }

private:
  explicit FarBuffer(const Properties &properties) : Buffer(properties) {}
};

TEST_P(Conformance, RefusesMemoryThatItCannotAddress) {
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(commands->fill({0, 0, 8}, 1, 1));
  KILN_ASSERT_OK(commands->finalize());
  KILN_EXPECT_ERROR(execute(*commands, table({FarBuffer::create(8)})), InvalidArgument,
                    "binding slot 0 is memory of another device");
}

TEST_P(Conformance, RefusesTooManySlots) {
  KILN_EXPECT_ERROR(device->createCommandBuffer(CommandBufferMode::Replay, UINT32_MAX), OutOfRange, "binding slots");
}

TEST_P(Conformance, RefusesWhatBelongsToAnotherDevice) {
  DeviceOptions options;
  options.task.workerCount = 1;
  KILN_ASSERT_ASSIGN(Ref<Device> other, registry.createDevice(GetParam().uri, options));
  KILN_ASSERT_ASSIGN(Ref<CommandBuffer> commands, other->createCommandBuffer(CommandBufferMode::Replay, 0));
  KILN_ASSERT_OK(commands->finalize());
  KILN_EXPECT_ERROR(execute(*commands, {}), InvalidArgument, "cannot be executed on device");
  KILN_EXPECT_ERROR(device->execute(nullptr, nullptr, {}), InvalidArgument, "null command buffer");
}

TEST_P(Conformance, RefusesExecutablesOfAnotherDriver) {
  for (const std::unique_ptr<Driver> &driver : registry.drivers()) {
    if (driver->name() == "null" ? device->uri() == "null" : device->uri() != "null")
      continue;
    if (!driver->devices().ok())
      continue; // This machine has none of the hardware.
    DeviceOptions options;
    options.task.workerCount = 1;
    KILN_ASSERT_ASSIGN(Ref<Device> other, registry.createDevice(driver->name(), options));
    KILN_ASSERT_ASSIGN(Ref<Executable> foreign, loadTestExecutable(*other, "kernels"));
    Ref<CommandBuffer> commands = record(0);
    Dispatch dispatch;
    dispatch.executable = foreign.get();
    dispatch.exportOrdinal = Nothing;
    KILN_EXPECT_ERROR(commands->dispatch(dispatch), InvalidArgument, "the executable was not made by");
  }
}

TEST_P(Conformance, RefusesDispatchesThatDoNotFitTheirExport) {
  auto refuse = [&](StatusCode code, std::string_view text, uint32_t kernel, std::vector<uint64_t> constants,
                    std::vector<SlotRange> bindings, uint64_t x = 1, uint64_t y = 1, uint64_t z = 1) {
    Ref<CommandBuffer> commands = record(2);
    Status status = addDispatch(*commands, Kernel(kernel), std::move(constants), std::move(bindings), x, y, z);
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string_view::npos) << status.toString();
    EXPECT_EQ(commands->finalize().code(), StatusCode::FailedPrecondition);
  };
  std::vector<SlotRange> two = {{0, 0, 64}, {1, 0, 64}};
  refuse(StatusCode::OutOfRange, "export 77 of an executable that has 9", 77, {}, {});
  refuse(StatusCode::OutOfRange, "export 4294967295", UINT32_MAX, {}, {});
  refuse(StatusCode::InvalidArgument, "dispatch 'scale_add' takes 3 constants; 2 were given", ScaleAdd, {1, 2}, two);
  refuse(StatusCode::InvalidArgument, "takes 3 constants; 4 were given", ScaleAdd, {1, 2, 3, 4}, two);
  refuse(StatusCode::InvalidArgument, "takes 2 bindings; 1 were given", ScaleAdd, {1, 2, 3}, {{0, 0, 64}});
  refuse(StatusCode::OutOfRange, "binding 1 of dispatch 'scale_add': a binding uses binding slot 2", ScaleAdd,
         {1, 2, 3}, {{0, 0, 64}, {2, 0, 64}});
  refuse(StatusCode::OutOfRange, "no end within 64 bits", ScaleAdd, {1, 2, 3}, {{0, 64, UINT64_MAX - 7}, {1, 0, 64}});
  const DeviceLimits &limits = device->limits();
  const uint64_t alignment = limits.bindingAlignment;
  for (uint64_t offset : {uint64_t(1), uint64_t(4), alignment / 2, alignment - 1, alignment * 3 / 2})
    refuse(StatusCode::InvalidArgument, fmt::format("no multiple of {}", alignment), ScaleAdd, {1, 2, 3},
           {{0, offset, 8}, {1, 0, 64}});
  uint64_t big = limits.mostWorkgroups[0];
  refuse(StatusCode::OutOfRange, "too many workgroups", Nothing, {}, {}, big + 1);
  refuse(StatusCode::OutOfRange, "too many workgroups", Nothing, {}, {}, 1, UINT64_MAX);
  refuse(StatusCode::OutOfRange, "too many workgroups", Nothing, {}, {}, big, big, big);
  refuse(StatusCode::OutOfRange, "too many workgroups", Nothing, {}, {}, 1 << 16, 1 << 16, 1 << 16);

  Ref<CommandBuffer> commands = record(0);
  KILN_EXPECT_ERROR(commands->dispatch(Dispatch()), InvalidArgument, "needs an executable");
}

TEST_P(Conformance, RefusesBindingsOutOfBoundsOrMisaligned) {
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(addDispatch(*commands, ScaleAdd, {1, 1, 0}, {{0, 64, 64}, {1, 0, 64}}));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> a = allocate(1024), b = allocate(64), small = allocate(63);
  KILN_EXPECT_OK(run(*commands, table({a, b})));
  KILN_EXPECT_OK(run(*commands, {{a.get(), 64, 128}, {a.get(), 512, 64}}));
  KILN_EXPECT_ERROR(execute(*commands, table({a, small})), OutOfRange,
                    "binding slot 1 has 63 bytes; the commands use 64");
  KILN_EXPECT_ERROR(execute(*commands, table({b, b})), OutOfRange, "binding slot 0 has 64 bytes; the commands use 128");
  KILN_EXPECT_ERROR(execute(*commands, {{a.get(), 4, 128}, {b.get(), 0, 64}}), InvalidArgument,
                    "a binding starts at a multiple of 64");
  KILN_ASSERT_ASSIGN(Ref<Buffer> span, Buffer::subspan(a, 32, 512));
  KILN_EXPECT_ERROR(execute(*commands, table({span, b})), InvalidArgument,
                    "binding slot 0 starts at byte 32 of its allocation");
  // It counts where the binding is, not how it was named.
  KILN_EXPECT_OK(run(*commands, {{span.get(), 32, 128}, {b.get(), 0, 64}}));
}

} // namespace
} // namespace kiln::hal::conformance
