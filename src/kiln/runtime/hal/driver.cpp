#include "kiln/runtime/hal/driver.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace kiln::hal {

Result<DeviceUri> DeviceUri::parse(std::string_view text) {
  size_t separator = text.find("://");
  DeviceUri uri;
  uri.driver = text.substr(0, separator);
  if (separator != std::string_view::npos)
    uri.path = text.substr(separator + 3);
  if (uri.driver.empty() || uri.driver.find_first_of(":/ ") != std::string::npos)
    return invalidArgument(
        "'{}' is not a device; write a driver's name, or driver://path, such as local-task or cuda://0", text);
  return uri;
}

std::string DeviceUri::toString() const {
  return path.empty() ? driver : driver + "://" + path;
}

Result<DeviceInfo> Driver::describe(const DeviceUri &uri) {
  KILN_ASSIGN_OR_RETURN(std::vector<DeviceInfo> infos, devices());
  auto found = std::ranges::find(infos, uri.toString(), &DeviceInfo::uri);
  if (found == infos.end())
    found = infos.begin();
  return found == infos.end() ? unavailable("the driver of {} has no device", uri.toString())
                              : Result<DeviceInfo>(std::move(*found));
}

static bool isBefore(const std::unique_ptr<Driver> &driver, std::string_view name) {
  return driver->name() < name;
}

void DriverRegistry::add(std::unique_ptr<Driver> driver) {
  auto place = std::lower_bound(entries.begin(), entries.end(), driver->name(), isBefore);
  assert((place == entries.end() || (*place)->name() != driver->name()) && "two drivers have one name");
  entries.insert(place, std::move(driver));
}

Result<Driver *> DriverRegistry::find(std::string_view name) const {
  auto place = std::lower_bound(entries.begin(), entries.end(), name, isBefore);
  if (place != entries.end() && (*place)->name() == name)
    return place->get();
  std::string names;
  for (const std::unique_ptr<Driver> &driver : entries)
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", driver->name());
  return notFound("no driver '{}' in this build; it has: {}", name, names.empty() ? "none" : names);
}

Result<Ref<Device>> DriverRegistry::createDevice(std::string_view uri, const DeviceOptions &options) const {
  KILN_ASSIGN_OR_RETURN(DeviceUri parsed, DeviceUri::parse(uri));
  KILN_ASSIGN_OR_RETURN(Driver * driver, find(parsed.driver));
  Result<Ref<Device>> device = driver->createDevice(parsed, options);
  if (!device.ok())
    return std::move(device).status().withContext(fmt::format("cannot open device '{}'", uri));
  return device;
}

} // namespace kiln::hal
