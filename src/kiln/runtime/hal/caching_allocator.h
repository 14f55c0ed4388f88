// Keeps freed memory and hands it out again, so that a program that is called over and over neither asks the system for
// memory nor touches fresh pages.
#ifndef KILN_RUNTIME_HAL_CACHING_ALLOCATOR_H
#define KILN_RUNTIME_HAL_CACHING_ALLOCATOR_H

#include "kiln/runtime/hal/allocator.h"

#include <array>
#include <mutex>
#include <vector>

namespace kiln::hal {

struct CachingAllocatorOptions {
  // More free memory than this is not kept.
  uint64_t maxKept = uint64_t(1) << 30;
  // Kept memory holds zeros when it is handed out again; only where the host can address it.
  bool zeroReused = false;
};

// Sizes are rounded up to classes, four to each power of two, so that at most a fifth of a buffer is wasted and sizes
// that vary a little share memory. `statistics` counts what was asked for; the wrapped allocator's, what is really
// held.
class CachingAllocator final : public Allocator {
public:
  explicit CachingAllocator(Ref<Allocator> inner, const CachingAllocatorOptions &options = {})
      : inner(std::move(inner)), options(options) {}
  ~CachingAllocator() override;

  void trim() override;
  Status verify() override { return inner->verify(); }
  // Free bytes that are kept now.
  uint64_t keptBytes() const;

protected:
  Result<Ref<Buffer>> allocateBuffer(BufferUsage usage, uint64_t length) override;
  Result<Ref<Buffer>> importBuffer(HostMemory &memory, BufferUsage usage) override;
  void reclaim(Buffer *buffer) override;

private:
  static constexpr uint64_t kSmallest = 64;
  static constexpr uint32_t kClasses = 4 * 64;

  static uint32_t classOf(uint64_t length);
  static uint64_t sizeOfClass(uint32_t index);

  Ref<Allocator> inner;
  const CachingAllocatorOptions options;
  mutable std::mutex mutex;
  std::array<std::vector<Buffer *>, kClasses> free; // guarded; each is owned, and belongs to `inner`
  uint64_t kept = 0;                                // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_CACHING_ALLOCATOR_H
