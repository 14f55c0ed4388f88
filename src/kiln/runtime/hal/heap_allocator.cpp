#include "kiln/runtime/hal/heap_allocator.h"

#include "kiln/schema/executable_abi.h"

#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace kiln::hal {

namespace {

// From this size on, pages of 2 MiB are asked for: fewer faults when the memory is first touched, and fewer misses in
// the address translation of kernels that walk over it. A hint; where the system has none to give, nothing changes.
constexpr uintptr_t kHugePage = uintptr_t(2) << 20;
constexpr uint64_t kHugePageThreshold = 2 * kHugePage;

void preferHugePages(uintptr_t begin, uint64_t length) {
  uintptr_t first = (begin + kHugePage - 1) & ~(kHugePage - 1);
  uintptr_t last = (begin + length) & ~(kHugePage - 1);
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
}

// Object and contents in one block of malloc: small buffers are made for each call of a program.
class HeapBuffer final : public Buffer {
public:
  static Result<Ref<Buffer>> create(BufferUsage usage, uint64_t length, FreshMemory fresh) {
    static_assert((KILN_BINDING_ALIGNMENT & (KILN_BINDING_ALIGNMENT - 1)) == 0);
    size_t size = sizeof(HeapBuffer) + KILN_BINDING_ALIGNMENT - 1 + length;
    void *block = fresh == FreshMemory::Zeros ? std::calloc(1, size) : std::malloc(size);
    if (!block)
      return resourceExhausted("cannot allocate {} bytes: out of memory", length);
    uintptr_t contents = reinterpret_cast<uintptr_t>(block) + sizeof(HeapBuffer) + KILN_BINDING_ALIGNMENT - 1;
    contents &= ~uintptr_t(KILN_BINDING_ALIGNMENT - 1);
    if (length >= kHugePageThreshold)
      preferHugePages(contents, length);
    Properties properties;
    properties.length = length;
    properties.usage = usage;
    properties.host = reinterpret_cast<void *>(contents);
    return Ref<Buffer>::adopt(new (block) HeapBuffer(properties));
  }

  static void operator delete(void *block) { std::free(block); }

private:
  static void *operator new(size_t, void *block) { return block; }
  explicit HeapBuffer(const Properties &properties) : Buffer(properties) {}
};

class ImportedBuffer final : public Buffer {
public:
  static Ref<Buffer> create(HostMemory &memory, BufferUsage usage) {
    Properties properties;
    properties.length = memory.length;
    properties.usage = usage;
    properties.access = memory.access;
    properties.host = memory.data;
    return Ref<Buffer>::adopt(new ImportedBuffer(properties, std::exchange(memory.release, nullptr),
                                                 std::exchange(memory.checkReadable, nullptr)));
  }
  ~ImportedBuffer() override {
    if (release)
      release();
  }

private:
  ImportedBuffer(const Properties &properties, std::function<void()> release, std::function<Status()> check)
      : Buffer(properties), release(std::move(release)), check(std::move(check)) {}

  Status checkMemory() const override { return check ? check() : okStatus(); }

  std::function<void()> release;
  std::function<Status()> check;
};

} // namespace

Result<Ref<Buffer>> HeapAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  return HeapBuffer::create(usage, length, fresh);
}

Result<Ref<Buffer>> HeapAllocator::importBuffer(HostMemory &memory, BufferUsage usage) {
  return ImportedBuffer::create(memory, usage);
}

} // namespace kiln::hal
