// Kernels in PTX of libraries that take the place of others in tests: how they load and store numbers, and how they are
// compiled and launched.
#ifndef KILN_MEASURE_PROVIDERS_TESTING_FAKE_KERNELS_H
#define KILN_MEASURE_PROVIDERS_TESTING_FAKE_KERNELS_H

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/runtime/io/host_tensor.h"
#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::measure::testing {

// How a kernel reads and writes elements. Those of 16 bits go through the registers %h and %zero, of 16 bits.
struct ElementText {
  int bytes;
  const char *accumulator; // of products of this type: "f32"

  // From the address in a register to a register of the accumulator's type, and back.
  std::string load(std::string_view into, std::string_view address) const;
  std::string store(std::string_view from, std::string_view address) const;

  const char *loadFormat, *storeFormat;
};
const ElementText &elementText(io::ElementType type);

// Rounds two registers of f32 to tf32, by way of %w, of 32 bits.
std::string narrowToTF32(std::string_view x, std::string_view y);
// The head of the kernel `name`, whose parameters are all of 64 bits; each is then in a register of its name, and %i is
// the number of the thread in the grid's first dimension, of blocks of 32. Declares %p, %h, %zero, %w and %t.
std::string kernelHead(std::string_view name, std::span<const char *const> parameters);

// Compiled once for each text, by the driver of the provider that is there.
class FakeKernels {
public:
  void use(const hal::CudaLibrary &cuda);
  // False where the kernel does not compile or cannot be launched. The grid is of blocks of 32 threads.
  bool launch(const std::string &text, const char *name, std::array<unsigned, 3> grid, std::span<uint64_t> parameters,
              hal::CUstream stream);
  void unload();

private:
  const hal::CudaLibrary *driver = nullptr;
  std::map<std::string, hal::CUfunction> kernels;
  std::vector<hal::CUmodule> modules;
};

} // namespace kiln::measure::testing

#endif // KILN_MEASURE_PROVIDERS_TESTING_FAKE_KERNELS_H
