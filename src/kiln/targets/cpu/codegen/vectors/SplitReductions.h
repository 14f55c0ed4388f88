// Sums, products, extrema over vectors: shared by the rules for reductions and for contractions.
#ifndef KILN_TARGETS_CPU_CODEGEN_VECTORS_SPLITREDUCTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_VECTORS_SPLITREDUCTIONS_H

#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

namespace kiln {

// What combines with anything to give just that, such as 0 for sums.
mlir::TypedAttr neutralElement(mlir::vector::CombiningKind kind, mlir::Type elementType);

// Combines two scalars or two pieces.
mlir::Value combine(VectorSplitter &splitter, mlir::Location loc, mlir::vector::CombiningKind kind, mlir::Value a,
                    mlir::Value b);

// Vectors of equal length, in a tree.
mlir::Value combineAll(VectorSplitter &splitter, mlir::Location loc, mlir::vector::CombiningKind kind,
                       llvm::ArrayRef<mlir::Value> values);

// Reduces rows to the elements of a piece, one row each, and combines them with `accumulator`, a piece of that length.
mlir::Value reduceRows(VectorSplitter &splitter, mlir::Location loc, mlir::vector::CombiningKind kind,
                       llvm::ArrayRef<mlir::Value> rows, mlir::Value accumulator);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_VECTORS_SPLITREDUCTIONS_H
