// What a device can hold and take.
#ifndef KILN_RUNTIME_HAL_DEVICE_LIMITS_H
#define KILN_RUNTIME_HAL_DEVICE_LIMITS_H

#include "kiln/schema/executable_abi.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kiln::hal {

// As they are written here, those of a device that runs on the host.
struct DeviceLimits {
  // Every buffer starts at a multiple of the one, and every binding, in its allocation, at a multiple of the other.
  // Both are multiples of KILN_BINDING_ALIGNMENT, which kernels rely on.
  uint64_t bufferAlignment = KILN_BINDING_ALIGNMENT, bindingAlignment = KILN_BINDING_ALIGNMENT;
  uint64_t mostBufferBytes = INT64_MAX;
  // Workgroups of a dispatch in x, y and z, and in all.
  std::array<uint64_t, 3> mostWorkgroups = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  uint64_t mostWorkgroupsInAll = (uint64_t(1) << 48) - 1;
  // Of a workgroup: threads, those of them that run in step, and bytes of memory that they share.
  uint32_t mostThreads = 1, subgroupThreads = 1, mostSharedBytes = UINT32_MAX;

  // For people, in order: what it is, and how much.
  std::vector<std::pair<std::string, std::string>> describe() const;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_LIMITS_H
