// A buffer seen as a dense, row-major tensor. Immutable, but for being given away.
#ifndef KILN_RUNTIME_HAL_BUFFER_VIEW_H
#define KILN_RUNTIME_HAL_BUFFER_VIEW_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/element_type.h"
#include "kiln/schema/tensor_limits.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace kiln::hal {

class BufferView : public RefCounted {
public:
  static constexpr uint32_t kMaxRank = schema::kMaxViewRank;

  // The buffer must hold at least the bytes that shape and type need; a longer one is cut to them.
  static Result<Ref<BufferView>> create(Ref<Buffer> buffer, ElementType type, std::span<const uint64_t> shape);

  ElementType elementType() const { return type; }
  uint32_t rank() const { return dimensionCount; }
  std::span<const uint64_t> shape() const { return {dimensions.data(), dimensionCount}; }
  uint64_t dimension(uint32_t i) const { return dimensions[i]; }
  uint64_t elementCount() const { return elements; }
  uint64_t byteLength() const { return bytes->byteLength(); }
  // Holds just the elements.
  Buffer *buffer() const { return bytes.get(); }
  Ref<Buffer> sharedBuffer() const { return bytes; }

  // "2x3xf32"
  std::string typeText() const;

  // The memory was given to a call, which may have updated it, and is no longer that of who holds the view. On any
  // thread.
  bool isDonated() const { return donated.load(std::memory_order_acquire); }
  // False where it was already.
  bool donate() { return !donated.exchange(true, std::memory_order_acq_rel); }

private:
  BufferView(Ref<Buffer> buffer, ElementType type, std::span<const uint64_t> shape, uint64_t elements);

  Ref<Buffer> bytes;
  uint64_t elements;
  ElementType type;
  uint32_t dimensionCount;
  std::array<uint64_t, kMaxRank> dimensions;
  std::atomic<bool> donated = false;
};

// Elements of a shape, and bytes of them in memory; OutOfRange where 64 bits do not hold the number.
Result<uint64_t> shapeElementCount(std::span<const uint64_t> shape);
Result<uint64_t> shapeByteLength(ElementType type, std::span<const uint64_t> shape);
// "2x3xf32"; "f32" for rank 0.
std::string shapeText(ElementType type, std::span<const uint64_t> shape);

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_BUFFER_VIEW_H
