// Configurations of matrix products for GPUs of NVIDIA: what is worth trying, and all that a tuner may search.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_CUDA_CONFIGURATIONS_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_CUDA_CONFIGURATIONS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/register_tiles.h"

namespace kiln::families {

using measure::RatedConfig;

// What the choice of tiles knows of an architecture.
struct CudaShape {
  int generation = 80;              // 90 of sm_90a
  bool hasWgmma = false;            // sm_90a alone
  int64_t sharedBytes = 163 * 1024; // that a block may have
  int64_t multiprocessors = 108;

  // Of a target such as "cuda:sm_90a"; nothing where it is none.
  static std::optional<CudaShape> of(std::string_view target);
};

// None before sm_80, and of split-k. All that differ in what they make of the problem, of each class of instructions
// that multiplies its types as they lie in memory. Best guess first. A register tile that the compiler chooses by
// itself is not named.
std::vector<RatedConfig> cudaConfigurationSpace(const MatmulSpec &spec, const CudaShape &gpu);

// At most `count` of the space, best guess first: the documents' ones of tensorcore_mmasync, then tiles of each class,
// then whatever is best.
std::vector<std::string> cudaConfigurations(const MatmulSpec &spec, const CudaShape &gpu, size_t count);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_CUDA_CONFIGURATIONS_H
