#include "kiln/targets/cuda/codegen/NativeArchitecture.h"

#include <dlfcn.h>

#include "kiln/base/exhaustion.h"

using namespace llvm;

namespace kiln {

std::string chooseArchitecture(ArrayRef<StringRef> known, int major, int minor) {
  int device = major * 10 + minor, newest = 0;
  std::string exact = "sm_" + std::to_string(device) + "a";
  if (is_contained(known, exact))
    return exact;
  std::string chosen;
  for (StringRef architecture : known) {
    int number = 0;
    if (architecture.drop_front(3).getAsInteger(10, number) || number > device || number <= newest)
      continue;
    newest = number;
    chosen = architecture.str();
  }
  return chosen;
}

// The library stays loaded: closing NVIDIA's driver while its threads end is not safe.
Expected<std::string> findNativeArchitecture(ArrayRef<StringRef> known) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    if (const char *advice = exhaustionAdvice(std::string_view(reason ? reason : "")); *advice)
      return createStringError("NVIDIA's driver library cannot be loaded: %s%s", reason, advice);
    return createStringError("this machine has no NVIDIA driver (libcuda.so.1 cannot be loaded)");
  }
  auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  auto getDevice = reinterpret_cast<int (*)(int *, int)>(dlsym(library, "cuDeviceGet"));
  auto getAttribute = reinterpret_cast<int (*)(int *, int, int)>(dlsym(library, "cuDeviceGetAttribute"));
  if (!initialize || !getDevice || !getAttribute)
    return createStringError("libcuda.so.1 is not NVIDIA's driver");
  constexpr int majorAttribute = 75, minorAttribute = 76; // of a device's compute capability
  int device = 0, major = 0, minor = 0;
  if (initialize(0) || getDevice(&device, 0) || getAttribute(&major, majorAttribute, device) ||
      getAttribute(&minor, minorAttribute, device))
    return createStringError("NVIDIA's driver finds no GPU");
  std::string chosen = chooseArchitecture(known, major, minor);
  if (chosen.empty())
    return createStringError("this machine's GPU is of sm_%d, which is older than all that this compiler knows",
                             major * 10 + minor);
  return chosen;
}

} // namespace kiln
