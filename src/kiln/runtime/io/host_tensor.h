// Tensors in host memory: what inputs are parsed into, and what is printed, written and compared. No device is
// involved.
#ifndef KILN_RUNTIME_IO_HOST_TENSOR_H
#define KILN_RUNTIME_IO_HOST_TENSOR_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/element_type.h"

namespace kiln::io {

using hal::ElementType;

// A dense, row-major tensor that somebody else owns. `bytes` holds exactly the tensor's bytes.
struct TensorSpan {
  ElementType type;
  std::span<const uint64_t> shape;
  std::span<const uint8_t> bytes;

  uint64_t elementCount() const;
  // "2x3xf32"
  std::string typeText() const;
};

// A dense, row-major tensor that owns its bytes; they start at a multiple of kAlignment, so that devices which share
// the host's memory use them in place.
class HostTensor {
public:
  static constexpr uint64_t kAlignment = 64;

  // All elements are zero, and pages that nobody writes cost no memory. Fails with OutOfRange where the bytes cannot be
  // counted, and with ResourceExhausted where the machine has no room for them.
  static Result<HostTensor> zeros(ElementType type, std::vector<uint64_t> shape);

  ElementType type() const { return elementType; }
  std::span<const uint64_t> shape() const { return dimensions; }
  uint64_t elementCount() const { return span().elementCount(); }
  std::span<uint8_t> bytes() { return {aligned(), byteCount}; }
  std::span<const uint8_t> bytes() const { return {aligned(), byteCount}; }
  TensorSpan span() const { return {elementType, dimensions, bytes()}; }
  std::string typeText() const { return span().typeText(); }

  // Gives every page memory of its own. Pages of zeros that nobody wrote are all one page to the kernel: whoever times
  // reading them would time the first-level cache.
  void touchPages();

  // The same bits as elements of another type of the same width.
  void reinterpret(ElementType type);

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  HostTensor() = default;
  uint8_t *aligned() const {
    uintptr_t address = reinterpret_cast<uintptr_t>(storage.get());
    return storage.get() + (-address & (kAlignment - 1));
  }

  ElementType elementType = ElementType::F32;
  std::vector<uint64_t> dimensions;
  std::unique_ptr<uint8_t[], Free> storage;
  uint64_t byteCount = 0;
};

} // namespace kiln::io

#endif // KILN_RUNTIME_IO_HOST_TENSOR_H
