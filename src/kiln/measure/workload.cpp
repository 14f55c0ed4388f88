#include "kiln/measure/workload.h"

#include <algorithm>

namespace kiln::measure {

static uint64_t byteSize(const TensorType &tensor) {
  uint64_t bytes = hal::elementTypeByteSize(tensor.type);
  for (uint64_t extent : tensor.shape)
    bytes *= extent;
  return bytes;
}

double Problem::bytes() const {
  double total = 0;
  for (const TensorType &tensor : inputs())
    total += static_cast<double>(byteSize(tensor));
  for (const TensorType &tensor : outputs())
    total += static_cast<double>(byteSize(tensor));
  return total;
}

void Problem::prefillOutputs(size_t, MutableTensors outputs) const {
  for (const MutableTensor &output : outputs)
    std::ranges::fill(output.bytes, uint8_t(0xFF));
}

Result<verify::DeviceCase> Problem::deviceCase(size_t, uint64_t) const {
  return unimplemented("devices have no check of the family {}", family());
}

std::unique_ptr<verify::TimedCheck> Problem::timedCheck(Tensors, uint64_t) const {
  return nullptr;
}

Status Problem::reference(Tensors, MutableTensors) const {
  return unimplemented("there is no reference for the family {}", family());
}

} // namespace kiln::measure
