#include "kiln/measure/cpu_shape.h"

#include <algorithm>
#include <thread>
#include <unistd.h>

namespace kiln::measure {

CpuShape CpuShape::host() {
  CpuShape cpu;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    cpu.vectorBits = 512, cpu.vectorRegisters = 32;
  else if (!__builtin_cpu_supports("avx2"))
    cpu.vectorBits = 128;
#elif defined(__aarch64__)
  cpu.vectorBits = 128, cpu.vectorRegisters = 32;
#endif
  if (long bytes = ::sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
    cpu.l1Bytes = bytes;
  if (long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    cpu.l2Bytes = bytes;
  cpu.workers = std::max(1U, std::thread::hardware_concurrency());
  return cpu;
}

} // namespace kiln::measure
