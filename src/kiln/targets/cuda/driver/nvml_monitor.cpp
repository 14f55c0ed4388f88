#include "kiln/targets/cuda/driver/nvml_monitor.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
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

// As NVML has them in memory.
struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpuInstance, computeInstance;
};
struct Utilization {
  unsigned gpu, memory; // percent of the last moments
};

// What older libraries lack. Structures go as memory, so that the types of these functions are the same everywhere.
struct FurtherFunctions {
  int (*nvmlSystemGetDriverVersion)(char *text, unsigned size) = nullptr;
  int (*nvmlDeviceGetMaxClockInfo)(NvmlDevice device, int which, unsigned *megahertz) = nullptr;
  int (*nvmlDeviceGetEnforcedPowerLimit)(NvmlDevice device, unsigned *milliwatts) = nullptr;
  int (*nvmlDeviceGetPowerManagementDefaultLimit)(NvmlDevice device, unsigned *milliwatts) = nullptr;
  int (*nvmlDeviceGetPersistenceMode)(NvmlDevice device, int *mode) = nullptr;
  int (*nvmlDeviceGetEccMode)(NvmlDevice device, int *current, int *pending) = nullptr;
  int (*nvmlDeviceGetTotalEccErrors)(NvmlDevice device, int kind, int since, unsigned long long *count) = nullptr;
  int (*nvmlDeviceGetMigMode)(NvmlDevice device, unsigned *current, unsigned *pending) = nullptr;
  int (*nvmlDeviceGetUtilizationRates)(NvmlDevice device, void *rates) = nullptr;
  int (*nvmlDeviceGetComputeRunningProcesses_v3)(NvmlDevice device, unsigned *count, void *list) = nullptr;
};
constexpr int kUncorrected = 1, kSinceStart = 0;
constexpr int kInsufficientSize = 7;

// An idle GPU, and a clock that somebody has set, hold nothing down.
struct Reason {
  unsigned long long bits;
  const char *name;
};
constexpr Reason kReasons[] = {{0x4, "power limit"}, {0x20 | 0x40, "heat"}, {0x80, "power brake"},
                               {0x8, "hardware"},    {0x10, "sync boost"},  {0x100, "display"}};

class NvmlMonitor final : public DeviceMonitor {
public:
  NvmlMonitor(const NvmlFunctions &nvml, const FurtherFunctions &further, NvmlDevice device)
      : nvml(nvml), further(further), device(device) {}

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

  std::vector<DeviceCondition> conditions() override {
    std::vector<DeviceCondition> all;
    for (auto condition :
         {&NvmlMonitor::driver, &NvmlMonitor::clocks, &NvmlMonitor::power, &NvmlMonitor::throttling,
          &NvmlMonitor::persistence, &NvmlMonitor::ecc, &NvmlMonitor::parts, &NvmlMonitor::load, &NvmlMonitor::others})
      all.push_back((this->*condition)());
    return all;
  }

private:
  using Effect = DeviceCondition::Effect;

  // Empty where the function tells; else why it does not.
  template <typename Function, typename... Arguments> std::string ask(Function *function, Arguments... arguments) {
    if (!function)
      return "this version of NVML does not tell";
    const int result = function(arguments...);
    return result == kSuccess ? "" : fmt::format("NVML: {}", nvml.nvmlErrorString(result));
  }

  DeviceCondition driver() {
    char text[96] = {};
    std::string reason = ask(further.nvmlSystemGetDriverVersion, text, unsigned(sizeof(text)));
    if (!reason.empty())
      return {"driver", Effect::Unknown, reason, ""};
    return {"driver", Effect::None, text, ""};
  }

  DeviceCondition clocks() {
    unsigned now = 0, most = 0;
    std::string reason = ask(nvml.nvmlDeviceGetClockInfo, device, kClockOfMultiprocessors, &now);
    if (!reason.empty())
      return {"clocks", Effect::Unknown, reason, ""};
    if (!ask(further.nvmlDeviceGetMaxClockInfo, device, kClockOfMultiprocessors, &most).empty())
      return {"clocks", Effect::None, fmt::format("{} MHz", now), ""};
    return {"clocks", Effect::None, fmt::format("{} MHz, of {} at most", now, most), ""};
  }

  DeviceCondition power() {
    unsigned now = 0, limit = 0, usual = 0;
    std::string reason = ask(nvml.nvmlDeviceGetPowerUsage, device, &now);
    if (!reason.empty())
      return {"power", Effect::Unknown, reason, ""};
    std::string text = fmt::format("{:.0f} W", now / 1000.0);
    if (!ask(further.nvmlDeviceGetEnforcedPowerLimit, device, &limit).empty())
      return {"power", Effect::None, text, ""};
    text += fmt::format(", limited to {:.0f}", limit / 1000.0);
    if (!ask(further.nvmlDeviceGetPowerManagementDefaultLimit, device, &usual).empty() || limit >= usual)
      return {"power", Effect::None, text, ""};
    return {"power", Effect::Disturbs, text + fmt::format(" and not to its usual {:.0f}", usual / 1000.0),
            "what needs power is slower than on others of its kind; `nvidia-smi -pl` as root sets the limit"};
  }

  DeviceCondition throttling() {
    unsigned long long reasons = 0;
    std::string reason = ask(nvml.nvmlDeviceGetCurrentClocksThrottleReasons, device, &reasons);
    if (!reason.empty())
      return {"throttling", Effect::Unknown, reason, ""};
    std::string text;
    for (const Reason &each : kReasons)
      if (reasons & each.bits)
        text = DeviceState::joined(text, each.name);
    if (text.empty())
      return {"throttling", Effect::None, "nothing holds its clock down", ""};
    return {"throttling", Effect::Disturbs, "its clock is held down: " + text, "wait until it is cooler, or idle"};
  }

  DeviceCondition persistence() {
    int mode = 0;
    std::string reason = ask(further.nvmlDeviceGetPersistenceMode, device, &mode);
    if (!reason.empty())
      return {"persistence", Effect::Unknown, reason, ""};
    if (mode)
      return {"persistence", Effect::None, "on", ""};
    // Only starting takes longer, which nothing that is measured counts.
    return {"persistence", Effect::None, "off: the first program after a pause starts slowly",
            "`nvidia-smi -pm 1` as root keeps the driver loaded"};
  }

  DeviceCondition ecc() {
    int now = 0, next = 0;
    std::string reason = ask(further.nvmlDeviceGetEccMode, device, &now, &next);
    if (!reason.empty())
      return {"ecc", Effect::Unknown, reason, ""};
    unsigned long long errors = 0;
    if (now && ask(further.nvmlDeviceGetTotalEccErrors, device, kUncorrected, kSinceStart, &errors).empty() && errors)
      return {"ecc", Effect::Disturbs, fmt::format("on, with {} errors that it could not correct", errors),
              "results may be wrong; reset or replace the GPU"};
    return {"ecc", Effect::None, now ? "on" : "off", ""};
  }

  DeviceCondition parts() {
    unsigned now = 0, next = 0;
    std::string reason = ask(further.nvmlDeviceGetMigMode, device, &now, &next);
    if (!reason.empty())
      return {"mig", Effect::Unknown, reason, ""};
    if (!now)
      return {"mig", Effect::None, "off", ""};
    return {"mig", Effect::Disturbs,
            "on: this is a part of a GPU, whose other parts share its power and memory's clock",
            "compare with what was measured on such a part only"};
  }

  DeviceCondition load() {
    Utilization rates{};
    std::string reason = ask(further.nvmlDeviceGetUtilizationRates, device, &rates);
    if (!reason.empty())
      return {"load", Effect::Unknown, reason, ""};
    constexpr unsigned kTolerable = 5;
    std::string text = fmt::format("kernels ran {} % of the last moments", rates.gpu);
    if (rates.gpu <= kTolerable)
      return {"load", Effect::None, text, ""};
    return {"load", Effect::Disturbs, text, "somebody else computes on it: wait"};
  }

  DeviceCondition others() {
    std::vector<ProcessInfo> list(64);
    unsigned count = 0;
    auto fill = [&] {
      count = unsigned(list.size());
      return further.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, list.data());
    };
    if (!further.nvmlDeviceGetComputeRunningProcesses_v3)
      return {"processes", Effect::Unknown, "this version of NVML does not tell", ""};
    int result = fill();
    if (result == kInsufficientSize) {
      list.resize(count + 16);
      result = fill();
    }
    if (result != kSuccess)
      return {"processes", Effect::Unknown, fmt::format("NVML: {}", nvml.nvmlErrorString(result)), ""};
    list.resize(std::min(size_t(count), list.size()));
    std::erase_if(list, [](const ProcessInfo &each) { return each.pid == unsigned(::getpid()); });
    if (list.empty())
      return {"processes", Effect::None, "no other has it open", ""};
    std::string text = fmt::format("{} other{}: ", list.size(), list.size() == 1 ? " has it open" : "s have it open");
    constexpr size_t kShown = 5;
    for (size_t i = 0; i < list.size() && i < kShown; ++i) {
      constexpr unsigned long long kUntold = ~0ULL;
      text += fmt::format("{}{}{}", i ? ", " : "", nameOf(list[i].pid),
                          list[i].bytes == kUntold ? "" : fmt::format(" {} MiB", list[i].bytes >> 20));
    }
    return {"processes", Effect::Disturbs, text + (list.size() > kShown ? ", ..." : ""), "wait for them, or stop them"};
  }

  // "python3 (1234)"; without a name where the process is of another container.
  static std::string nameOf(unsigned pid) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    if (!std::getline(file, name))
      return fmt::format("process {}", pid);
    // A process chooses its name.
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return fmt::format("{} ({})", name, pid);
  }

  const NvmlFunctions nvml;
  const FurtherFunctions further;
  const NvmlDevice device;
};

template <typename Function> void findIfThere(void *handle, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(handle, name));
}

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
  FurtherFunctions further;
#define KILN_FIND(name) findIfThere(handle, #name, further.name)
  KILN_FIND(nvmlSystemGetDriverVersion);
  KILN_FIND(nvmlDeviceGetMaxClockInfo);
  KILN_FIND(nvmlDeviceGetEnforcedPowerLimit);
  KILN_FIND(nvmlDeviceGetPowerManagementDefaultLimit);
  KILN_FIND(nvmlDeviceGetPersistenceMode);
  KILN_FIND(nvmlDeviceGetEccMode);
  KILN_FIND(nvmlDeviceGetTotalEccErrors);
  KILN_FIND(nvmlDeviceGetMigMode);
  KILN_FIND(nvmlDeviceGetUtilizationRates);
  KILN_FIND(nvmlDeviceGetComputeRunningProcesses_v3);
#undef KILN_FIND
  return std::unique_ptr<DeviceMonitor>(std::make_unique<NvmlMonitor>(nvml, further, device));
}

} // namespace kiln::hal
