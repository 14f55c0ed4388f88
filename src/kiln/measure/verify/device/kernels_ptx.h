// What clang made of kernels.cpp when Kiln was built.
#ifndef KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H
#define KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H

#include <string_view>

namespace kiln::measure::verify {

// PTX; empty where there was no clang.
std::string_view deviceKernels();
// The oldest architecture that runs it.
std::string_view deviceKernelsArchitecture();

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_KERNELS_PTX_H
