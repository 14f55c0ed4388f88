// A range of memory that a device can use.
//
// Buffers know nothing of what work is pending on them: whoever reads or writes one from the host awaits that work
// first. A buffer keeps its device's memory system alive, and may outlive every other reference to the device.
#ifndef KILN_RUNTIME_HAL_BUFFER_H
#define KILN_RUNTIME_HAL_BUFFER_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/base/watched_pages.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kiln::hal {

class Allocator;

// What the buffer is for; the numbers of Result and Transient are those of hal.buffer.allocate. It steers pools and
// statistics, and forbids nothing.
enum class BufferUsage : uint8_t {
  Result = 0,    // may leave the program
  Transient = 1, // an intermediate value: lives no longer than one call
  External = 2,  // made by the program around the module: an input, or imported memory
};

enum class MemoryKind : uint8_t { HostLocal, DeviceLocal };

enum class MemoryAccess : uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

inline bool allows(MemoryAccess have, MemoryAccess want) {
  return (uint8_t(have) & uint8_t(want)) == uint8_t(want);
}

class MappedMemory;

class Buffer : public RefCounted {
public:
  uint64_t byteLength() const { return length; }
  BufferUsage usage() const { return bufferUsage; }
  MemoryKind memoryKind() const { return kind; }
  // What the host, and fills and copies on the device, may do. Native code is trusted to keep to it.
  MemoryAccess access() const { return allowedAccess; }
  // What it holds stays: from now on it is only read.
  void seal() { allowedAccess = MemoryAccess::Read; }

  // The buffer whose memory this is: itself, or, for a span, the buffer that was allocated or imported.
  Buffer *allocation() { return parent ? parent.get() : this; }
  const Buffer *allocation() const { return parent ? parent.get() : this; }
  // Where this buffer starts in allocation().
  uint64_t allocationOffset() const { return offset; }

  // Allocator::instance of the allocator that handed the memory out.
  uint64_t instance() const;

  // First byte where the host can address the memory at any time, else null. Without check of access.
  void *hostPointer() const { return host; }

  // Fails where something else than the contents may have been read from it: a file that they are mapped from has lost
  // them. To be asked after reading.
  Status checkReadable() const { return anyPagesLost() ? allocation()->checkMemory() : okStatus(); }

  // A buffer that shares the memory [offset, offset + length) of `buffer` and keeps it alive. A span of a span refers
  // to the allocation itself. The whole of a buffer is the buffer itself.
  static Result<Ref<Buffer>> subspan(Ref<Buffer> buffer, uint64_t offset, uint64_t length);

  // A buffer of the same allocator with the same contents, which whoever writes them must have finished.
  Result<Ref<Buffer>> clone();

  // Makes [offset, offset + length) addressable by the host until the mapping is destroyed.
  Result<MappedMemory> map(MemoryAccess access, uint64_t offset, uint64_t length);
  Result<MappedMemory> map(MemoryAccess access);

  // Synchronous copies from and to host memory.
  Status read(uint64_t offset, std::span<std::byte> target);
  Status write(uint64_t offset, std::span<const std::byte> source);

protected:
  struct Properties {
    uint64_t length = 0;
    BufferUsage usage = BufferUsage::Result;
    MemoryKind kind = MemoryKind::HostLocal;
    MemoryAccess access = MemoryAccess::ReadWrite;
    void *host = nullptr; // null where memory must be mapped to be seen
  };
  explicit Buffer(const Properties &properties);
  Buffer(Ref<Buffer> parent, uint64_t offset, uint64_t length);
  ~Buffer() override;

  // For memory without a host pointer: of the allocation, in range, checked. Unmap writes back what was written.
  virtual Result<void *> mapRange(MemoryAccess access, uint64_t offset, uint64_t length);
  virtual void unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer);
  // The same memory, copied: through a mapping, where nothing better is known.
  virtual Status readRange(uint64_t offset, std::span<std::byte> target);
  virtual Status writeRange(uint64_t offset, std::span<const std::byte> source);

  virtual Status checkMemory() const { return okStatus(); }

  // The last reference is gone: goes back to the allocator that recycles it, if one does, else is deleted.
  void destroy() override;

private:
  friend class Allocator;
  friend class MappedMemory;
  Status checkRange(const char *what, MemoryAccess access, uint64_t offset, uint64_t length) const;

  Ref<Buffer> parent;
  uint64_t offset = 0;
  uint64_t length;
  void *host;
  BufferUsage bufferUsage;
  MemoryKind kind;
  MemoryAccess allowedAccess;
  // Set by the allocator that handed the buffer out (see Allocator); holds a reference to it.
  Ref<Allocator> owner;
  uint64_t capacity;
};

// A range of a buffer that the host may address. Keeps the buffer alive.
class MappedMemory {
public:
  MappedMemory(MappedMemory &&other) noexcept;
  MappedMemory &operator=(MappedMemory &&other) noexcept;
  ~MappedMemory();

  std::byte *data() const { return static_cast<std::byte *>(pointer); }
  uint64_t size() const { return length; }
  std::span<std::byte> bytes() const { return {data(), length}; }
  template <typename T> std::span<T> as() const { return {static_cast<T *>(pointer), length / sizeof(T)}; }

private:
  friend class Buffer;
  MappedMemory(Ref<Buffer> buffer, MemoryAccess access, uint64_t offset, uint64_t length, void *pointer);

  Ref<Buffer> buffer;
  MemoryAccess access;
  uint64_t offset;
  uint64_t length;
  void *pointer;
};

// Memory of the program around the runtime, to be used in place as a buffer.
struct HostMemory {
  void *data = nullptr; // written to only where access allows it
  uint64_t length = 0;
  MemoryAccess access = MemoryAccess::ReadWrite;
  // Called once, on any thread, when the memory is no longer used. May be empty.
  std::function<void()> release;
  // See Buffer::checkReadable. May be empty: the memory does not change on its own. What it holds lives as long as the
  // memory is used.
  std::function<Status()> checkReadable = nullptr;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_BUFFER_H
