#include "kiln/tools/dispatch/lab_device.h"

#include <algorithm>
#include <charconv>

#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/drivers.h"

namespace kiln {

namespace {

bool isGpu(const LabDevice &device) {
  return device.target == "cuda";
}

// "sm_90" of what the driver tells, with the instructions that later devices lack: "sm_90a".
std::string ownArchitecture(const std::string &told) {
  int number = 0;
  const char *end = told.data() + told.size();
  if (told.size() < 5 || std::from_chars(told.data() + 3, end, number).ptr != end)
    return told;
  return number >= 90 ? told + "a" : told;
}

Result<std::string> architectureOf(const std::string &uri) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  KILN_ASSIGN_OR_RETURN(hal::DeviceUri parsed, hal::DeviceUri::parse(uri));
  KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(parsed.driver));
  Result<std::vector<hal::DeviceInfo>> devices = driver->devices();
  if (!devices.ok())
    return unavailable("{}; to compile for a GPU of another machine, name its architecture, as in --cuda-arch=sm_90a",
                       devices.status().message());
  // Of simulated devices one stands for all.
  auto found = std::ranges::find(*devices, uri, &hal::DeviceInfo::uri);
  if (found == devices->end() && !devices->empty())
    found = devices->begin();
  if (found != devices->end())
    for (const auto &[name, value] : found->properties)
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

Result<std::vector<std::string>> LabDevice::compilerFlags(const std::string &architecture) const {
  std::vector<std::string> flags = {"--kiln-hal-target-backends=" + target};
  if (!isGpu(*this))
    return flags;
  std::string chosen = architecture;
  if (chosen.empty() || chosen == "native") {
    KILN_ASSIGN_OR_RETURN(chosen, architectureOf(uri));
  }
  flags.push_back("--kiln-hal-cuda-llvm-target-arch=" + chosen);
  flags.emplace_back(kNoFallback); // What runs on other GPUs is not measured.
  return flags;
}

} // namespace kiln
