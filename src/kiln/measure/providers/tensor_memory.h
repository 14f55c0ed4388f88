// The tensors of a `load` request, mapped.
#ifndef KILN_MEASURE_PROVIDERS_TENSOR_MEMORY_H
#define KILN_MEASURE_PROVIDERS_TENSOR_MEMORY_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

class TensorMemory {
public:
  TensorMemory() = default;
  // Maps inputs for reading and outputs for writing, all their pages now and not while they are timed. Fails where a
  // file is missing or too short, or where tensors do not start at multiples of 64 bytes.
  static Result<TensorMemory> map(const LoadRequest &request);
  TensorMemory(TensorMemory &&other) noexcept = default;
  TensorMemory &operator=(TensorMemory &&other) noexcept = default;

  uint32_t sets() const { return setCount; }
  const std::vector<SharedTensor> &inputs() const { return inputTensors; }
  const std::vector<SharedTensor> &outputs() const { return outputTensors; }
  // The addresses are valid as long as this object.
  const uint8_t *input(size_t tensor, uint32_t set) const {
    return address(inputTensors[tensor], inputBases[tensor], set);
  }
  uint8_t *output(size_t tensor, uint32_t set) const {
    return address(outputTensors[tensor], outputBases[tensor], set);
  }

private:
  struct Mapping {
    uint8_t *memory = nullptr;
    uint64_t length = 0;
    std::string path;

    Mapping() = default;
    Mapping(Mapping &&other) noexcept;
    Mapping &operator=(Mapping &&other) noexcept;
    ~Mapping();
  };
  static uint8_t *address(const SharedTensor &tensor, uint8_t *base, uint32_t set) {
    return base + tensor.offset + set * tensor.stride;
  }
  Result<uint8_t *> mapFile(const std::string &path, bool writable);
  Result<std::vector<uint8_t *>> mapAll(const std::vector<SharedTensor> &tensors, bool writable);

  uint32_t setCount = 0;
  std::vector<SharedTensor> inputTensors, outputTensors;
  std::vector<uint8_t *> inputBases, outputBases; // where the file of each tensor starts
  std::vector<Mapping> mappings;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_TENSOR_MEMORY_H
