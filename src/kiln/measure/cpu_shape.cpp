#include "kiln/measure/cpu_shape.h"

#include "kiln/runtime/task/topology.h"

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
  const task::Topology &topology = task::Topology::host();
  for (const task::Cache *cache : topology.cachesOf(topology.cpus.front()))
    if (cache->type != "Instruction" && cache->level <= 2)
      (cache->level == 1 ? cpu.l1Bytes : cpu.l2Bytes) = static_cast<int64_t>(cache->bytes);
  cpu.workers = static_cast<int64_t>(topology.cpus.size());
  return cpu;
}

} // namespace kiln::measure
