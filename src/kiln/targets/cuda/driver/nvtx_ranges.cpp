#include "kiln/targets/cuda/driver/nvtx_ranges.h"

#include <dlfcn.h>

namespace kiln::hal {

NvtxRanges NvtxRanges::load(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return {};
  NvtxRanges ranges;
  ranges.push = reinterpret_cast<decltype(ranges.push)>(dlsym(handle, "nvtxRangePushA"));
  ranges.pop = reinterpret_cast<decltype(ranges.pop)>(dlsym(handle, "nvtxRangePop"));
  return ranges.push && ranges.pop ? ranges : NvtxRanges{};
}

} // namespace kiln::hal
