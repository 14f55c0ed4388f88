// Kernels of the lab's own on a device: what clang made of C++ when Kiln was built, loaded and launched.
#ifndef KILN_MEASURE_KERNELS_DEVICE_CODE_H
#define KILN_MEASURE_KERNELS_DEVICE_CODE_H

#include <cstdint>
#include <span>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/device.h"

namespace kiln::measure {

// As kiln_device_code of CMakeLists.txt makes it.
struct DeviceCode {
  std::string_view ptx;          // empty where there was no clang
  std::string_view architecture; // the oldest that runs it; "sm_90a" the only one
};

// Exports are numbered as the kernels are, none of which has constants; all have blocks of `threads`. `purpose` is for
// names and messages: "verification". Unimplemented where the device does not run this code, or there is none.
Result<Ref<hal::Executable>> loadDeviceCode(hal::Device &device, std::string_view purpose, const DeviceCode &code,
                                            std::span<const hal::ExpectedExport> kernels, uint32_t threads);

// A launch of so many blocks on whole buffers.
Result<hal::Submission> makeLaunch(hal::Device &device, hal::Executable &executable, uint32_t kernel, uint64_t blocks,
                                   std::span<hal::Buffer *const> buffers, hal::CommandBufferMode mode);
// Waits for its end.
Status runLaunch(hal::Device &device, const hal::Submission &launch);

} // namespace kiln::measure

#endif // KILN_MEASURE_KERNELS_DEVICE_CODE_H
