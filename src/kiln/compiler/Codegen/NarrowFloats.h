// Arithmetic on f16 and bf16 in f32, and conversions that hardware has no instruction for.
#ifndef KILN_COMPILER_CODEGEN_NARROWFLOATS_H
#define KILN_COMPILER_CODEGEN_NARROWFLOATS_H

#include "kiln/compiler/Codegen/ExpandMath.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"

namespace kiln {

// Whether the operation computes in a float that is narrower than f32, or converts integers to or from one, and the
// hardware cannot do so itself.
bool computesNarrow(mlir::Operation *op, const FloatSupport &support);
// Rewrites it as the same operation on f32 between conversions; and erases it.
void computeInF32(mlir::Operation *op);

// Rewrites arith.extf and arith.truncf that LLVM would turn into calls of a run-time library, or into instructions that
// flush subnormal numbers, by integer arithmetic that rounds to nearest even; and erases them. Others are left alone.
void expandConversion(mlir::Operation *op, const FloatSupport &support);

// After the conversion to the LLVM dialect, when nothing computes in bf16 any more: makes i16 of it everywhere. LLVM
// would carry a bf16 between basic blocks as f32, and call a run-time library to get it back.
void storeBF16AsBits(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_NARROWFLOATS_H
