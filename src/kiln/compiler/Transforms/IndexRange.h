// Which indices an expression of an operation's loops takes.
#ifndef KILN_COMPILER_TRANSFORMS_INDEXRANGE_H
#define KILN_COMPILER_TRANSFORMS_INDEXRANGE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace kiln {

// The largest extent of a tensor whose extents are checked: 2^60 bytes of elements that count as 8 each.
constexpr int64_t kLargestExtent = int64_t(1) << 57;

struct IndexRange {
  mlir::Value least, largest;
  mlir::Value fits;    // whether all numbers on the way are 64-bit ones; null where they are for all extents
  bool isExact = true; // false where the expression may take none of the two, as parts of it are bounded one by one
};

// Whether all numbers on the way to the expression's value are 64-bit ones. Extents that are not known are dynamic.
bool fitsIn64Bits(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> extents);

// Writes the computation of the range where the builder stands, for loops that have a step each.
IndexRange rangeOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr, llvm::ArrayRef<int64_t> extents,
                   llvm::function_ref<mlir::Value(unsigned)> extentOf);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMS_INDEXRANGE_H
