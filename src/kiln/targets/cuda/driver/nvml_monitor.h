// Clocks, power, temperature and what holds clocks down, of an NVIDIA GPU by NVML, which is loaded at run time.
#ifndef KILN_TARGETS_CUDA_DRIVER_NVML_MONITOR_H
#define KILN_TARGETS_CUDA_DRIVER_NVML_MONITOR_H

#include "kiln/runtime/hal/device_monitor.h"

#include <memory>
#include <string>

namespace kiln::hal {

// By that name the system's loader finds NVIDIA's, which comes with the driver.
inline constexpr const char *kNvmlName = "libnvidia-ml.so.1";

// Of the GPU at a place of the PCI bus, "00000000:19:00.0". Unavailable where there is no such library, or it does not
// know the GPU.
Result<std::unique_ptr<DeviceMonitor>> openNvml(const std::string &library, const std::string &place);

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_NVML_MONITOR_H
