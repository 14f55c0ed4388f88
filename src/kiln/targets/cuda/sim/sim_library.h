// The functions of CUDA's driver library, over simulated GPUs: what cuda_functions.def lists, and nothing else.
//
// Every number of a device is a GPU of its own, whose threads, blocks and streams run in an order that follows from the
// number. As with the real library, what a kernel does wrong is told by the calls that come after it, and stays until
// the device's context is gone.
#ifndef KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H
#define KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H

#include "kiln/targets/cuda/driver/cuda_library.h"

namespace kiln::cudasim {

// Lives for ever. Texts of errors are those of the calling thread's last call that failed.
const hal::CudaLibrary &simulatedCuda();

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H
