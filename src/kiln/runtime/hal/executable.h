// Native code that a device has loaded.
#ifndef KILN_RUNTIME_HAL_EXECUTABLE_H
#define KILN_RUNTIME_HAL_EXECUTABLE_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kiln::hal {

// What the module says of one export; see ExecutableSource.
struct ExpectedExport {
  std::string_view name;
  uint32_t bindingCount = 0;
  uint32_t constantCount = 0;
  std::span<const MemoryAccess> access = {}; // of each binding; empty where the module does not say
};

// One variant of an executable, as it stands in a module. Everything is borrowed for the call only.
struct ExecutableSource {
  std::string_view name;   // shown by debuggers and profilers
  std::string_view format; // "elf-x86_64"
  std::span<const std::byte> bytes;
  std::string_view cpu;         // the CPU it was compiled for, for messages
  std::string_view cpuFeatures; // "+avx512f,+fma": what it needs
  // What the host program assumes; loading fails where the native code says otherwise. Empty: no check.
  std::span<const ExpectedExport> exports;

  // Of the bindings of an export; empty where nothing is known.
  std::vector<MemoryAccess> accessOf(size_t ordinal) const {
    const auto known = exports.empty() ? std::span<const MemoryAccess>() : exports[ordinal].access;
    return {known.begin(), known.end()};
  }
};

struct ExecutableExport {
  std::string_view name; // descriptive: "forward_dispatch_3_matmul_256x65536x2304_f16"; lives as long as the executable
  uint32_t bindingCount = 0;
  uint32_t constantCount = 0;
  uint32_t localMemoryBytes = 0;
  // Of each binding, and empty where it is not known: what is only read may be memory that is read-only.
  std::vector<MemoryAccess> access = {};
};

// Immutable. Command buffers keep the executables that they use alive.
class Executable : public RefCounted {
public:
  std::span<const ExecutableExport> exports() const { return exportTable; }

protected:
  Executable() = default;
  ~Executable() override = default;
  std::span<const ExecutableExport> exportTable; // of memory that the subclass owns
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_EXECUTABLE_H
