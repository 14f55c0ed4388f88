// Where kiln-dispatch has candidates run, and what is compiled for it.
#ifndef KILN_TOOLS_DISPATCH_LAB_DEVICE_H
#define KILN_TOOLS_DISPATCH_LAB_DEVICE_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/device_monitor.h"

namespace kiln {

struct LabDevice {
  std::string uri = {};            // "cuda://0"; empty: the CPU
  std::string target = "llvm-cpu"; // of the compiler
  std::string architecture = {};   // that a GPU's code is for, "sm_90a"; empty until findArchitecture

  // The compiler's flag by which code for one GPU has none for others beside it.
  static constexpr std::string_view kNoFallback = "--kiln-cuda-fallback-arch=none";

  bool isCpu() const { return uri.empty(); }
  bool isGpu() const { return target == "cuda"; }
  // Whether kernels of mma.sync and wmma are made for the architecture.
  bool hasTensorKernels() const;
  // What families offer configurations for: "llvm-cpu", "cuda:sm_90a".
  std::string configurationTarget() const { return isGpu() ? target + ":" + architecture : target; }
  // "NVIDIA H200 (cuda://0)", as its driver tells; the URI where it does not. Empty of the CPU.
  std::string description() const;
  // What --device says: llvm-cpu, cpu, local-task, or nothing, is the CPU; else a device of the runtime.
  static Result<LabDevice> parse(const std::string &text);
  // Of a GPU: takes the architecture, or that of the product, that was asked for; where that is empty or "native" the
  // device is asked.
  Status findArchitecture(const std::string &asked);
  // What tells of its clock and power; null where nothing does, which is said where something should.
  std::shared_ptr<hal::DeviceMonitor> monitor() const;
  // The compiler's flags, with code for the architecture.
  std::vector<std::string> compilerFlags() const;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_LAB_DEVICE_H
