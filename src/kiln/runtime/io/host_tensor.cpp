#include "kiln/runtime/io/host_tensor.h"

#include <cassert>

#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::io {

std::string TensorSpan::typeText() const {
  return hal::shapeText(type, shape);
}

uint64_t TensorSpan::elementCount() const {
  // The shape of a tensor that exists is one that can be counted.
  return hal::isPacked(type) ? *hal::shapeElementCount(shape) : bytes.size() / hal::elementTypeByteSize(type);
}

Result<HostTensor> HostTensor::zeros(ElementType type, std::vector<uint64_t> shape) {
  KILN_ASSIGN_OR_RETURN(uint64_t size, hal::shapeByteLength(type, shape));
  HostTensor tensor;
  // Not aligned_alloc: it does not know that fresh pages are zero, and clearing them would make them real.
  if (size <= UINT64_MAX - kAlignment)
    tensor.storage.reset(static_cast<uint8_t *>(std::calloc(size + kAlignment, 1)));
  if (!tensor.storage)
    return resourceExhausted("a tensor {} takes {} bytes, more than this machine has free", hal::shapeText(type, shape),
                             size);
  tensor.elementType = type;
  tensor.dimensions = std::move(shape);
  tensor.byteCount = size;
  return tensor;
}

void HostTensor::touchPages() {
  constexpr uint64_t pageBytes = 4096;
  volatile uint8_t *bytes = aligned();
  for (uint64_t i = 0; i < byteCount; i += pageBytes)
    bytes[i] = bytes[i];
  if (byteCount)
    bytes[byteCount - 1] = bytes[byteCount - 1];
}

void HostTensor::reinterpret(ElementType type) {
  assert(hal::elementTypeBits(type) == hal::elementTypeBits(elementType));
  elementType = type;
}

} // namespace kiln::io
