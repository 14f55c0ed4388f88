// Configurations of matrix products for llvm-cpu: what is worth trying, and all that a tuner may search.
#ifndef KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H
#define KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H

#include <string>
#include <vector>

#include "kiln/base/tile_config.h"
#include "kiln/families/matmul/workload/matmul_spec.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::families {

using measure::CpuShape;

// A configuration with the time that a simple model expects of it. The number compares configurations of one problem,
// and says nothing else.
struct RatedConfig {
  TileConfig config;
  double cost;
};

// All that differ in what they make of the problem: tiles are cut to its size, and what is the same after that is there
// once. Best guess first. At least 500 where the problem is large enough to be cut in so many ways.
std::vector<RatedConfig> cpuConfigurationSpace(const MatmulSpec &spec, const CpuShape &cpu);

// At most `count` of the space, best guess first. Each register tile that is any good is among them with its best cache
// tiles, so that a model which is wrong about one of them costs little.
std::vector<std::string> cpuConfigurations(const MatmulSpec &spec, const CpuShape &cpu, size_t count);

// Why llvm-cpu would not take the configuration, or success.
Status verifyCpuConfiguration(const TileConfig &config);

} // namespace kiln::families

#endif // KILN_FAMILIES_MATMUL_WORKLOAD_CPU_CONFIGURATIONS_H
