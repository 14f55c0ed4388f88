// How fast a device can be: what `kiln calibrate --device=` measures, by kernels that clang compiled (peak_kernels.cpp,
// warpgroup_kernels.cpp), between timestamps of the device's own clock.
#ifndef KILN_MEASURE_DEVICE_DEVICE_CALIBRATION_H
#define KILN_MEASURE_DEVICE_DEVICE_CALIBRATION_H

#include <string>

#include "kiln/base/status.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/runtime/hal/driver.h"

namespace kiln::measure {

// A device and what its driver tells of it.
struct OpenedDevice {
  Ref<hal::Device> device;
  CalibratedDevice facts;
  uint32_t multiprocessors = 1;
};
// What its driver tells of a device that need not be opened for that. Whether it is simulated is left open.
Result<CalibratedDevice> describeDevice(const hal::DriverRegistry &registry, const std::string &uri);
Result<OpenedDevice> openDevice(const hal::DriverRegistry &registry, const std::string &uri);

// Before anything is measured each kernel runs once on numbers by which its result counts what it has done: a rate is
// of operations that were made. Unimplemented where the device runs no PTX, has no clock, or this build has no kernels.
// Of a simulated device every kernel runs in one block, and what is measured are its simulator's numbers.
// `options.threads` has no meaning here.
Result<Calibration> calibrateDevice(const OpenedDevice &opened, const CalibrationOptions &options = {});

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_DEVICE_CALIBRATION_H
