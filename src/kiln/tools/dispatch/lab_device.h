// Where kiln-dispatch has candidates run, and what is compiled for it.
#ifndef KILN_TOOLS_DISPATCH_LAB_DEVICE_H
#define KILN_TOOLS_DISPATCH_LAB_DEVICE_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"

namespace kiln {

struct LabDevice {
  std::string uri = {};            // "cuda://0"; empty: the CPU
  std::string target = "llvm-cpu"; // of the compiler

  // The compiler's flag by which code for one GPU has none for others beside it.
  static constexpr std::string_view kNoFallback = "--kiln-cuda-fallback-arch=none";

  bool isCpu() const { return uri.empty(); }
  // What --device says: llvm-cpu, cpu, local-task, or nothing, is the CPU; else a device of the runtime.
  static Result<LabDevice> parse(const std::string &text);
  // The compiler's flags, with code for `architecture`, or where that is empty for the device itself, which is asked.
  Result<std::vector<std::string>> compilerFlags(const std::string &architecture) const;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_LAB_DEVICE_H
