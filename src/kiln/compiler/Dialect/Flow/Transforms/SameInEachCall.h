// What a program computes anew in each call though it depends on nothing that changes.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H

#include "mlir/IR/Value.h"

namespace kiln::Flow {

// Whether a tensor of a program before dispatches are formed depends on constants and parameters alone. It may be false
// for what takes many operations to compute.
bool isSameInEachCall(mlir::Value tensor);
// The same, where nothing on the way takes so much memory that each call computes it anew.
bool isComputedOnce(mlir::Value tensor);

// How many bytes may be kept from when a module is loaded, of what is made of so many.
inline int64_t mostBytesKept(int64_t taken) {
  constexpr int64_t smallResult = int64_t(1) << 20;
  return std::max(2 * taken, smallResult);
}

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SAMEINEACHCALL_H
