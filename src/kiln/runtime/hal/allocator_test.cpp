// The decorators; the conformance suite tests the allocators of devices.
#include "kiln/runtime/hal/caching_allocator.h"
#include "kiln/runtime/hal/debug_allocator.h"
#include "kiln/runtime/hal/heap_allocator.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

namespace kiln::hal {
namespace {

Ref<Buffer> allocate(Allocator &allocator, uint64_t length, BufferUsage usage = BufferUsage::Result) {
  Result<Ref<Buffer>> buffer = allocator.allocate(usage, length);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return *buffer;
}

TEST(CachingAllocatorTest, HandsFreedMemoryOutAgain) {
  auto heap = makeRef<HeapAllocator>();
  auto cache = makeRef<CachingAllocator>(heap);
  Ref<Buffer> buffer = allocate(*cache, 1000);
  void *address = buffer->hostPointer();
  buffer = nullptr;
  EXPECT_EQ(cache->keptBytes(), heap->statistics().hostLocal.live);
  // A little smaller or larger: the same class.
  buffer = allocate(*cache, 950, BufferUsage::Transient);
  EXPECT_EQ(buffer->hostPointer(), address);
  EXPECT_EQ(buffer->byteLength(), 950u);
  EXPECT_EQ(buffer->usage(), BufferUsage::Transient);
  EXPECT_EQ(cache->keptBytes(), 0u);
  EXPECT_EQ(cache->statistics().hostLocal.live, 950u);
  EXPECT_EQ(cache->statistics().transient.live, 950u);
  // Much larger: other memory.
  Ref<Buffer> larger = allocate(*cache, 2000);
  EXPECT_NE(larger->hostPointer(), address);
}

TEST(CachingAllocatorTest, WastesAtMostAFifth) {
  auto heap = makeRef<HeapAllocator>();
  auto cache = makeRef<CachingAllocator>(heap);
  for (uint64_t length = 65; length < 100'000; length += 1 + length / 97) {
    Ref<Buffer> buffer = allocate(*cache, length);
    uint64_t real = heap->statistics().hostLocal.live;
    ASSERT_GE(real, length);
    ASSERT_LE((real - length) * 5, real) << length;
    buffer = nullptr;
    cache->trim();
    ASSERT_EQ(heap->statistics().hostLocal.live, 0u);
  }
}

TEST(CachingAllocatorTest, KeepsNoMoreThanItsLimit) {
  auto heap = makeRef<HeapAllocator>();
  CachingAllocatorOptions options;
  options.maxKept = 10'000;
  auto cache = makeRef<CachingAllocator>(heap, options);
  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 8; ++i)
    buffers.push_back(allocate(*cache, 4096));
  buffers.clear();
  EXPECT_EQ(cache->keptBytes(), 2 * 4096u);
  EXPECT_EQ(heap->statistics().hostLocal.live, 2 * 4096u);
  // It ends with the cache.
  cache = nullptr;
  EXPECT_EQ(heap->statistics().hostLocal.live, 0u);
}

TEST(CachingAllocatorTest, OutlivesItsUsersInAnyOrder) {
  auto heap = makeRef<HeapAllocator>();
  auto cache = makeRef<CachingAllocator>(heap);
  Ref<Buffer> buffer = allocate(*cache, 100);
  cache = nullptr;
  EXPECT_EQ(heap->statistics().hostLocal.live, 112u);
  buffer = nullptr;
  EXPECT_EQ(heap->statistics().hostLocal.live, 0u);
}

TEST(CachingAllocatorTest, ForgetsThatAReusedBufferWasReadOnly) {
  auto cache = makeRef<CachingAllocator>(makeRef<HeapAllocator>());
  std::array<std::byte, 100> bytes{};
  // At an odd address, so that it is copied.
  auto *odd = bytes.data() + (reinterpret_cast<uintptr_t>(bytes.data()) % 2 == 0);
  Result<Ref<Buffer>> imported = cache->importHost({odd, 64, MemoryAccess::Read, nullptr});
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ((*imported)->access(), MemoryAccess::Read);
  void *address = (*imported)->hostPointer();
  *imported = nullptr;
  Ref<Buffer> buffer = allocate(*cache, 64);
  EXPECT_EQ(buffer->hostPointer(), address);
  EXPECT_EQ(buffer->access(), MemoryAccess::ReadWrite);
}

TEST(CachingAllocatorTest, ServesManyThreads) {
  auto heap = makeRef<HeapAllocator>();
  auto cache = makeRef<CachingAllocator>(heap);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t round = 0; round < 2000; ++round) {
        Ref<Buffer> buffer = allocate(*cache, 64 + (round * 37 + uint64_t(i)) % 500);
        auto *bytes = static_cast<uint8_t *>(buffer->hostPointer());
        std::fill_n(bytes, buffer->byteLength(), uint8_t(i));
        std::this_thread::yield();
        ASSERT_EQ(std::count(bytes, bytes + buffer->byteLength(), uint8_t(i)), ptrdiff_t(buffer->byteLength()));
      }
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cache->statistics().hostLocal.live, 0u);
  EXPECT_EQ(cache->keptBytes(), heap->statistics().hostLocal.live);
}

// What a device that runs no kernels shows as results: freed memory must not come back with what it held.
TEST(HeapAllocatorTest, ZerosWhereItIsToldTo) {
  for (bool caches : {false, true}) {
    Ref<Allocator> allocator = makeRef<HeapAllocator>(FreshMemory::Zeros);
    if (caches) {
      CachingAllocatorOptions options;
      options.zeroReused = true;
      allocator = makeRef<CachingAllocator>(std::move(allocator), options);
    }
    for (uint64_t length : {16, 100, 4096, 16, 100, 4096}) {
      Ref<Buffer> buffer = allocate(*allocator, length);
      auto *bytes = static_cast<uint8_t *>(buffer->hostPointer());
      EXPECT_EQ(std::count(bytes, bytes + length, 0), ptrdiff_t(length));
      std::fill_n(bytes, length, uint8_t(0xAB));
    }
  }
}

class DebugAllocatorTest : public testing::Test {
protected:
  DebugAllocatorTest() {
    DebugAllocatorOptions options;
    options.quarantineBytes = 1000;
    options.onDamage = [this](const Status &status) { reports.push_back(status.toString()); };
    allocator = makeRef<DebugAllocator>(makeRef<HeapAllocator>(), options);
  }
  static uint8_t *bytes(const Ref<Buffer> &buffer) { return static_cast<uint8_t *>(buffer->hostPointer()); }

  std::vector<std::string> reports;
  Ref<DebugAllocator> allocator;
};

TEST_F(DebugAllocatorTest, PoisonsNewMemory) {
  Ref<Buffer> buffer = allocate(*allocator, 77);
  EXPECT_EQ(std::count(bytes(buffer), bytes(buffer) + 77, 0xCB), 77);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes(buffer)) % 64, 0u);
  EXPECT_TRUE(allocator->verify().ok());
}

TEST_F(DebugAllocatorTest, FindsWritesBehindTheEnd) {
  Ref<Buffer> buffer = allocate(*allocator, 77);
  bytes(buffer)[77] = 1;
  buffer = nullptr;
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0], "DATA_LOSS: memory was written outside of allocation 0 of 77 bytes, 0 bytes after its end: "
                        "found when it was freed");
  EXPECT_EQ(allocator->verify().toString(), reports[0]);
}

TEST_F(DebugAllocatorTest, FindsWritesBeforeTheStartOfLiveMemory) {
  Ref<Buffer> first = allocate(*allocator, 64), buffer = allocate(*allocator, 64);
  bytes(buffer)[-3] = 1;
  EXPECT_EQ(allocator->verify().toString(),
            "DATA_LOSS: memory was written outside of allocation 1 of 64 bytes, 3 bytes "
            "before its start: found by a check");
  // Told once.
  buffer = nullptr;
  EXPECT_EQ(reports.size(), 1u);
}

TEST_F(DebugAllocatorTest, FindsWritesToFreedMemory) {
  Ref<Buffer> buffer = allocate(*allocator, 128);
  uint8_t *dangling = bytes(buffer);
  buffer = nullptr;
  EXPECT_EQ(dangling[5], 0xDD);
  EXPECT_TRUE(allocator->verify().ok());
  dangling[100] = 7;
  // Younger memory drives it out of the quarantine.
  allocate(*allocator, 2000);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0], "DATA_LOSS: allocation 0 of 128 bytes was written at byte 100 after it had been freed");
}

} // namespace
} // namespace kiln::hal
