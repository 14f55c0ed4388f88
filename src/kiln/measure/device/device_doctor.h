// Whether a device can be trusted today: what `kiln doctor --device=` finds.
#ifndef KILN_MEASURE_DEVICE_DEVICE_DOCTOR_H
#define KILN_MEASURE_DEVICE_DEVICE_DOCTOR_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/measure/machine/calibration.h"
#include "kiln/measure/machine/doctor.h"
#include "kiln/runtime/hal/driver.h"

namespace kiln::measure {

struct DeviceDiagnosis {
  CalibratedDevice device;
  std::optional<Noise> noise; // of the same kernel by the device's clock; none where that is no clock of time
  std::vector<Finding> findings;

  bool trustworthy() const { return areTrustworthy(findings); }
  std::string summary() const; // one sentence
  std::string json() const;
};

struct DeviceDoctorOptions {
  double seconds = 2;                // that it is watched at work
  std::function<bool()> isOver = {}; // asked meanwhile: whether to watch no longer
  // What a calibration's file holds, of whatever device, or why it cannot be read; NotFound where there is none.
  Result<Calibration> calibration = notFound("");
};

// Fails where the device cannot be opened.
Result<DeviceDiagnosis> diagnoseDevice(const hal::DriverRegistry &registry, const std::string &uri,
                                       const DeviceDoctorOptions &options);

// What a calibration says of a device that does so many operations of f32 without tensor cores each second now; 0 where
// that was not measured.
Finding judgeCalibration(const Result<Calibration> &calibration, const CalibratedDevice &device, const std::string &uri,
                         double operationsNow);

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_DEVICE_DOCTOR_H
