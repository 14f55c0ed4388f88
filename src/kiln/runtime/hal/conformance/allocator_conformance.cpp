// Allocation, mapping, spans, imported memory, statistics.
#include "kiln/runtime/hal/conformance/conformance.h"

#include "kiln/schema/executable_abi.h"

#include <cstring>
#include <memory>
#include <numeric>

namespace kiln::hal::conformance {
namespace {

TEST_P(Conformance, AllocatesAlignedMemoryThatHoldsWhatIsWritten) {
  std::vector<Ref<Buffer>> buffers;
  for (uint64_t length : {0, 1, 3, 64, 65, 4096, 100'000, 5'000'000}) {
    std::vector<uint8_t> values(length);
    std::iota(values.begin(), values.end(), uint8_t(length % 251));
    Ref<Buffer> buffer = allocate(values);
    EXPECT_EQ(buffer->byteLength(), length);
    EXPECT_EQ(buffer->allocation(), buffer.get());
    if (buffer->hostPointer()) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->hostPointer()) % KILN_BINDING_ALIGNMENT, 0u);
    }
    buffers.push_back(std::move(buffer));
  }
  // All at once: none shares memory with another.
  for (const Ref<Buffer> &buffer : buffers) {
    std::vector<uint8_t> values(buffer->byteLength());
    std::iota(values.begin(), values.end(), uint8_t(buffer->byteLength() % 251));
    EXPECT_EQ(contents<uint8_t>(buffer.get()), values);
  }
}

TEST_P(Conformance, RefusesMoreMemoryThanThereIs) {
  for (uint64_t length : {UINT64_MAX, uint64_t(INT64_MAX), uint64_t(1) << 62})
    KILN_EXPECT_ERROR(device->allocator().allocate(BufferUsage::Result, length), ResourceExhausted, "cannot allocate");
}

TEST_P(Conformance, MapsRanges) {
  Ref<Buffer> buffer = allocate(std::vector<uint32_t>{1, 2, 3, 4});
  {
    KILN_ASSERT_ASSIGN(MappedMemory mapping, buffer->map(MemoryAccess::ReadWrite, 4, 8));
    ASSERT_EQ(mapping.size(), 8u);
    EXPECT_EQ(mapping.as<uint32_t>()[0], 2u);
    mapping.as<uint32_t>()[1] = 30;
  }
  EXPECT_EQ(contents<uint32_t>(buffer.get()), (std::vector<uint32_t>{1, 2, 30, 4}));
  KILN_EXPECT_OK(statusOf(buffer->map(MemoryAccess::Read, 16, 0)));
  KILN_EXPECT_ERROR(buffer->map(MemoryAccess::Read, 8, 9), OutOfRange, "of a buffer of 16 bytes");
  KILN_EXPECT_ERROR(buffer->map(MemoryAccess::Read, 17, 0), OutOfRange, "of a buffer of 16 bytes");
  KILN_EXPECT_ERROR(buffer->map(MemoryAccess::Read, 8, UINT64_MAX), OutOfRange, "of a buffer of 16 bytes");
}

TEST_P(Conformance, ReadsAndWritesInBounds) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>{1, 2, 3, 4});
  std::byte bytes[3] = {};
  KILN_EXPECT_OK(buffer->read(1, bytes));
  EXPECT_EQ(bytes[2], std::byte(4));
  KILN_EXPECT_ERROR(buffer->read(2, bytes), OutOfRange, "3 bytes at offset 2 of a buffer of 4 bytes");
  KILN_EXPECT_ERROR(buffer->write(2, bytes), OutOfRange, "3 bytes at offset 2 of a buffer of 4 bytes");
  KILN_EXPECT_ERROR(buffer->write(UINT64_MAX, bytes), OutOfRange, "of a buffer of 4 bytes");
}

TEST_P(Conformance, SpansShareMemoryAndKeepItAlive) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7});
  Buffer *allocation = buffer.get();
  KILN_ASSERT_ASSIGN(Ref<Buffer> middle, Buffer::subspan(buffer, 2, 5));
  KILN_ASSERT_ASSIGN(Ref<Buffer> inner, Buffer::subspan(middle, 1, 3));
  KILN_ASSERT_ASSIGN(Ref<Buffer> whole, Buffer::subspan(buffer, 0, 8));
  EXPECT_EQ(whole.get(), buffer.get());
  EXPECT_EQ(inner->allocation(), allocation);
  EXPECT_EQ(inner->allocationOffset(), 3u);
  buffer = whole = middle = nullptr;
  EXPECT_EQ(contents<uint8_t>(inner.get()), (std::vector<uint8_t>{3, 4, 5}));
  std::byte value[1] = {std::byte(40)};
  KILN_EXPECT_OK(inner->write(1, value));
  EXPECT_EQ(contents<uint8_t>(inner->allocation()), (std::vector<uint8_t>{0, 1, 2, 3, 40, 5, 6, 7}));
  KILN_EXPECT_ERROR(Buffer::subspan(inner, 1, 3), OutOfRange, "does not lie in a buffer of 3 bytes");
  KILN_EXPECT_ERROR(Buffer::subspan(inner, 4, 0), OutOfRange, "does not lie in a buffer of 3 bytes");
  KILN_EXPECT_ERROR(Buffer::subspan(nullptr, 0, 0), InvalidArgument, "null buffer");
}

struct alignas(KILN_BINDING_ALIGNMENT) HostBlock {
  uint8_t bytes[256];
};

TEST_P(Conformance, ImportsHostMemory) {
  auto block = std::make_unique<HostBlock>();
  std::iota(block->bytes, block->bytes + 256, uint8_t(0));
  int released = 0;
  for (uint64_t offset : {0, 1}) {
    HostMemory memory{block->bytes + offset, 200, MemoryAccess::ReadWrite, [&] { ++released; }};
    KILN_ASSERT_ASSIGN(Ref<Buffer> buffer, device->allocator().importHost(std::move(memory)));
    EXPECT_EQ(buffer->byteLength(), 200u);
    // Misaligned memory is copied, and needed no longer.
    if (offset == 1) {
      EXPECT_EQ(released, 2);
    }
    if (buffer->hostPointer()) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->hostPointer()) % KILN_BINDING_ALIGNMENT, 0u);
    }
    std::vector<uint8_t> values = contents<uint8_t>(buffer.get());
    EXPECT_TRUE(std::equal(values.begin(), values.end(), block->bytes + offset));
    buffer = nullptr;
    EXPECT_EQ(released, int(offset) + 1);
  }
  KILN_EXPECT_OK(statusOf(device->allocator().importHost({nullptr, 0, MemoryAccess::Read, nullptr})));
}

TEST_P(Conformance, KeepsReadOnlyMemoryFromTheHostAndTransfers) {
  auto block = std::make_unique<HostBlock>();
  for (uint64_t offset : {0, 1}) {
    HostMemory memory{block->bytes + offset, 64, MemoryAccess::Read, nullptr};
    KILN_ASSERT_ASSIGN(Ref<Buffer> buffer, device->allocator().importHost(std::move(memory)));
    std::byte bytes[1] = {};
    KILN_EXPECT_OK(buffer->read(0, bytes));
    KILN_EXPECT_ERROR(buffer->write(0, bytes), PermissionDenied, "read-only");
    KILN_EXPECT_ERROR(buffer->map(MemoryAccess::ReadWrite), PermissionDenied, "read-only");
    KILN_ASSERT_ASSIGN(Ref<Buffer> span, Buffer::subspan(buffer, 8, 8));
    KILN_EXPECT_ERROR(span->write(0, bytes), PermissionDenied, "read-only");

    Ref<CommandBuffer> commands = record(2);
    KILN_ASSERT_OK(commands->copy({0, 0, 8}, 1, 0));
    KILN_ASSERT_OK(commands->finalize());
    Ref<Buffer> other = allocate(64);
    KILN_EXPECT_OK(run(*commands, table({buffer, other})));
    KILN_EXPECT_ERROR(run(*commands, table({other, buffer})), PermissionDenied, "binding slot 1 is written");
  }
}

TEST_P(Conformance, CountsWhatIsAllocated) {
  AllocatorStatistics before = device->allocator().statistics();
  auto sum = [](const AllocatorStatistics &statistics, uint64_t MemoryUsage::*field) {
    return statistics.hostLocal.*field + statistics.deviceLocal.*field;
  };
  Ref<Buffer> result = allocate(1000);
  Ref<Buffer> a = allocate(300, BufferUsage::Transient);
  a = nullptr;
  Ref<Buffer> b = allocate(500, BufferUsage::Transient);
  AllocatorStatistics during = device->allocator().statistics();
  EXPECT_EQ(sum(during, &MemoryUsage::live) - sum(before, &MemoryUsage::live), 1500u);
  EXPECT_EQ(sum(during, &MemoryUsage::allocated) - sum(before, &MemoryUsage::allocated), 1800u);
  EXPECT_EQ(during.transient.live, 500u);
  EXPECT_EQ(during.transient.peak, 500u);
  EXPECT_EQ(during.transient.allocated, 800u);
  EXPECT_EQ(during.transient.freed, 300u);
  b = result = nullptr;
  AllocatorStatistics after = device->allocator().statistics();
  EXPECT_EQ(sum(after, &MemoryUsage::live), sum(before, &MemoryUsage::live));
  EXPECT_EQ(sum(after, &MemoryUsage::peak), sum(during, &MemoryUsage::peak));
  EXPECT_EQ(after.transient.live, 0u);
}

TEST_P(Conformance, BuffersOutliveTheirDevice) {
  Ref<Buffer> buffer = allocate(std::vector<uint8_t>{7, 8});
  kernels = nullptr;
  device = nullptr;
  EXPECT_EQ(contents<uint8_t>(buffer.get()), (std::vector<uint8_t>{7, 8}));
}

} // namespace
// More than the device says that a buffer can have is refused, as is memory that is not there.
TEST_P(Conformance, NoBufferIsLargerThanTheLimit) {
  const DeviceLimits &limits = device->limits();
  EXPECT_EQ(limits.bindingAlignment % KILN_BINDING_ALIGNMENT, 0u);
  EXPECT_EQ(limits.bufferAlignment % limits.bindingAlignment, 0u);
  EXPECT_GT(limits.mostBufferBytes, uint64_t(1) << 20);
  EXPECT_GE(limits.mostThreads, limits.subgroupThreads);
  KILN_EXPECT_ERROR(device->allocator().allocate(BufferUsage::Result, limits.mostBufferBytes + 1), ResourceExhausted,
                    "");
}

} // namespace kiln::hal::conformance
