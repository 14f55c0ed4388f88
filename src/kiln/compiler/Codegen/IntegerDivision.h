// Integer division that no data can make trap.
#ifndef KILN_COMPILER_CODEGEN_INTEGERDIVISION_H
#define KILN_COMPILER_CODEGEN_INTEGERDIVISION_H

#include "mlir/IR/Operation.h"

namespace kiln {

// Rewrites an integer division or remainder so that dividing by zero gives 0, and what overflows wraps: the CPU's
// instruction would end the process for one element of a tensor. Leaves other ops alone, and divisors that are known.
void guardDivision(mlir::Operation *op);

// The same of a division that rounds up or down, which is left for others to expand: they correct what dividing by zero
// gives.
void guardRoundingDivision(mlir::Operation *op);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_INTEGERDIVISION_H
