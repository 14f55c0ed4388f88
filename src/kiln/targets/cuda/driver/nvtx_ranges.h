// Named ranges of time for profilers such as Nsight Systems, by NVIDIA's NVTX, which is loaded at run time.
#ifndef KILN_TARGETS_CUDA_DRIVER_NVTX_RANGES_H
#define KILN_TARGETS_CUDA_DRIVER_NVTX_RANGES_H

#include <string>

namespace kiln::hal {

// By that name the system's loader finds NVIDIA's, where CUDA's toolkit installed it.
inline constexpr const char *kNvtxName = "libnvToolsExt.so.1";

// NVTX's functions, or nothing where there is no such library. The library knows by itself whether a profiler runs. May
// be used on any thread.
struct NvtxRanges {
  int (*push)(const char *name) = nullptr;
  int (*pop)() = nullptr;

  // The library stays loaded. One that lacks a function is as good as none.
  static NvtxRanges load(const char *library);
  explicit operator bool() const { return push; }
};

// A range of this thread that lasts as long as the object.
class NvtxRange {
public:
  NvtxRange(const NvtxRanges &ranges, const std::string &name) : pop(ranges.pop) {
    if (ranges)
      ranges.push(name.c_str());
  }
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;
  ~NvtxRange() {
    if (pop)
      pop();
  }

private:
  int (*const pop)();
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CUDA_DRIVER_NVTX_RANGES_H
