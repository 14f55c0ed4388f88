// Operations of the host that the VM has no instruction for.
#ifndef KILN_COMPILER_DIALECT_VM_TRANSFORMS_EXPANDHOSTOPS_H
#define KILN_COMPILER_DIALECT_VM_TRANSFORMS_EXPANDHOSTOPS_H

#include "mlir/IR/Operation.h"

namespace kiln::VM {

// Replaces these operations inside of `host` by some that the VM has: absolute values, counts of bits and wide sums and
// products of integers; rounding towards and away from zero, signs, maxnumf and minnumf of floats; integers as bf16.
void expandHostOps(mlir::Operation *host);

} // namespace kiln::VM

#endif // KILN_COMPILER_DIALECT_VM_TRANSFORMS_EXPANDHOSTOPS_H
