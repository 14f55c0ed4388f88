// What clang made of kernels.cpp and row_kernels.cpp when Kiln was built.
#ifndef KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H
#define KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H

#include "kiln/measure/kernels/device_code.h"

namespace kiln::measure::verify {

DeviceCode checkKernels();
DeviceCode rowKernels();

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H
