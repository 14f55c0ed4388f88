// A library that takes the place of NVIDIA's driver in tests of what goes wrong with it. It has one GPU of sm_90, whose
// memory is the host's and whose kernels do nothing. The environment variable FAKE_CUDA names what fails.
#ifndef KILN_TARGETS_CUDA_DRIVER_TESTING_FAKE_DRIVER_H
#define KILN_TARGETS_CUDA_DRIVER_TESTING_FAKE_DRIVER_H

#include <cstddef>
#include <cstdint>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = void *;
using CUstream = void *;
using CUevent = void *;
using CUmodule = void *;
using CUfunction = void *;
using CUgraph = void *;
using CUgraphExec = void *;
struct CudaGraphUpdate;
struct CudaTensorMap;
struct CudaLaunch;

#define KILN_CUDA_FUNCTION(name, parameters) extern "C" CUresult name parameters;
#include "kiln/targets/cuda/driver/cuda_functions.def"
#undef KILN_CUDA_FUNCTION

#endif // KILN_TARGETS_CUDA_DRIVER_TESTING_FAKE_DRIVER_H
