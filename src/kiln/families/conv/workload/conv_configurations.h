// Configurations of convolutions for llvm-cpu. In a configuration of a convolution
//
//   n, columns   run along the result's innermost dimension: filters in nhwc, pixels of a row in nchw;
//   m            covers the dimensions before it, the innermost of them first;
//   rows         are pixels of a row in nhwc, filters in nchw;
//   k            are input channels of a group; all pixels of a filter are summed up before the next of them;
//   packb        has the filters of a tile in panels, in nhwc alone.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_CONFIGURATIONS_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_CONFIGURATIONS_H

#include <string>
#include <vector>

#include "kiln/families/conv/workload/conv_spec.h"
#include "kiln/measure/register_tiles.h"

namespace kiln::families {

using measure::CpuShape, measure::RatedConfig;

// All that differ in what they make of the problem, best guess first.
std::vector<RatedConfig> convConfigurationSpace(const ConvSpec &spec, const CpuShape &cpu);

// At most `count` of the space; see measure::worthTrying.
std::vector<std::string> convConfigurations(const ConvSpec &spec, const CpuShape &cpu, size_t count);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_CONFIGURATIONS_H
