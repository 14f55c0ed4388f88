// Mathematical functions and narrow floats in terms of what hardware has.
#ifndef KILN_COMPILER_CODEGEN_EXPANDMATH_H
#define KILN_COMPILER_CODEGEN_EXPANDMATH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// What the hardware has instructions for.
struct FloatSupport {
  bool fma = false;
  bool scales = false;       // vectors of f32 by powers of two, in one instruction
  bool convertsF16 = false;  // between f16 and f32
  bool roundsToBF16 = false; // f32, of single numbers: arith.truncf stays
  bool computesF16 = false;  // arithmetic, not functions
};

// Functions of f32 become polynomials where these stay within 2 ULP; the others, and functions of f64, stay. f16 and
// bf16 are computed in f32 and rounded once for each operation. Combinations of other operations are expanded, and
// integer divisions guarded so that dividing by zero gives 0 and what overflows wraps. The error is told at the
// function.
mlir::LogicalResult expandMath(mlir::func::FuncOp func, const FloatSupport &support);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_EXPANDMATH_H
