// Integers that become narrow floats by way of f64.
#ifndef KILN_COMPILER_INTERFACES_ROUNDINTEGERS_H
#define KILN_COMPILER_INTERFACES_ROUNDINTEGERS_H

#include "mlir/IR/Builders.h"

namespace kiln {

// An integer, or a vector of them, that f64 holds exactly and that becomes the same number as `integer` when it is
// rounded to a float of up to 40 bits of mantissa. Those of up to 53 bits are what they were.
mlir::Value fitIntoF64(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value integer, bool isSigned);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_ROUNDINTEGERS_H
