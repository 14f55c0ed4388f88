// Mathematical functions of f64, computed in f64.
#ifndef KILN_TARGETS_CUDA_CODEGEN_F64FUNCTIONS_H
#define KILN_TARGETS_CUDA_CODEGEN_F64FUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace kiln {

// Replaces and erases the operation, and says whether it did: exponentials, logarithms, trigonometric and hyperbolic
// functions and their inverses, powers and cube roots of single values. Results are within 4 ULP; infinities, NaNs and
// signs of zero are those of the C library.
bool expandF64(mlir::Operation *op);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_F64FUNCTIONS_H
