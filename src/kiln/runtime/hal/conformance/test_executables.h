// Executables that the tests and benchmarks of drivers load; made from executables/ by the build.
#ifndef KILN_RUNTIME_HAL_CONFORMANCE_TEST_EXECUTABLES_H
#define KILN_RUNTIME_HAL_CONFORMANCE_TEST_EXECUTABLES_H

#include "kiln/base/file.h"
#include "kiln/runtime/hal/device.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::hal::conformance {

// Export ordinals of "kernels".
enum Kernel : uint32_t {
  ScaleAdd,
  CountIds,
  Rendezvous,
  FailInOne,
  UseLocalMemory,
  DescribeBindings,
  NoteWorker,
  Nothing,
  Busy,
};

// The format in which test executables exist for this machine, "elf-x86_64".
std::string_view testExecutableFormat();

// A folder of the build for DeviceOptions::executableFolder.
std::string testExecutableFolder();

// Whether the device runs executables in that format; else it has "kernels" alone, as code for GPUs.
bool runsTestFormat(const Device &device);

// The bytes of "kernels", "math", ... in that format.
Result<Ref<FileContents>> testExecutableBytes(std::string_view name);

// Loads it into a device.
Result<Ref<Executable>> loadTestExecutable(Device &device, std::string_view name);

} // namespace kiln::hal::conformance

#endif // KILN_RUNTIME_HAL_CONFORMANCE_TEST_EXECUTABLES_H
