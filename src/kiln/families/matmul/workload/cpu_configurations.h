// Configurations of matrix products for llvm-cpu: what is worth trying, and all that a tuner may search.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H

#include <string>
#include <vector>

#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/register_tiles.h"

namespace kiln::families {

using measure::CpuShape, measure::RatedConfig;

// All that differ in what they make of the problem: tiles are cut to its size, and what is the same after that is there
// once. Best guess first. At least 500 where the problem is large enough to be cut in so many ways.
std::vector<RatedConfig> cpuConfigurationSpace(const MatmulSpec &spec, const CpuShape &cpu);

// At most `count` of the space; see measure::worthTrying.
std::vector<std::string> cpuConfigurations(const MatmulSpec &spec, const CpuShape &cpu, size_t count);

// Why llvm-cpu would not take the configuration, or success.
Status verifyCpuConfiguration(const TileConfig &config);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H
