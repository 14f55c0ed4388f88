#include "kiln/targets/discrete/driver/discrete_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kiln::hal {

// What memory holds that nobody has written: no number in any type of floats, and no small integer.
static constexpr int kUnwritten = 0xFF;

static uint64_t roundUp(uint64_t bytes, uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

static Status noMemory(const DiscreteMemory &memory, uint64_t length) {
  return resourceExhausted("cannot allocate {} bytes on 'discrete': {} of its {} bytes are free", length,
                           memory.bytes - std::min(memory.used.load(), memory.bytes), memory.bytes);
}

Result<Ref<DiscretePages>> DiscretePages::create(std::shared_ptr<DiscreteMemory> memory, uint64_t length) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (length > memory->bytes)
    return noMemory(*memory, length);
  const uint64_t bytes = roundUp(std::max<uint64_t>(length, 1), page), total = bytes + page;
  if (memory->used.fetch_add(bytes) + bytes > memory->bytes) {
    memory->used.fetch_sub(bytes);
    return noMemory(*memory, length);
  }
  void *pages = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    memory->used.fetch_sub(bytes);
    return resourceExhausted("cannot reserve {} bytes for 'discrete': the host is out of memory", total);
  }
  // What a kernel writes behind the end meets the page that cannot be touched.
  auto *first = static_cast<std::byte *>(pages);
  std::byte *begin = first + bytes - roundUp(length, memory->limits.bufferAlignment);
  return Ref<DiscretePages>::adopt(new DiscretePages(std::move(memory), first, bytes, begin, length));
}

DiscretePages::DiscretePages(std::shared_ptr<DiscreteMemory> memory, std::byte *pages, uint64_t pageBytes,
                             std::byte *begin, uint64_t length)
    : Buffer({length, BufferUsage::Transient, MemoryKind::HostLocal, MemoryAccess::ReadWrite, begin}),
      memory(std::move(memory)), pages(pages), pageBytes(pageBytes) {}

DiscretePages::~DiscretePages() {
  munmap(pages, pageBytes + static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  memory->used.fetch_sub(pageBytes);
}

void DiscretePages::open() {
  std::lock_guard lock(mutex);
  if (openings++ == 0)
    mprotect(pages, pageBytes, PROT_READ | PROT_WRITE);
}

void DiscretePages::close() {
  std::lock_guard lock(mutex);
  if (--openings == 0)
    mprotect(pages, pageBytes, PROT_NONE);
}

DiscreteBuffer::DiscreteBuffer(std::shared_ptr<DiscreteMemory> memory, Ref<DiscretePages> pages, BufferUsage usage)
    : Buffer({pages->byteLength(), usage, MemoryKind::DeviceLocal, MemoryAccess::ReadWrite, nullptr}),
      memory(std::move(memory)), devicePages(std::move(pages)) {}

const DiscreteBuffer *DiscreteBuffer::find(const DiscreteMemory &memory, const Buffer &buffer) {
  const auto *allocation = dynamic_cast<const DiscreteBuffer *>(buffer.allocation());
  return allocation && allocation->memory.get() == &memory ? allocation : nullptr;
}

Result<void *> DiscreteBuffer::mapRange(MemoryAccess access, uint64_t offset, uint64_t length) {
  void *copy = std::malloc(std::max<uint64_t>(length, 1));
  if (!copy)
    return resourceExhausted("cannot allocate {} bytes of host memory to map a buffer of the device", length);
  if (allows(access, MemoryAccess::Read)) {
    devicePages->open();
    std::memcpy(copy, static_cast<std::byte *>(devicePages->hostPointer()) + offset, length);
    devicePages->close();
  } else {
    std::memset(copy, kUnwritten, length);
  }
  return copy;
}

void DiscreteBuffer::unmapRange(MemoryAccess access, uint64_t offset, uint64_t length, void *pointer) {
  if (allows(access, MemoryAccess::Write)) {
    devicePages->open();
    std::memcpy(static_cast<std::byte *>(devicePages->hostPointer()) + offset, pointer, length);
    devicePages->close();
  }
  std::free(pointer);
}

Result<Ref<Buffer>> DiscreteAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  KILN_ASSIGN_OR_RETURN(Ref<DiscretePages> pages, DiscretePages::create(memory, length));
  return Ref<Buffer>(makeRef<DiscreteBuffer>(memory, std::move(pages), usage));
}

Result<Ref<Buffer>> DiscreteRequests::allocateBuffer(BufferUsage usage, uint64_t length) {
  if (memory->allocations.fetch_add(1) + 1 == memory->settings.failAllocation)
    return resourceExhausted("cannot allocate {} bytes on 'discrete': its URI asks for this failure", length);
  KILN_ASSIGN_OR_RETURN(Ref<Buffer> buffer, inner->allocate(usage, length));
  if (const DiscreteBuffer *found = DiscreteBuffer::find(*memory, *buffer)) {
    found->pages().open();
    std::memset(found->pages().hostPointer(), kUnwritten, length);
    found->pages().close();
  }
  return buffer;
}

} // namespace kiln::hal
