// Named ranges of time for profilers such as Nsight Systems, by NVIDIA's NVTX 3. A profiler names a library of its own
// in NVTX_INJECTION64_PATH of the programs that it starts; nothing of CUDA's toolkit is needed.
#ifndef KILN_TARGETS_CUDA_DRIVER_NVTX_RANGES_H
#define KILN_TARGETS_CUDA_DRIVER_NVTX_RANGES_H

#include <string>

namespace kiln::hal {

// The functions of a profiler, or nothing where there is none. May be used on any thread.
struct NvtxRanges {
  int (*push)(const char *name) = nullptr;
  int (*pop)() = nullptr;

  // Loads the profiler's library when it is called first; it stays loaded. One that wants to hear of no ranges is as
  // good as none.
  static const NvtxRanges &ofProfiler();
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
