// The functions of the driver that fake_driver.cpp does not define: they succeed and do nothing.
#include "kiln/targets/cuda/driver/testing/fake_driver.h"

#define KILN_CUDA_FUNCTION(name, parameters)                                                                           \
  extern "C" __attribute__((weak)) CUresult name parameters {                                                          \
    return 0;                                                                                                          \
  }
#include "kiln/targets/cuda/driver/cuda_functions.def"
