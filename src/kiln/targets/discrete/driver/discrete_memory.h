// Memory that belongs to a device: the host sees it through copies, and faults where it touches it in any other way.
#ifndef KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_MEMORY_H
#define KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_MEMORY_H

#include "kiln/runtime/hal/allocator.h"
#include "kiln/targets/discrete/driver/discrete_settings.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace kiln::hal {

// What the buffers of a device share, and outlives it.
struct DiscreteMemory {
  explicit DiscreteMemory(const DiscreteSettings &settings) : settings(settings) {}
  const DiscreteSettings settings;
  const DeviceLimits limits = settings.limits();
  const uint64_t bytes = limits.mostBufferBytes; // one buffer may have it all
  std::atomic<uint64_t> used{0}, allocations{0};
};

// The memory of one buffer as the device sees it: pages that can be touched while somebody opens them, and behind them
// one that never can.
class DiscretePages final : public Buffer {
public:
  static Result<Ref<DiscretePages>> create(std::shared_ptr<DiscreteMemory> memory, uint64_t length);

  void open();
  void close();

private:
  DiscretePages(std::shared_ptr<DiscreteMemory> memory, std::byte *pages, uint64_t pageBytes, std::byte *begin,
                uint64_t length);
  ~DiscretePages() override;

  const std::shared_ptr<DiscreteMemory> memory;
  std::byte *const pages;
  const uint64_t pageBytes; // without the last one
  std::mutex mutex;
  uint64_t openings = 0; // guarded
};

class DiscreteBuffer final : public Buffer {
public:
  DiscreteBuffer(std::shared_ptr<DiscreteMemory> memory, Ref<DiscretePages> pages, BufferUsage usage);

  // The buffer that `buffer` is, or is a span of; null where that is not in this memory.
  static const DiscreteBuffer *find(const DiscreteMemory &memory, const Buffer &buffer);
  DiscretePages &pages() const { return *devicePages; }

protected:
  // A copy in host memory, written back when the mapping ends, if it was for writing.
  Result<void *> mapRange(MemoryAccess access, uint64_t offset, uint64_t length) override;
  void unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer) override;

private:
  const std::shared_ptr<DiscreteMemory> memory;
  const Ref<DiscretePages> devicePages;
};

// Memory from the device, of which each buffer has pages of its own.
class DiscreteAllocator final : public Allocator {
public:
  explicit DiscreteAllocator(std::shared_ptr<DiscreteMemory> memory) : memory(std::move(memory)) {}

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  // Host memory is always copied.
  Result<Ref<Buffer>> importBuffer(HostMemory &, BufferUsage) override { return Ref<Buffer>(); }

private:
  const std::shared_ptr<DiscreteMemory> memory;
};

// What the users of the device allocate from. It wraps the cache, so that memory that was used before holds no numbers
// either, and so that the allocation that is to fail is counted and fails whatever the cache keeps.
class DiscreteRequests final : public Allocator {
public:
  DiscreteRequests(Ref<Allocator> inner, std::shared_ptr<DiscreteMemory> memory)
      : inner(std::move(inner)), memory(std::move(memory)) {}

  void trim() override { inner->trim(); }
  Status verify() override { return inner->verify(); }

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  Result<Ref<Buffer>> importBuffer(HostMemory &host, BufferUsage usage) override {
    return importThrough(*inner, host, usage);
  }
  void reclaim(Buffer *buffer) override { passBack(*inner, buffer); }

private:
  const Ref<Allocator> inner;
  const std::shared_ptr<DiscreteMemory> memory;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_DISCRETE_DRIVER_DISCRETE_MEMORY_H
