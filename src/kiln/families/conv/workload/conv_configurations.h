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

#include "kiln/base/tile_config.h"
#include "kiln/families/conv/workload/conv_spec.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln::families {

using measure::CpuShape;

// A configuration with the time that a simple model expects of it, in cycles. The number compares configurations of one
// problem, and says nothing else.
struct RatedConvConfig {
  TileConfig config;
  double cost;
};

// All that differ in what they make of the problem, best guess first.
std::vector<RatedConvConfig> convConfigurationSpace(const ConvSpec &spec, const CpuShape &cpu);

// At most `count` of the space, best guess first. Each register tile that is any good is among them with its best cache
// tiles, so that a model which is wrong about one of them costs little.
std::vector<std::string> convConfigurations(const ConvSpec &spec, const CpuShape &cpu, size_t count);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_CONFIGURATIONS_H
