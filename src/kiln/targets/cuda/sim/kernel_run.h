// For tests: one kernel from its text, in memory of its own.
#ifndef KILN_TARGETS_CUDA_SIM_KERNEL_RUN_H
#define KILN_TARGETS_CUDA_SIM_KERNEL_RUN_H

#include "kiln/targets/cuda/sim/machine.h"

#include <cstring>
#include <string>
#include <vector>

namespace kiln::cudasim {

class KernelRun {
public:
  // The module's head is put before the text where it has none.
  explicit KernelRun(std::string text);

  // Why the module was refused; empty where it was not.
  const std::string &loadError() const { return error; }

  template <typename T> uint64_t allocate(const std::vector<T> &values) {
    const uint64_t address = memory.allocate(values.size() * sizeof(T));
    std::memcpy(memory.find(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <typename T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.find(address, count * sizeof(T)), count * sizeof(T));
    return values;
  }

  // Runs the module's only kernel, with parameters of 64 bits; gives the fault's text, empty where there was none.
  std::string run(std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, const std::vector<uint64_t> &params,
                  uint64_t seed = 0);
  FaultCode faultCode() const { return launch.fault.code; }
  uint64_t instructions() const { return launch.instructions; }

  Memory memory{uint64_t(1) << 30};
  uint32_t dynamicSharedBytes = 0;
  LaunchOptions options;

private:
  std::string error;
  std::unique_ptr<LoadedModule> module;
  Launch launch;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_KERNEL_RUN_H
