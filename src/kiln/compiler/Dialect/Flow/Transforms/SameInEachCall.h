// What a program computes anew in each call though it depends on nothing that changes.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H

#include "mlir/IR/Value.h"

namespace kiln::Flow {

// Whether a tensor of a program before dispatches are formed depends on constants and parameters alone. It may be false
// for what takes many operations to compute.
bool isSameInEachCall(mlir::Value tensor);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H
