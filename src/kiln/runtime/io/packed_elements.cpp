#include "kiln/runtime/io/packed_elements.h"

#include <algorithm>

namespace kiln::io {

WholeElements::WholeElements(const TensorSpan &tensor)
    : bytes(tensor.bytes), elementBytes(hal::elementTypeByteSize(tensor.type)) {
  if (!hal::isPacked(tensor.type))
    return;
  unsigned bits = hal::elementTypeBits(tensor.type), perByte = 8 / bits;
  unpacked.resize(tensor.elementCount());
  for (uint64_t i = 0; i < unpacked.size(); ++i)
    unpacked[i] = tensor.bytes[i / perByte] >> (i % perByte * bits) & ((1u << bits) - 1);
  bytes = unpacked;
}

void packElements(ElementType type, std::span<const uint8_t> elements, std::span<uint8_t> packed) {
  unsigned bits = hal::elementTypeBits(type), perByte = 8 / bits;
  std::ranges::fill(packed, uint8_t(0));
  for (uint64_t i = 0; i < elements.size(); ++i)
    packed[i / perByte] |= uint8_t((elements[i] & ((1u << bits) - 1)) << (i % perByte * bits));
}

} // namespace kiln::io
