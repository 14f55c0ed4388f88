#include "kiln/tools/dispatch/lab_device.h"

#include <algorithm>
#include <fmt/format.h>

#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/cuda/architectures.h"
#include "kiln/targets/drivers.h"
#include "kiln/tools/dispatch/say.h"

namespace kiln {

namespace {

// "sm_90" of what the driver tells, with the instructions that later devices lack: "sm_90a".
std::string ownArchitecture(const std::string &told) {
  return cudaGenerationOf(told) >= 90 ? told + "a" : told;
}

Result<hal::DeviceInfo> infoOf(const std::string &uri) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(hal::DeviceUri parsed, hal::DeviceUri::parse(uri));
  KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(parsed.driver));
  return driver->describe(parsed);
}

Result<std::string> architectureOf(const std::string &uri) {
  Result<hal::DeviceInfo> info = infoOf(uri);
  if (!info.ok())
    return unavailable("{}; to compile for a GPU of another machine, name its architecture, as in --cuda-arch=sm_90a",
                       info.status().message());
  for (const auto &[name, value] : info->properties)
    if (name == "architecture")
      return ownArchitecture(value);
  return unavailable("the device {} tells no architecture; name one, as in --cuda-arch=sm_90a", uri);
}

} // namespace

Result<LabDevice> LabDevice::parse(const std::string &text) {
  if (text.empty() || text == "llvm-cpu" || text == "cpu" || text == "local-task")
    return LabDevice();
  KILN_ASSIGN_OR_RETURN(hal::DeviceUri uri, hal::DeviceUri::parse(text));
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Result<hal::Driver *> driver = registry.find(uri.driver);
  if (!driver.ok())
    return std::move(driver).status().withContext("--device");
  if (uri.driver.starts_with("local-") || uri.driver == "null")
    return unimplemented("--device={}: write llvm-cpu for the CPU, whose workers --threads counts", text);
  return LabDevice{text, uri.driver.starts_with("cuda") ? "cuda" : "llvm-cpu"};
}

Status LabDevice::findArchitecture(const std::string &asked) {
  if (!isGpu())
    return okStatus();
  if (asked.empty() || asked == "native") {
    KILN_ASSIGN_OR_RETURN(std::string told, architectureOf(uri));
    architecture = cudaArchitectureOf(told);
    return !architecture.empty()
               ? okStatus()
               : unavailable("the device {} is of {}, which the compiler generates no code for; name an architecture "
                             "whose code runs there, as in --cuda-arch=sm_80",
                             uri, told);
  }
  architecture = cudaArchitectureOf(asked);
  return !architecture.empty() ? okStatus()
                               : invalidArgument("--cuda-arch={}: write {}, a product ({}), or native", asked,
                                                 fmt::join(kCudaArchitectures, ", "), cudaProductNames());
}

bool LabDevice::hasTensorKernels() const {
  return isGpu() && cudaGenerationOf(architecture) >= 80;
}

std::string LabDevice::description() const {
  if (isCpu())
    return {};
  Result<hal::DeviceInfo> info = infoOf(uri);
  return info.ok() ? fmt::format("{} ({})", info->name, info->uri) : uri;
}

std::shared_ptr<hal::DeviceMonitor> LabDevice::monitor() const {
  if (isCpu())
    return nullptr;
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  auto open = [&]() -> Result<std::unique_ptr<hal::DeviceMonitor>> {
    KILN_ASSIGN_OR_RETURN(hal::DeviceUri parsed, hal::DeviceUri::parse(uri));
    KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(parsed.driver));
    return driver->monitor(parsed);
  };
  Result<std::unique_ptr<hal::DeviceMonitor>> opened = open();
  if (opened.ok())
    return *std::move(opened);
  if (opened.status().code() != StatusCode::Unimplemented)
    sayLines("without clocks, power and temperature of {}: {}", uri, opened.status().message());
  return nullptr;
}

std::vector<std::string> LabDevice::compilerFlags() const {
  std::vector<std::string> flags = {"--kiln-hal-target-backends=" + target};
  if (isGpu()) {
    flags.push_back("--kiln-hal-cuda-llvm-target-arch=" + architecture);
    flags.emplace_back(kNoFallback); // What runs on other GPUs is not measured.
  }
  return flags;
}

} // namespace kiln
