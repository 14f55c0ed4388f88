// What this machine can do at most, as `kiln calibrate` has measured it: what reports compare with, and what no row can
// exceed.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H
#define KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/calibration.h"
#include "kiln/measure/workers/group.h"

namespace kiln {

// What is stored of this machine. Nothing where it was never calibrated, or where the file is another machine's; an
// error where it cannot be read.
Result<std::optional<measure::Calibration>> readCalibration(const measure::Provenance &machine);
// The same of a device by its URI.
Result<std::optional<measure::Calibration>> readDeviceCalibration(const std::string &uri);
// Measures it with these numbers of threads, for so many seconds at most, takes what is known to be faster, and stores
// it for next time where there is a folder for that.
Result<measure::Calibration> calibrate(const std::set<uint64_t> &threads, double seconds,
                                       const std::optional<measure::Calibration> &known);
// The same of a device by its URI; `announce` is called before it begins. Unimplemented where the device has no
// ceilings: it is simulated, or runs no such kernels.
Result<measure::Calibration> calibrateDevice(const std::string &uri, double seconds,
                                             const std::optional<measure::Calibration> &known,
                                             const std::function<void()> &announce);

// {"by_threads":[{"threads":1,"gflops":{"f32":170.1},"gb_per_s":21.5}, ...]}, the form of the store and of reports; of
// a device, as a run calls it, also {"device":"NVIDIA H200 (cuda://0)", ...}.
std::string ceilingsJson(const measure::Calibration &calibration, const std::set<uint64_t> &threads,
                         const std::string &device = {});

// The times that no call of the problem can stay below with so many threads: by its arithmetic, and by the bytes that
// it moves.
std::vector<measure::SpeedFloor> speedFloors(const measure::Problem &problem, uint64_t threads,
                                             const measure::Calibration &calibration);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_CEILINGS_H
