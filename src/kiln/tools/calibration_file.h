// Where what `kiln calibrate` has measured is kept: a file for the CPU, and one for each kind of device.
#ifndef KILN_TOOLS_CALIBRATION_FILE_H
#define KILN_TOOLS_CALIBRATION_FILE_H

#include <optional>
#include <string>

#include "kiln/base/status.h"
#include "kiln/measure/machine/calibration.h"

namespace kiln {

// Null is the CPU. Empty where there is no folder for it.
std::string calibrationPath(const measure::CalibratedDevice *device);
// NotFound where there is no such file; InvalidArgument where it is no calibration.
Result<measure::Calibration> readCalibrationFile(const std::string &path);
// Makes the folder where it is missing.
Status writeCalibrationFile(const std::string &path, const measure::Calibration &calibration);

} // namespace kiln

#endif // KILN_TOOLS_CALIBRATION_FILE_H
