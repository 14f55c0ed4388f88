// A vector in memory, as a transfer or a load describes it, and how to read or write any part of it.
#ifndef KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORACCESS_H
#define KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORACCESS_H

#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/IR/OpDefinition.h"

namespace kiln {

class VectorAccess {
public:
  // Of a transfer_read or transfer_write on a memref whose map has increasing dimensions, but for broadcasts;
  // vector.load, vector.store, vector.maskedload, vector.maskedstore.
  explicit VectorAccess(mlir::Operation *op);

  mlir::Value base() const { return memref; }
  // Every element is in bounds, and none is masked off.
  bool isPlain() const;
  // Positions may be values that are known at run time only.
  bool takesDynamicPositions() const { return !mask; }

  // Reads or writes `length` elements along the last dimension that is longer than 1. `position` is that of the first,
  // one index for each dimension of the vector.
  mlir::Value loadPiece(VectorSplitter &splitter, llvm::ArrayRef<mlir::OpFoldResult> position, int64_t length) const;
  void storePiece(VectorSplitter &splitter, llvm::ArrayRef<mlir::OpFoldResult> position, mlir::Value piece) const;
  // Reads one element; the access must be plain.
  mlir::Value loadScalar(VectorSplitter &splitter, llvm::ArrayRef<mlir::OpFoldResult> position) const;

  // Of an element, by its number.
  llvm::SmallVector<mlir::OpFoldResult> positionOf(mlir::Builder &builder, int64_t element) const;

private:
  mlir::SmallVector<mlir::Value> indicesAt(mlir::OpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> position) const;
  mlir::Value laneMask(VectorSplitter &splitter, llvm::ArrayRef<mlir::OpFoldResult> position, mlir::ValueRange indices,
                       int64_t length) const;
  // Whether all elements of a piece are the same one in memory.
  bool repeats() const { return walked < 0 || dimensions[walked] < 0; }
  llvm::SmallVector<mlir::OpFoldResult> lanePosition(mlir::OpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> position,
                                                     int64_t lane) const;
  mlir::Value memory(mlir::OpBuilder &b) const;
  mlir::Value contiguousMemory(mlir::OpBuilder &b, llvm::SmallVectorImpl<mlir::Value> &at) const;
  mlir::Value flatMemory(mlir::OpBuilder &b, mlir::Value base, llvm::SmallVectorImpl<mlir::Value> &at) const;
  mlir::OpFoldResult stride(mlir::OpBuilder &b) const;
  mlir::Value strideVector(mlir::OpBuilder &b, int64_t length) const;

  mlir::Location loc;
  mlir::VectorType type;
  mlir::Value memref;
  mlir::SmallVector<mlir::Value> indices;
  // For each dimension of the vector: which one of the memref it walks, or -1 where it stays; and whether it is known
  // to stay within bounds.
  mlir::SmallVector<int64_t> dimensions;
  mlir::SmallVector<bool> inBounds;
  mlir::Value padding; // what an element that is not read is: a scalar, or a vector (passThrough), or null: anything
  mlir::Value passThrough;
  mlir::Value mask;        // of the shape of the dimensions that are walked, or null
  int64_t walked = -1;     // the dimension along which pieces lie, or -1: a single element
  bool contiguous = false; // pieces lie without gaps in memory
};

// Whether what is written to one may be read through the other.
bool mayOverlap(mlir::Value memrefA, mlir::Value memrefB);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORACCESS_H
