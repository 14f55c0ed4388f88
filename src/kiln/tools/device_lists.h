// What --list_drivers, --list_devices and --dump_devices print on standard output.
#ifndef KILN_TOOLS_DEVICE_LISTS_H
#define KILN_TOOLS_DEVICE_LISTS_H

#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/driver.h"

namespace kiln {

void listDrivers(const hal::DriverRegistry &registry);
// The devices of one driver, or of all where the name is empty. A driver of those all that cannot be asked (its library
// is missing) is noted and left out; of one alone that is the error.
Status listDevices(const hal::DriverRegistry &registry, std::string_view driver);
Status dumpDevices(const hal::DriverRegistry &registry, std::string_view driver);

// For the message about a device that cannot be opened: "; did you mean 'local-task'? The devices are: ...".
std::string deviceHint(const hal::DriverRegistry &registry, std::string_view uri);

} // namespace kiln

#endif // KILN_TOOLS_DEVICE_LISTS_H
