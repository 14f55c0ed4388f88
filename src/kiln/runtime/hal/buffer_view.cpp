#include "kiln/runtime/hal/buffer_view.h"

#include <algorithm>
#include <iterator>

namespace kiln::hal {

Result<uint64_t> shapeElementCount(std::span<const uint64_t> shape) {
  // A zero makes the product zero, however large the other dimensions are.
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end())
    return uint64_t(0);
  uint64_t count = 1;
  for (uint64_t dimension : shape)
    if (__builtin_mul_overflow(count, dimension, &count))
      return outOfRange("a shape has more elements than 64 bits can count");
  return count;
}

Result<uint64_t> shapeByteLength(ElementType type, std::span<const uint64_t> shape) {
  KILN_ASSIGN_OR_RETURN(uint64_t count, shapeElementCount(shape));
  if (isPacked(type)) {
    uint64_t perByte = 8 / elementTypeBits(type);
    return count / perByte + (count % perByte != 0);
  }
  // No memory is larger, and differences of addresses in it have a sign.
  constexpr uint64_t kMostBytes = INT64_MAX;
  uint64_t length;
  if (__builtin_mul_overflow(count, elementTypeByteSize(type), &length) || length > kMostBytes)
    return outOfRange("{} takes more bytes than a memory has", shapeText(type, shape));
  return length;
}

std::string shapeText(ElementType type, std::span<const uint64_t> shape) {
  std::string text;
  for (uint64_t dimension : shape)
    fmt::format_to(std::back_inserter(text), "{}x", dimension);
  text += elementTypeName(type);
  return text;
}

Result<Ref<BufferView>> BufferView::create(Ref<Buffer> buffer, ElementType type, std::span<const uint64_t> shape) {
  if (!buffer)
    return invalidArgument("a view of a null buffer was asked for");
  if (!elementTypeFromNumber(uint32_t(type)))
    return invalidArgument("{} is the number of no element type", uint32_t(type));
  if (shape.size() > kMaxRank)
    return invalidArgument("a view of rank {} was asked for; at most {} dimensions are possible", shape.size(),
                           kMaxRank);
  KILN_ASSIGN_OR_RETURN(uint64_t count, shapeElementCount(shape));
  KILN_ASSIGN_OR_RETURN(uint64_t length, shapeByteLength(type, shape));
  if (length > buffer->byteLength())
    return outOfRange("{} takes {} bytes; the buffer has {}", shapeText(type, shape), length, buffer->byteLength());
  if (length < buffer->byteLength()) {
    KILN_ASSIGN_OR_RETURN(buffer, Buffer::subspan(std::move(buffer), 0, length));
  }
  return Ref<BufferView>::adopt(new BufferView(std::move(buffer), type, shape, count));
}

BufferView::BufferView(Ref<Buffer> buffer, ElementType type, std::span<const uint64_t> shape, uint64_t elements)
    : bytes(std::move(buffer)), elements(elements), type(type), dimensionCount(uint32_t(shape.size())) {
  std::copy(shape.begin(), shape.end(), dimensions.begin());
}

std::string BufferView::typeText() const {
  return shapeText(type, shape());
}

} // namespace kiln::hal
