// What a reader wants to know of a dispatch in a trace or a profile: its name, its work, and where it comes from.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H

#include <string>

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

namespace kiln::Flow {

// "matmul_256x65536x2304_f16": the kind of the region's root operation, its extents (D where dynamic), and its element
// types: one where all are the same, else those of the inputs and of the result, "i8xi8xi32".
std::string describeDispatch(DispatchRegionOp region);

// The work of one dispatch as {operations, element, bytes}: arithmetic, where a product and its sum are two, the type
// of what it reads, and what all tensors hold. Nothing where the call decides extents.
mlir::DictionaryAttr describeWork(DispatchRegionOp region, mlir::ValueRange operands);
// The names that the model's nodes have of which the dispatch is made, as locations tell them.
mlir::SmallVector<mlir::StringAttr> nodesOf(DispatchRegionOp region);

// Attributes of the function of an executable: what describeWork gives, and an array of what nodesOf does for all
// dispatches of it.
inline constexpr llvm::StringLiteral workAttr = "kiln.work", nodesAttr = "kiln.nodes";

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_DISPATCHNAME_H
