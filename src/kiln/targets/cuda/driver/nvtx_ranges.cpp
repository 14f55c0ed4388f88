#include "kiln/targets/cuda/driver/nvtx_ranges.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace kiln::hal {

namespace {

// What NVTX 3 declares between a program and the library that a profiler puts beside it. The library asks for a table
// of what there is to set, and sets what it wants to be called.
using Function = void (*)();
enum Module : int { kCore = 1, kModules = 7 };
enum CoreFunction { kRangePush = 9, kRangePop = 11 };
enum Table : uint32_t { kCallbacks = 1, kVersion = 3 };
constexpr uint32_t kNvtxVersion = 3;
// How many functions each module has, from the one with number 1 on.
constexpr std::array<unsigned, kModules> kSizes = {0, 16, 9, 15, 7, 16, 7};
constexpr unsigned kMostFunctions = 16;

std::array<std::array<Function, kMostFunctions>, kModules> functions;

int functionsOf(int module, Function ***table, unsigned *size) {
  static const auto places = [] {
    std::array<std::array<Function *, kMostFunctions>, kModules> all = {};
    for (int module = kCore; module < kModules; ++module)
      for (unsigned i = 1; i < kSizes[module]; ++i) // no function has number 0
        all[module][i] = &functions[module][i];
    return all;
  }();
  if (module < kCore || module >= kModules)
    return 0;
  if (table)
    *table = const_cast<Function **>(places[module].data());
  if (size)
    *size = kSizes[module];
  return 1;
}

struct CallbackTable {
  size_t size;
  int (*functionsOf)(int module, Function ***table, unsigned *size);
};
struct VersionTable {
  size_t size;
  uint32_t version, reserved;
  void (*setProfilersVersion)(uint32_t version);
};

const void *tableOf(uint32_t table) {
  static const CallbackTable callbacks = {sizeof(CallbackTable), functionsOf};
  static const VersionTable version = {sizeof(VersionTable), kNvtxVersion, 0, [](uint32_t) {}};
  return table == kCallbacks ? static_cast<const void *>(&callbacks) : table == kVersion ? &version : nullptr;
}

NvtxRanges attach() {
  const char *library = std::getenv("NVTX_INJECTION64_PATH");
  void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : nullptr;
  if (!handle)
    return {};
  using Initialize = int (*)(const void *(*tables)(uint32_t));
  auto initialize = reinterpret_cast<Initialize>(dlsym(handle, "InitializeInjectionNvtx2"));
  if (!initialize || initialize(tableOf) == 0)
    return {};
  NvtxRanges ranges;
  ranges.push = reinterpret_cast<decltype(ranges.push)>(functions[kCore][kRangePush]);
  ranges.pop = reinterpret_cast<decltype(ranges.pop)>(functions[kCore][kRangePop]);
  return ranges.push && ranges.pop ? ranges : NvtxRanges{};
}

} // namespace

const NvtxRanges &NvtxRanges::ofProfiler() {
  static const NvtxRanges ranges = attach();
  return ranges;
}

} // namespace kiln::hal
