// Rewrites a function so that vectors are pieces of one register each. The driver walks the function in order; for each
// operation on vectors a rule builds the operations on pieces and defines the results by them.
#ifndef KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H
#define KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H

#include <memory>
#include <optional>

#include "kiln/targets/cpu/codegen/vectors/PieceLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln {

class VectorAccess;

struct SplitLimits {
  int64_t lanes = 4;         // of a piece
  int64_t registers = 16;    // vector registers of the machine
  int64_t unrollLimit = 512; // multiply-adds of one contraction without a loop
  int64_t pieceLimit = 8192; // pieces of one operation
};

class VectorSplitter {
public:
  VectorSplitter(mlir::func::FuncOp func, SplitLimits limits);
  ~VectorSplitter();

  // Rewrites the function; errors are reported at the operation.
  mlir::LogicalResult run();
  // Whether operations are left that have no rule, on vectors of other shapes than pieces.
  bool hasUnsplit() const { return unsplit; }

  //===--- For rules ---===//

  // Stands before the operation that is being rewritten.
  mlir::OpBuilder &builder() { return b; }
  const SplitLimits &limits() const { return options; }
  PieceLayout layout(mlir::Value value) const { return layout(mlir::cast<mlir::VectorType>(value.getType())); }
  PieceLayout layout(mlir::VectorType type) const { return PieceLayout(type, options.lanes); }

  // A piece of an operand. Where the operand is read from memory, and nothing is written in between, the read happens
  // here.
  mlir::Value piece(mlir::Value value, int64_t index);
  mlir::SmallVector<mlir::Value> pieces(mlir::Value value);
  // An element of an operand, as a scalar: read from memory by itself where that is how its vector is read.
  mlir::Value scalar(mlir::Value value, int64_t element);
  // The operand's read, if it still can be repeated where the builder stands and at any time later in this block, before
  // the next write; null if not.
  const VectorAccess *deferredRead(mlir::Value value) const;
  // A scalar in all elements of a piece.
  mlir::Value splat(mlir::Value scalar, int64_t length);
  // A mask of the first `count` lanes, an index that may be negative or beyond the length.
  mlir::Value maskOfFirst(mlir::Location loc, mlir::Value count, int64_t length);

  // An element of a vector that is not a vector of the function but one of pieces.
  struct Lane {
    mlir::Value vector; // null: any value will do
    int64_t index = 0;
  };
  Lane lane(mlir::Value value, int64_t element);
  // A vector that is put together from lanes, with as few shuffles as come without search.
  mlir::Value assemble(mlir::Location loc, mlir::Type elementType, mlir::ArrayRef<Lane> lanes);
  // Columns of a matrix whose rows are given, vectors of equal length: `count` vectors of as many elements as there are
  // rows. A network of interleaving shuffles.
  mlir::SmallVector<mlir::Value> transpose(mlir::Location loc, mlir::ArrayRef<mlir::Value> rows, int64_t count);

  // What the result of the operation is from now on.
  void define(mlir::Value result, mlir::SmallVector<mlir::Value> pieces);
  // For a result that is read from memory: now, or where its pieces are needed.
  void defineRead(mlir::Value result, std::unique_ptr<VectorAccess> access);
  // For a result that is a scalar, or a vector whose layout is that of another value.
  void defineAs(mlir::Value result, mlir::Value same);
  // Rewrites an operation that a rule has just made, and that stands before the builder.
  mlir::LogicalResult process(mlir::Operation *op);

private:
  struct State;

  mlir::LogicalResult processBlock(mlir::Block &block);
  mlir::LogicalResult processRegions(mlir::Operation *op);
  mlir::LogicalResult checkSize(mlir::Operation *op);
  mlir::LogicalResult applyRule(mlir::Operation *op, bool &handled);
  mlir::LogicalResult keepWhole(mlir::Operation *op);
  mlir::Value whole(mlir::Value value);
  State &state(mlir::Value value);
  void findDeferrableReads(mlir::Block &block);
  bool isDeferrable(mlir::Operation *read) const { return deferrable.contains(read); }

  mlir::LogicalResult splitFor(mlir::Operation *op);
  mlir::LogicalResult splitIf(mlir::Operation *op);
  mlir::LogicalResult splitWhile(mlir::Operation *op);
  mlir::LogicalResult splitTerminator(mlir::Operation *op);
  mlir::SmallVector<mlir::Type> pieceTypes(mlir::TypeRange types) const;
  mlir::SmallVector<mlir::Value> flatten(mlir::ValueRange values);
  void defineAll(mlir::ValueRange results, mlir::ValueRange flat);

  mlir::func::FuncOp func;
  SplitLimits options;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, std::unique_ptr<State>> states;
  llvm::DenseSet<mlir::Operation *> deferrable;
  mlir::SmallVector<mlir::Operation *> dead;
  bool unsplit = false;
};

// The rules, by source file. Each is given an operation that is of its kind, and sets `handled` to false where it leaves
// it alone.
mlir::LogicalResult splitElementwise(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitShapeOp(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitMemoryOp(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitContraction(VectorSplitter &splitter, mlir::Operation *op, mlir::Value mask, bool &handled);
mlir::LogicalResult splitReduction(VectorSplitter &splitter, mlir::Operation *op, mlir::Value mask, bool &handled);
mlir::LogicalResult splitMasking(VectorSplitter &splitter, mlir::Operation *op, bool &handled);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H
