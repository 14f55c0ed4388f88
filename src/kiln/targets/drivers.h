// Every HAL driver of this build; the definition is generated from KILN_TARGETS.
#ifndef KILN_TARGETS_DRIVERS_H
#define KILN_TARGETS_DRIVERS_H

namespace kiln::hal {
class DriverRegistry;

void registerDrivers(DriverRegistry &registry);
} // namespace kiln::hal

#endif // KILN_TARGETS_DRIVERS_H
