// Rewrites a function so that vectors are pieces of one register each. The driver walks the function in order; for each
// operation on vectors a rule builds the operations on pieces and defines the results by them.
#ifndef KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H
#define KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H

#include <memory>

#include "kiln/targets/cpu/codegen/vectors/PieceLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

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
  PieceLayout layout(mlir::VectorType type) const { return PieceLayout(type, options.lanes); }
  PieceLayout layout(mlir::Value value) const { return layout(mlir::cast<mlir::VectorType>(value.getType())); }

  // A piece of an operand. Where the operand is read from memory, and nothing is written in between, the read happens
  // here.
  mlir::Value piece(mlir::Value value, int64_t index);
  mlir::SmallVector<mlir::Value> pieces(mlir::Value value);
  // An element of an operand, as a scalar: read from memory by itself where that is how its vector is read.
  mlir::Value scalar(mlir::Value value, int64_t element);
  // How to read the operand where the builder stands, or later in the rule; null where it is not in memory, or may have
  // been overwritten since.
  const VectorAccess *deferredRead(mlir::Value value);
  // A scalar in all elements of a piece.
  mlir::Value splat(mlir::Value scalar, int64_t length);
  // A mask of the first `count` lanes, an index that may be negative or beyond the length.
  mlir::Value maskOfFirst(mlir::Location loc, mlir::Value count, int64_t length);
  mlir::Value constant(mlir::TypedAttr value);

  // An element of a piece.
  struct Lane {
    mlir::Value vector; // null: any value will do
    int64_t index = 0;
  };
  Lane lane(mlir::Value value, int64_t element);
  // A vector that is put together from lanes.
  mlir::Value assemble(mlir::Location loc, mlir::Type elementType, mlir::ArrayRef<Lane> lanes);
  // Columns of a matrix whose rows are given, vectors of equal length: the first `count`, each with an element for each
  // row. There are at most as many rows as lanes of a piece. Built as a network of interleaving shuffles.
  mlir::SmallVector<mlir::Value> transpose(mlir::Location loc, mlir::ArrayRef<mlir::Value> rows, int64_t count);

  // What the result of the operation is from now on.
  void define(mlir::Value result, mlir::SmallVector<mlir::Value> pieces);
  // For a result that is read from memory: now, or where its pieces are needed.
  void defineRead(mlir::Value result, std::unique_ptr<VectorAccess> access);
  // Another value of the same type, that is defined already.
  void alias(mlir::Value result, mlir::Value same);
  // Rewrites an operation that a rule has just made, and that stands before the builder.
  mlir::LogicalResult process(mlir::Operation *op);
  // Says that nothing uses the operation any more once the rewriting is done.
  void retire(mlir::Operation *op) { dead.push_back(op); }
  // What was found out about when `op` may happen holds for `other` too.
  void replaceBy(mlir::Operation *op, mlir::Operation *other) {
    if (deferrable.contains(op))
      deferrable.insert(other);
  }

private:
  struct State;

  State &state(mlir::Value value);
  mlir::Value whole(mlir::Value value);
  mlir::LogicalResult processBlock(mlir::Block &block);
  mlir::LogicalResult checkResults(mlir::Operation *op);
  mlir::LogicalResult applyRule(mlir::Operation *op, bool &handled);
  mlir::LogicalResult keep(mlir::Operation *op);
  void findDeferrableReads(mlir::Block &block);

  // Control flow that carries vectors.
  mlir::LogicalResult splitRegionOp(mlir::Operation *op);
  void expandArguments(mlir::Block &block, unsigned first);
  mlir::SmallVector<mlir::Type> flattenTypes(mlir::TypeRange types) const;
  mlir::SmallVector<mlir::Value> flatten(mlir::ValueRange values);
  void defineAll(mlir::ValueRange results, mlir::ValueRange flat);

  mlir::func::FuncOp func;
  SplitLimits options;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, std::unique_ptr<State>> states;
  llvm::DenseMap<mlir::Value, mlir::Value> aliases;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> splats;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseSet<mlir::Operation *> deferrable, flattened; // reads; operations whose terminators carry pieces
  mlir::SmallVector<mlir::Operation *> dead;
  mlir::SmallVector<mlir::BlockArgument> staleArguments;
  bool unsplit = false;
};

// The rules, by source file. Each is given an operation, and sets `handled` where it has rewritten it.
mlir::LogicalResult splitElementwise(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitShapeOp(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitMemoryOp(VectorSplitter &splitter, mlir::Operation *op, bool &handled);
mlir::LogicalResult splitContraction(VectorSplitter &splitter, mlir::Operation *op, mlir::Value mask, bool &handled);
mlir::LogicalResult splitReduction(VectorSplitter &splitter, mlir::Operation *op, mlir::Value mask, bool &handled);
mlir::LogicalResult splitMasking(VectorSplitter &splitter, mlir::Operation *op, bool &handled);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_VECTORS_VECTORSPLITTER_H
