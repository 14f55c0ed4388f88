// The program of a convolution, as MLIR text.
#ifndef KILN_FAMILIES_CONV_WORKLOAD_CONV_MLIR_H
#define KILN_FAMILIES_CONV_WORKLOAD_CONV_MLIR_H

#include "kiln/families/conv/workload/conv_spec.h"

namespace kiln::families {

// One func.func: the image in its padding, zeros, the convolution in the accumulator's type, and, where the result is
// narrower, a rounding. The convolution is the named op of linalg where there is one: dense, depthwise with one filter
// for each channel, grouped in nchw. What is grouped in nhwc is a linalg.generic. A configuration that is not empty
// stands on it: {kiln.configuration = "tile_config_..."}.
std::string convMlir(const ConvSpec &spec, std::string_view function, std::string_view configuration);

} // namespace kiln::families

#endif // KILN_FAMILIES_CONV_WORKLOAD_CONV_MLIR_H
