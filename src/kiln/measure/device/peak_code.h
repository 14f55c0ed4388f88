// What clang made of peak_kernels.cpp and warpgroup_kernels.cpp when Kiln was built.
#ifndef KILN_MEASURE_DEVICE_PEAK_CODE_H
#define KILN_MEASURE_DEVICE_PEAK_CODE_H

#include "kiln/measure/kernels/device_code.h"

namespace kiln::measure {

DeviceCode peakCode();
DeviceCode warpgroupCode();

} // namespace kiln::measure

#endif // KILN_MEASURE_DEVICE_PEAK_CODE_H
