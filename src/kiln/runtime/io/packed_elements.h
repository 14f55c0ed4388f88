// Elements of less than a byte, between their packed form in tensors and a byte for each.
#ifndef KILN_RUNTIME_IO_PACKED_ELEMENTS_H
#define KILN_RUNTIME_IO_PACKED_ELEMENTS_H

#include <cstdint>
#include <span>

#include "kiln/runtime/io/host_tensor.h"

namespace kiln::io {

// The elements of a tensor, each in whole bytes. The tensor must outlive it.
class WholeElements {
public:
  explicit WholeElements(const TensorSpan &tensor);

  // Until the next call.
  const uint8_t *at(uint64_t index);

private:
  std::span<const uint8_t> bytes;
  uint64_t elementBytes;
  unsigned packedBits; // of an element; 0 where the tensor's own bytes serve
  uint8_t unpacked = 0;
};

// Packs elements of a byte each into `packed`, which has exactly the bytes that they take.
void packElements(ElementType type, std::span<const uint8_t> elements, std::span<uint8_t> packed);

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_PACKED_ELEMENTS_H
