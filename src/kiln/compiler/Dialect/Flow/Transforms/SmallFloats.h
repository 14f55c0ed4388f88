// Conversions between f32 and floats of at most 8 bits, as integer arithmetic on their bits.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SMALLFLOATS_H
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SMALLFLOATS_H

#include "mlir/IR/Builders.h"

namespace kiln::Flow {

// The number in f32, which is exact. `bits` is an i8 with zeros above the format's own bits.
mlir::Value decodeSmallFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::FloatType format, mlir::Value bits);

// The bits, as an i8 with zeros above, of an f32 or f64 rounded to nearest even. What is too large becomes infinity;
// NaN in a format without infinities; the largest number, as NaN does, in a format without either. f8E8M0FNU, which has
// neither sign nor zero, takes the magnitude, its smallest number for a zero, and the larger of two as near.
mlir::Value encodeSmallFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::FloatType format, mlir::Value number);

} // namespace kiln::Flow

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_SMALLFLOATS_H
