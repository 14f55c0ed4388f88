#include "kiln/runtime/hal/buffer.h"

#include "kiln/runtime/hal/allocator.h"

#include <cstring>

namespace kiln::hal {

namespace {

// A part of another buffer: shares its memory and all but its length.
class SpanBuffer final : public Buffer {
public:
  SpanBuffer(Ref<Buffer> parent, uint64_t offset, uint64_t length) : Buffer(std::move(parent), offset, length) {}
};

} // namespace

Buffer::Buffer(const Properties &properties)
    : length(properties.length), host(properties.host), bufferUsage(properties.usage), kind(properties.kind),
      allowedAccess(properties.access), capacity(properties.length) {}

Buffer::Buffer(Ref<Buffer> parentBuffer, uint64_t offset, uint64_t length)
    : parent(std::move(parentBuffer)), offset(offset), length(length),
      host(parent->host ? static_cast<std::byte *>(parent->host) + offset : nullptr), bufferUsage(parent->bufferUsage),
      kind(parent->kind), allowedAccess(parent->allowedAccess), capacity(length) {}

Buffer::~Buffer() = default;

void Buffer::destroy() {
  if (!owner) {
    delete this;
    return;
  }
  // The allocator outlives the call, also where this is the last that refers to it.
  Ref<Allocator> allocator = std::move(owner);
  allocator->takeBack(this);
}

Result<Ref<Buffer>> Buffer::subspan(Ref<Buffer> buffer, uint64_t offset, uint64_t length) {
  if (!buffer)
    return invalidArgument("a span of a null buffer was asked for");
  if (offset > buffer->length || length > buffer->length - offset)
    return outOfRange("a span of {} bytes at offset {} does not lie in a buffer of {} bytes", length, offset,
                      buffer->length);
  if (length == buffer->length)
    return buffer;
  uint64_t start = buffer->offset + offset;
  Ref<Buffer> allocation = Ref<Buffer>::share(buffer->allocation());
  return Ref<Buffer>::adopt(new SpanBuffer(std::move(allocation), start, length));
}

uint64_t Buffer::instance() const {
  const Buffer *whole = allocation();
  return whole->owner ? whole->owner->instance() : 0;
}

Result<Ref<Buffer>> Buffer::clone() {
  Allocator *allocator = allocation()->owner.get();
  if (!allocator)
    return unimplemented("a buffer that no allocator handed out cannot be copied");
  KILN_ASSIGN_OR_RETURN(Ref<Buffer> copy, allocator->allocate(bufferUsage, length));
  KILN_ASSIGN_OR_RETURN(MappedMemory memory, copy->map(MemoryAccess::Write));
  KILN_RETURN_IF_ERROR(read(0, memory.bytes()));
  return copy;
}

Status Buffer::checkRange(const char *what, MemoryAccess access, uint64_t offset, uint64_t length) const {
  if (offset > this->length || length > this->length - offset)
    return outOfRange("cannot {} {} bytes at offset {} of a buffer of {} bytes", what, length, offset, this->length);
  if (!allows(allowedAccess, access))
    return permissionDenied("cannot {} a buffer that is {}", what,
                            allowedAccess == MemoryAccess::Read ? "read-only" : "write-only");
  return okStatus();
}

Result<MappedMemory> Buffer::map(MemoryAccess access) {
  return map(access, 0, length);
}

Result<MappedMemory> Buffer::map(MemoryAccess access, uint64_t offset, uint64_t length) {
  KILN_RETURN_IF_ERROR(checkRange("map", access, offset, length));
  uint64_t start = this->offset + offset;
  void *pointer = nullptr;
  if (host) {
    pointer = static_cast<std::byte *>(host) + offset;
  } else {
    KILN_ASSIGN_OR_RETURN(pointer, allocation()->mapRange(access, start, length));
  }
  return MappedMemory(Ref<Buffer>::share(allocation()), access, start, length, pointer);
}

Status Buffer::read(uint64_t offset, std::span<std::byte> target) {
  KILN_RETURN_IF_ERROR(checkRange("read", MemoryAccess::Read, offset, target.size()));
  if (target.empty())
    return okStatus();
  if (host)
    std::memcpy(target.data(), static_cast<std::byte *>(host) + offset, target.size());
  else
    KILN_RETURN_IF_ERROR(allocation()->readRange(this->offset + offset, target));
  return checkReadable();
}

Status Buffer::write(uint64_t offset, std::span<const std::byte> source) {
  KILN_RETURN_IF_ERROR(checkRange("write", MemoryAccess::Write, offset, source.size()));
  if (source.empty())
    return okStatus();
  if (!host)
    return allocation()->writeRange(this->offset + offset, source);
  std::memcpy(static_cast<std::byte *>(host) + offset, source.data(), source.size());
  return okStatus();
}

Result<void *> Buffer::mapRange(MemoryAccess, uint64_t, uint64_t) {
  return unimplemented("the host cannot map this buffer");
}

void Buffer::unmapRange(MemoryAccess, uint64_t, uint64_t, void *) {}

Status Buffer::readRange(uint64_t offset, std::span<std::byte> target) {
  KILN_ASSIGN_OR_RETURN(MappedMemory mapping, map(MemoryAccess::Read, offset, target.size()));
  std::memcpy(target.data(), mapping.data(), target.size());
  return okStatus();
}

Status Buffer::writeRange(uint64_t offset, std::span<const std::byte> source) {
  KILN_ASSIGN_OR_RETURN(MappedMemory mapping, map(MemoryAccess::Write, offset, source.size()));
  std::memcpy(mapping.data(), source.data(), source.size());
  return okStatus();
}

MappedMemory::MappedMemory(Ref<Buffer> buffer, MemoryAccess access, uint64_t offset, uint64_t length, void *pointer)
    : buffer(std::move(buffer)), access(access), offset(offset), length(length), pointer(pointer) {}

MappedMemory::MappedMemory(MappedMemory &&other) noexcept = default;

MappedMemory &MappedMemory::operator=(MappedMemory &&other) noexcept {
  std::swap(buffer, other.buffer);
  std::swap(access, other.access);
  std::swap(offset, other.offset);
  std::swap(length, other.length);
  std::swap(pointer, other.pointer);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (buffer && !buffer->host)
    buffer->unmapRange(access, offset, length, pointer);
}

} // namespace kiln::hal
