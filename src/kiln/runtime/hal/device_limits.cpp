#include "kiln/runtime/hal/device_limits.h"

#include "kiln/base/status.h"

namespace kiln::hal {

std::vector<std::pair<std::string, std::string>> DeviceLimits::describe() const {
  const auto &[x, y, z] = mostWorkgroups;
  return {{"alignment of buffers", std::to_string(bufferAlignment)},
          {"alignment of bindings", std::to_string(bindingAlignment)},
          {"bytes of a buffer at most", std::to_string(mostBufferBytes)},
          {"workgroups at most", fmt::format("{} x {} x {}, {} in all", x, y, z, mostWorkgroupsInAll)},
          {"threads of a workgroup at most", std::to_string(mostThreads)},
          {"threads of a subgroup", std::to_string(subgroupThreads)},
          {"shared bytes of a workgroup at most", std::to_string(mostSharedBytes)}};
}

} // namespace kiln::hal
