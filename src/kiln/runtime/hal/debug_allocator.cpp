#include "kiln/runtime/hal/debug_allocator.h"

#include <cstring>
#include <utility>

namespace kiln::hal {

// A window of a buffer of the wrapped allocator, with guards around it.
class DebugAllocator::GuardedBuffer final : public Buffer {
public:
  static GuardedBuffer *create(Ref<Buffer> memory, uint64_t guard, BufferUsage usage, uint64_t length,
                               uint64_t serial) {
    Properties properties;
    properties.length = length;
    properties.usage = usage;
    properties.kind = memory->memoryKind();
    properties.host = static_cast<std::byte *>(memory->hostPointer()) + guard;
    return new GuardedBuffer(properties, std::move(memory), serial);
  }

  uint8_t *contents() const { return static_cast<uint8_t *>(hostPointer()); }
  uint8_t *begin() const { return static_cast<uint8_t *>(memory->hostPointer()); }
  uint8_t *end() const { return begin() + memory->byteLength(); }

  const uint64_t serial;
  bool damaged = false;

private:
  GuardedBuffer(const Properties &properties, Ref<Buffer> memory, uint64_t serial)
      : Buffer(properties), serial(serial), memory(std::move(memory)) {}

  Ref<Buffer> memory;
};

namespace {

constexpr uint8_t kGuardByte = 0xFD;

// The first byte in [begin, end) that is not `value`, or null.
const uint8_t *findOther(const uint8_t *begin, const uint8_t *end, uint8_t value) {
  for (; begin < end; ++begin)
    if (*begin != value)
      return begin;
  return nullptr;
}

} // namespace

DebugAllocator::~DebugAllocator() {
  empty(0);
}

Result<Ref<Buffer>> DebugAllocator::allocateBuffer(BufferUsage usage, uint64_t length) {
  uint64_t guard = options.guardBytes;
  KILN_ASSIGN_OR_RETURN(Ref<Buffer> memory, inner->allocate(usage, length + 2 * guard));
  if (!memory->hostPointer())
    return unimplemented("the debug allocator needs memory that the host can address; use another allocator");
  std::lock_guard lock(mutex);
  GuardedBuffer *buffer = GuardedBuffer::create(std::move(memory), guard, usage, length, serial++);
  std::memset(buffer->begin(), kGuardByte, guard);
  std::memset(buffer->contents(), options.freshByte, length);
  std::memset(buffer->contents() + length, kGuardByte, size_t(buffer->end() - buffer->contents()) - length);
  live.insert(buffer);
  return Ref<Buffer>::adopt(buffer);
}

Result<Ref<Buffer>> DebugAllocator::importBuffer(HostMemory &memory, BufferUsage usage) {
  return importThrough(*inner, memory, usage);
}

void DebugAllocator::damage(const Status &status) {
  {
    std::lock_guard lock(damageMutex);
    if (firstDamage.ok())
      firstDamage = status;
  }
  if (options.onDamage)
    options.onDamage(status);
}

void DebugAllocator::checkGuards(GuardedBuffer &buffer, const char *when) {
  const uint8_t *contents = buffer.contents();
  const uint8_t *after = contents + buffer.byteLength();
  const uint8_t *hit = findOther(buffer.begin(), contents, kGuardByte);
  if (!hit)
    hit = findOther(after, buffer.end(), kGuardByte);
  if (!hit || std::exchange(buffer.damaged, true))
    return;
  std::string where = hit < contents ? fmt::format("{} bytes before its start", contents - hit)
                                     : fmt::format("{} bytes after its end", hit - after);
  damage(dataLoss("memory was written outside of allocation {} of {} bytes, {}: found {}", buffer.serial,
                  buffer.byteLength(), where, when));
}

void DebugAllocator::checkFreed(GuardedBuffer &buffer) {
  const uint8_t *contents = buffer.contents();
  const uint8_t *hit = findOther(contents, contents + buffer.byteLength(), options.freedByte);
  if (!hit || std::exchange(buffer.damaged, true))
    return;
  damage(dataLoss("allocation {} of {} bytes was written at byte {} after it had been freed", buffer.serial,
                  buffer.byteLength(), hit - contents));
}

void DebugAllocator::reclaim(Buffer *base) {
  auto *buffer = static_cast<GuardedBuffer *>(base);
  checkGuards(*buffer, "when it was freed");
  std::memset(buffer->contents(), options.freedByte, buffer->byteLength());
  {
    std::lock_guard lock(mutex);
    live.erase(buffer);
    quarantine.push_back(buffer);
    quarantined += buffer->byteLength();
  }
  empty(options.quarantineBytes);
}

void DebugAllocator::empty(uint64_t untilBytes) {
  for (;;) {
    GuardedBuffer *oldest;
    {
      std::lock_guard lock(mutex);
      if (quarantine.empty() || (untilBytes && quarantined <= untilBytes))
        return;
      oldest = quarantine.front();
      quarantine.pop_front();
      quarantined -= oldest->byteLength();
    }
    checkFreed(*oldest);
    deleteBuffer(oldest);
  }
}

void DebugAllocator::trim() {
  empty(0);
  inner->trim();
}

Status DebugAllocator::verify() {
  {
    std::lock_guard lock(mutex);
    for (GuardedBuffer *buffer : live)
      checkGuards(*buffer, "by a check");
    for (GuardedBuffer *buffer : quarantine)
      checkFreed(*buffer);
  }
  std::lock_guard lock(damageMutex);
  return firstDamage;
}

} // namespace kiln::hal
