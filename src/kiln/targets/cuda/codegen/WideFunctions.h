// Mathematical functions of f32, computed in f64 and rounded once: what has no polynomial in f32 that is as good;
// and those of f64, by F64Functions.h.
#ifndef KILN_TARGETS_CUDA_CODEGEN_WIDEFUNCTIONS_H
#define KILN_TARGETS_CUDA_CODEGEN_WIDEFUNCTIONS_H

#include "mlir/IR/Operation.h"

namespace kiln {

// Replaces and erases the operation, and says whether it did: trigonometric and hyperbolic functions and their
// inverses, powers and cube roots of single f32 values. Results are within 1 ULP; infinities, NaNs and signs of zero
// are those of the C library.
bool expandInF64(mlir::Operation *op);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_WIDEFUNCTIONS_H
