#include "kiln/runtime/io/packed_elements.h"

#include <algorithm>

namespace kiln::io {

WholeElements::WholeElements(const TensorSpan &tensor)
    : bytes(tensor.bytes), elementBytes(hal::elementTypeByteSize(tensor.type)),
      packedBits(hal::isPacked(tensor.type) ? hal::elementTypeBits(tensor.type) : 0) {}

const uint8_t *WholeElements::at(uint64_t index) {
  if (packedBits == 0)
    return bytes.data() + index * elementBytes;
  unsigned perByte = 8 / packedBits;
  unpacked = bytes[index / perByte] >> (index % perByte * packedBits) & ((1u << packedBits) - 1);
  return &unpacked;
}

void packElements(ElementType type, std::span<const uint8_t> elements, std::span<uint8_t> packed) {
  unsigned bits = hal::elementTypeBits(type), perByte = 8 / bits;
  std::ranges::fill(packed, uint8_t(0));
  for (uint64_t i = 0; i < elements.size(); ++i)
    packed[i / perByte] |= uint8_t((elements[i] & ((1u << bits) - 1)) << (i % perByte * bits));
}

} // namespace kiln::io
