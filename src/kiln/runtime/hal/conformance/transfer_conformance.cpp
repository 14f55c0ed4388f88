// Fills and copies.
#include "kiln/runtime/hal/conformance/conformance.h"

#include <cstring>
#include <numeric>

namespace kiln::hal::conformance {
namespace {

constexpr uint64_t kPattern = 0x1122334455667788u;

TEST_P(Conformance, FillsEveryWidthAtOddOffsets) {
  for (uint32_t width : {1, 2, 4, 8}) {
    for (uint64_t offset : {0, 1, 3, 5, 64}) {
      for (uint64_t count : {0, 1, 2, 7, 1000}) {
        uint64_t length = count * width;
        std::vector<uint8_t> expected(9000, 0xEE);
        Ref<Buffer> buffer = allocate(expected);
        Ref<CommandBuffer> commands = record(1);
        KILN_ASSERT_OK(commands->fill({0, offset, length}, kPattern, width));
        KILN_ASSERT_OK(commands->finalize());
        KILN_ASSERT_OK(run(*commands, table({buffer})));
        for (uint64_t i = 0; i < length; i += width)
          std::memcpy(expected.data() + offset + i, &kPattern, width);
        ASSERT_EQ(contents<uint8_t>(buffer.get()), expected) << "width " << width << " offset " << offset;
      }
    }
  }
}

TEST_P(Conformance, FillsAndCopiesLargeRanges) {
  // More than any driver does in one piece, and no round number.
  constexpr uint64_t kWords = 1'234'567;
  std::vector<uint32_t> values(kWords);
  std::iota(values.begin(), values.end(), 5u);
  Ref<Buffer> source = allocate(values), target = allocate(kWords * 4);
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(commands->fill({1, 0, kWords * 4}, 9, 4));
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(commands->copy({0, 4, (kWords - 2) * 4}, 1, 8));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({source, target})));
  std::vector<uint32_t> expected(kWords, 9);
  std::copy_n(values.begin() + 1, kWords - 2, expected.begin() + 2);
  EXPECT_EQ(contents<uint32_t>(target.get()), expected);
}

// So many bytes take many times as long as the call has.
TEST_P(Conformance, LongFillsAndCopiesEndWithTheirCall) {
  constexpr uint64_t kBytes = 256 << 20;
  Ref<Buffer> source = allocate(kBytes), target = allocate(kBytes);
  if (!source->hostPointer())
    GTEST_SKIP() << "memory of a device's own is filled in less time, and what is in its queue runs to its end";
  Ref<CommandBuffer> fill = record(1), copy = record(2);
  KILN_ASSERT_OK(fill->fill({0, 0, kBytes}, 9, 4));
  KILN_ASSERT_OK(fill->finalize());
  KILN_ASSERT_OK(copy->copy({0, 0, kBytes}, 1, 0));
  KILN_ASSERT_OK(copy->finalize());
  for (const auto &[commands, buffers] : {std::pair(fill, table({source})), std::pair(copy, table({source, target}))}) {
    Ref<CallLimit> limit = makeRef<CallLimit>(Deadline::after(1'000'000), CallLimit::Stuck::Await);
    CallLimit::Scope scope(*limit);
    // On a busy machine it may be over before it is submitted.
    Result<Ref<Fence>> fence = execute(*commands, buffers);
    KILN_EXPECT_ERROR(fence.ok() ? (*fence)->wait(patience()) : fence.status(), DeadlineExceeded, "");
  }
}

TEST_P(Conformance, FillsKeepTheLowBytesOfThePattern) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(8, 0));
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(commands->fill({0, 0, 2}, UINT64_MAX, 1));
  KILN_ASSERT_OK(commands->fill({0, 4, 2}, 0xABCD1234, 2));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({buffer})));
  EXPECT_EQ(contents<uint8_t>(buffer.get()), (std::vector<uint8_t>{0xFF, 0xFF, 0, 0, 0x34, 0x12, 0, 0}));
}

TEST_P(Conformance, RefusesFillsThatMakeNoSense) {
  struct Row {
    SlotRange range;
    uint32_t width;
    StatusCode code;
  };
  for (const Row &row : {Row{{0, 0, 8}, 3, StatusCode::InvalidArgument}, Row{{0, 0, 8}, 0, StatusCode::InvalidArgument},
                         Row{{0, 0, 6}, 4, StatusCode::InvalidArgument}, Row{{2, 0, 8}, 4, StatusCode::OutOfRange},
                         Row{{0, UINT64_MAX, 8}, 4, StatusCode::OutOfRange}}) {
    Ref<CommandBuffer> commands = record(2);
    EXPECT_EQ(commands->fill(row.range, 0, row.width).code(), row.code) << "width " << row.width;
    // The recording is spoilt.
    KILN_EXPECT_ERROR(commands->finalize(), FailedPrecondition, "an earlier command of this recording failed");
  }
}

TEST_P(Conformance, CopiesBetweenOddOffsets) {
  std::vector<uint8_t> values(100);
  std::iota(values.begin(), values.end(), uint8_t(0));
  Ref<Buffer> source = allocate(values);
  Ref<Buffer> target = allocate(std::vector<uint8_t>(100, 0xEE));
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(commands->copy({0, 3, 17}, 1, 41));
  KILN_ASSERT_OK(commands->copy({0, 100, 0}, 1, 100));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({source, target})));
  std::vector<uint8_t> expected(100, 0xEE);
  std::copy_n(values.begin() + 3, 17, expected.begin() + 41);
  EXPECT_EQ(contents<uint8_t>(target.get()), expected);
}

TEST_P(Conformance, CopiesInsideOneBuffer) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(commands->copy({0, 0, 4}, 0, 4));
  KILN_ASSERT_OK(commands->finalize());
  KILN_ASSERT_OK(run(*commands, table({buffer})));
  EXPECT_EQ(contents<uint8_t>(buffer.get()), (std::vector<uint8_t>{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST_P(Conformance, RefusesCopiesThatOverlap) {
  // Known when it is recorded: one slot.
  for (uint64_t target : {0, 1, 3}) {
    Ref<CommandBuffer> commands = record(1);
    KILN_EXPECT_ERROR(commands->copy({0, 0, 4}, 0, target), InvalidArgument, "overlaps itself");
  }
  // Known when it is executed: two slots that turn out to be one buffer, or spans of one.
  Ref<Buffer> buffer = allocate(64);
  KILN_ASSERT_ASSIGN(Ref<Buffer> span, Buffer::subspan(buffer, 8, 32));
  Ref<CommandBuffer> commands = record(2);
  KILN_ASSERT_OK(commands->copy({0, 0, 16}, 1, 4));
  KILN_ASSERT_OK(commands->finalize());
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, buffer})), InvalidArgument, "overlaps itself");
  KILN_EXPECT_ERROR(execute(*commands, table({buffer, span})), InvalidArgument, "overlaps itself");
  KILN_EXPECT_OK(run(*commands, {{buffer.get(), 0, 16}, {buffer.get(), 12, 20}}));
  KILN_EXPECT_OK(run(*commands, {{span.get(), 4, 16}, {buffer.get(), 24, 20}}));
}

TEST_P(Conformance, RefusesTransfersOutOfBounds) {
  Ref<CommandBuffer> commands = record(2);
  KILN_EXPECT_ERROR(commands->copy({2, 0, 1}, 0, 0), OutOfRange, "binding slot 2; the command buffer has 2");
  commands = record(2);
  KILN_EXPECT_ERROR(commands->copy({0, 0, 1}, 7, 0), OutOfRange, "binding slot 7; the command buffer has 2");
  commands = record(2);
  KILN_EXPECT_ERROR(commands->copy({0, UINT64_MAX - 2, 4}, 1, 0), OutOfRange, "no end within 64 bits");

  commands = record(2);
  KILN_ASSERT_OK(commands->copy({0, 8, 16}, 1, 0));
  KILN_ASSERT_OK(commands->finalize());
  Ref<Buffer> a = allocate(24), b = allocate(16), small = allocate(15);
  KILN_EXPECT_OK(run(*commands, table({a, b})));
  KILN_EXPECT_ERROR(execute(*commands, table({b, a})), OutOfRange, "binding slot 0 has 16 bytes; the commands use 24");
  KILN_EXPECT_ERROR(execute(*commands, table({a, small})), OutOfRange,
                    "binding slot 1 has 15 bytes; the commands use 16");
  KILN_EXPECT_ERROR(execute(*commands, {{a.get(), 8, 24}, {b.get(), 0, 16}}), OutOfRange,
                    "24 bytes at offset 8 of a buffer of 24 bytes");
  KILN_EXPECT_ERROR(execute(*commands, {{a.get(), UINT64_MAX, 24}, {b.get(), 0, 16}}), OutOfRange,
                    "of a buffer of 24 bytes");
  KILN_EXPECT_ERROR(execute(*commands, {{a.get(), 0, UINT64_MAX}, {b.get(), 0, 16}}), OutOfRange,
                    "of a buffer of 24 bytes");
}

TEST_P(Conformance, KeepsTheOrderOfBarriers) {
  // Each step needs the one before it.
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>(1 << 20, 0));
  constexpr uint32_t kSteps = 64, kStep = (1 << 20) / kSteps;
  Ref<CommandBuffer> commands = record(1);
  KILN_ASSERT_OK(commands->barrier());
  KILN_ASSERT_OK(commands->fill({0, 0, kStep}, 0xA5, 1));
  for (uint32_t i = 1; i < kSteps; ++i) {
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(commands->copy({0, (i - 1) * uint64_t(kStep), kStep}, 0, i * uint64_t(kStep)));
    KILN_ASSERT_OK(commands->barrier());
    KILN_ASSERT_OK(commands->barrier());
  }
  KILN_ASSERT_OK(commands->finalize());
  for (int round = 0; round < 20; ++round) {
    KILN_ASSERT_OK(run(*commands, table({buffer})));
    ASSERT_EQ(contents<uint8_t>(buffer.get()), std::vector<uint8_t>(1 << 20, 0xA5));
    std::vector<std::byte> zeros(1 << 20);
    KILN_ASSERT_OK(buffer->write(0, zeros));
  }
}

} // namespace
} // namespace kiln::hal::conformance
