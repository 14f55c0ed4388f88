// The functions of CUDA's driver library, over simulated GPUs: what cuda_functions.def lists, and nothing else.
//
// Every number of a device is a GPU of its own: an architecture and a seed, from which the order follows in which its
// threads, blocks and streams run. As with the real library, what a kernel does wrong is told by the calls that come
// after it, and stays until the device's context is gone.
#ifndef KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H
#define KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H

#include "kiln/targets/cuda/driver/cuda_library.h"

#include <array>

namespace kiln::cudasim {

struct SimArchitecture {
  int major, minor;
  uint32_t mostSharedBytes; // of a block that asks for them
};
// The first is that of devices whose number is a seed alone.
inline constexpr std::array<SimArchitecture, 7> kArchitectures{{
    {9, 0, 232448},
    {7, 5, 65536},
    {8, 0, 166912},
    {8, 6, 101376},
    {8, 9, 101376},
    {10, 0, 232448},
    {12, 0, 101376},
}};

// A device's number has the index of its architecture above the bits of its seed.
inline constexpr int kSeedBits = 28, kSeeds = 1 << kSeedBits;

// Lives for ever. Texts of errors are those of the calling thread's last call that failed.
const hal::CudaLibrary &simulatedCuda();

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_SIM_LIBRARY_H
