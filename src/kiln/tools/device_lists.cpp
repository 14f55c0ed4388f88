#include "kiln/tools/device_lists.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "kiln/base/flags.h"
#include "kiln/tools/cli.h"

namespace kiln {

namespace {

constexpr std::string_view kRule = "# ============================================================================";

void heading(std::string_view text) {
  print(fmt::format("{}\n# {}\n{}\n", kRule, text, kRule));
}

// Calls `visit` with the devices of the named driver, or of each driver.
Status forEachDriver(const hal::DriverRegistry &registry, std::string_view name,
                     const std::function<void(hal::Driver &, const std::vector<hal::DeviceInfo> &)> &visit) {
  if (!name.empty()) {
    KILN_ASSIGN_OR_RETURN(hal::Driver * driver, registry.find(name));
    KILN_ASSIGN_OR_RETURN(std::vector<hal::DeviceInfo> devices, driver->devices());
    visit(*driver, devices);
    return okStatus();
  }
  for (const std::unique_ptr<hal::Driver> &driver : registry.drivers()) {
    Result<std::vector<hal::DeviceInfo>> devices = driver->devices();
    if (devices.ok())
      visit(*driver, *devices);
    else
      print(fmt::format("# {}: {}\n", driver->name(), devices.status().message()));
  }
  return okStatus();
}

} // namespace

void listDrivers(const hal::DriverRegistry &registry) {
  heading("Available HAL drivers");
  print("# Use --list_devices={driver name} to enumerate available devices.\n\n");
  for (const std::unique_ptr<hal::Driver> &driver : registry.drivers())
    print(fmt::format("{:>16}: {}\n", driver->name(), driver->description()));
}

Status listDevices(const hal::DriverRegistry &registry, std::string_view driver) {
  return forEachDriver(registry, driver, [](hal::Driver &, const std::vector<hal::DeviceInfo> &devices) {
    for (const hal::DeviceInfo &device : devices)
      print(fmt::format("  {:<16}  {}\n", device.uri, device.name));
  });
}

Status dumpDevices(const hal::DriverRegistry &registry, std::string_view driver) {
  return forEachDriver(registry, driver, [](hal::Driver &driver, const std::vector<hal::DeviceInfo> &devices) {
    heading(fmt::format("Enumerated devices for driver '{}'", driver.name()));
    for (const hal::DeviceInfo &device : devices) {
      print(fmt::format("\n# --device={}\n#   {}\n", device.uri, device.name));
      auto properties = device.properties;
      std::ranges::copy(device.limits.describe(), std::back_inserter(properties));
      size_t width = 0;
      for (const auto &[key, value] : properties)
        width = std::max(width, key.size());
      for (const auto &[key, value] : properties)
        print(fmt::format("  {:<{}}  {}\n", key + ":", width + 1, value));
    }
    print("\n");
  });
}

std::string deviceHint(const hal::DriverRegistry &registry, std::string_view uri) {
  std::vector<std::string> uris;
  std::string list;
  for (const std::unique_ptr<hal::Driver> &driver : registry.drivers()) {
    Result<std::vector<hal::DeviceInfo>> devices = driver->devices();
    if (!devices.ok())
      continue;
    for (const hal::DeviceInfo &device : *devices) {
      list += (list.empty() ? "" : ", ") + device.uri;
      uris.push_back(device.uri);
    }
  }
  std::string_view nearest = nearestName(uri, uris);
  std::string hint = nearest.empty() || nearest == uri ? "" : fmt::format("; did you mean '{}'?", nearest);
  return hint + fmt::format("\nThe devices are: {}", list.empty() ? "none" : list);
}

} // namespace kiln
