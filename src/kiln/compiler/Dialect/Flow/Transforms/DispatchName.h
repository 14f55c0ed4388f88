// The name of a dispatch: what a reader wants to know of it in a trace or a profile.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H

#include <string>

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

namespace kiln::Flow {

// "matmul_256x65536x2304_f16": the kind of the region's root operation, its extents (D where dynamic), and its element
// types: one where all are the same, else those of the inputs and of the result, "i8xi8xi32".
std::string describeDispatch(DispatchRegionOp region);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H
