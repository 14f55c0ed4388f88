#include "kiln/targets/cuda/driver/nvml_monitor.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

namespace kiln::hal {

namespace {

using NvmlDevice = void *; // opaque

constexpr int kSuccess = 0;
constexpr int kClockOfMultiprocessors = 1, kTemperatureOfGpu = 0;

struct NvmlFunctions {
  int (*nvmlInit_v2)() = nullptr;
  int (*nvmlDeviceGetHandleByPciBusId_v2)(const char *place, NvmlDevice *device) = nullptr;
  int (*nvmlDeviceGetClockInfo)(NvmlDevice device, int which, unsigned *megahertz) = nullptr;
  int (*nvmlDeviceGetPowerUsage)(NvmlDevice device, unsigned *milliwatts) = nullptr;
  int (*nvmlDeviceGetTemperature)(NvmlDevice device, int which, unsigned *celsius) = nullptr;
  // Its newer name is nvmlDeviceGetCurrentClocksEventReasons; libraries have both.
  int (*nvmlDeviceGetCurrentClocksThrottleReasons)(NvmlDevice device, unsigned long long *reasons) = nullptr;
  const char *(*nvmlErrorString)(int error) = nullptr;
};

// An idle GPU, and a clock that somebody has set, hold nothing down.
struct Reason {
  unsigned long long bits;
  const char *name;
};
constexpr Reason kReasons[] = {{0x4, "power limit"}, {0x20 | 0x40, "heat"}, {0x80, "power brake"},
                               {0x8, "hardware"},    {0x10, "sync boost"},  {0x100, "display"}};

class NvmlMonitor final : public DeviceMonitor {
public:
  NvmlMonitor(const NvmlFunctions &nvml, NvmlDevice device) : nvml(nvml), device(device) {}

  // What the GPU does not tell is absent.
  Result<DeviceState> read() override {
    DeviceState state;
    unsigned value = 0;
    if (nvml.nvmlDeviceGetClockInfo(device, kClockOfMultiprocessors, &value) == kSuccess)
      state.lowMegahertz = state.highMegahertz = value;
    if (nvml.nvmlDeviceGetPowerUsage(device, &value) == kSuccess)
      state.watts = value / 1000.0;
    if (nvml.nvmlDeviceGetTemperature(device, kTemperatureOfGpu, &value) == kSuccess)
      state.celsius = value;
    unsigned long long reasons = 0;
    if (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == kSuccess)
      for (const Reason &reason : kReasons)
        if (reasons & reason.bits)
          state.throttling = DeviceState::joined(state.throttling, reason.name);
    if (!state.any())
      return unavailable("NVML tells nothing of this GPU");
    return state;
  }

private:
  const NvmlFunctions nvml;
  const NvmlDevice device;
};

template <typename Function> Status find(void *handle, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(handle, name));
  return function ? okStatus() : unavailable("NVIDIA's library of clocks and power has no function {}", name);
}

} // namespace

Result<std::unique_ptr<DeviceMonitor>> openNvml(const std::string &library, const std::string &place) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL); // stays open
  if (!handle) {
    const char *reason = dlerror();
    return unavailable("NVIDIA's library of clocks and power cannot be loaded: {}", reason ? reason : library);
  }
  NvmlFunctions nvml;
#define KILN_FIND(name) KILN_RETURN_IF_ERROR(find(handle, #name, nvml.name))
  KILN_FIND(nvmlInit_v2);
  KILN_FIND(nvmlDeviceGetHandleByPciBusId_v2);
  KILN_FIND(nvmlDeviceGetClockInfo);
  KILN_FIND(nvmlDeviceGetPowerUsage);
  KILN_FIND(nvmlDeviceGetTemperature);
  KILN_FIND(nvmlDeviceGetCurrentClocksThrottleReasons);
  KILN_FIND(nvmlErrorString);
#undef KILN_FIND
  auto check = [&](int result, const std::string &what) {
    return result == kSuccess ? okStatus() : unavailable("NVML cannot {}: {}", what, nvml.nvmlErrorString(result));
  };
  KILN_RETURN_IF_ERROR(check(nvml.nvmlInit_v2(), "be initialized"));
  NvmlDevice device = nullptr;
  KILN_RETURN_IF_ERROR(
      check(nvml.nvmlDeviceGetHandleByPciBusId_v2(place.c_str(), &device), fmt::format("find the GPU at {}", place)));
  return std::unique_ptr<DeviceMonitor>(std::make_unique<NvmlMonitor>(nvml, device));
}

} // namespace kiln::hal
