// The tensors of a request in the memory of a device that has its own, where sets lie as they do in the files, so that
// neighbouring ones are copied at once.
#ifndef KILN_MEASURE_PROVIDERS_DEVICE_TENSORS_H
#define KILN_MEASURE_PROVIDERS_DEVICE_TENSORS_H

#include <cstdint>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/providers/tensor_memory.h"
#include "kiln/runtime/hal/allocator.h"

namespace kiln::measure {

class DeviceTensors {
public:
  DeviceTensors() = default;
  // Copies all sets there. `tensors` outlives the result.
  static Result<DeviceTensors> create(hal::Allocator &allocator, TensorMemory &tensors);

  // A range of a larger buffer.
  Result<Ref<hal::Buffer>> input(size_t tensor, uint32_t set) const {
    return range(inputs, tensors->inputs()[tensor], set);
  }
  Result<Ref<hal::Buffer>> output(size_t tensor, uint32_t set) const {
    return range(outputs, tensors->outputs()[tensor], set);
  }

  // Inputs, unless the device has them, and outputs as they are, to the device.
  Status upload(SetRange sets, bool outputsOnly);
  // Outputs from there.
  Status fetch(SetRange sets);

private:
  // What a file has, or the part of it that tensors of one request lie in.
  struct Copy {
    std::string path;
    uint8_t *host = nullptr; // where the first tensor of set 0 is
    uint64_t offset = 0;     // of that in the file
    uint64_t bytesOfSet = 0; // from there to the end of the last tensor of a set
    uint64_t stride = 0;
    Ref<hal::Buffer> buffer;
  };
  using Copies = std::vector<Copy>;
  static void add(Copies &copies, const SharedTensor &tensor, uint8_t *host);
  static Result<Ref<hal::Buffer>> range(const Copies &copies, const SharedTensor &tensor, uint32_t set);
  // Calls `copy(offset in the buffer, bytes in host memory)` for each run of sets.
  template <typename Function> Status forEachRun(const Copy &copy, SetRange sets, const Function &function) const;

  TensorMemory *tensors = nullptr;
  Copies inputs, outputs;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_DEVICE_TENSORS_H
