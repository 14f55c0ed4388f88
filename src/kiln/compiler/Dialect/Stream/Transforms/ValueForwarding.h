// Which values of a program are other names for the same memory: control flow, selects and barriers pass resources on
// without a copy.
#ifndef KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_VALUEFORWARDING_H
#define KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_VALUEFORWARDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/MapVector.h"

namespace kiln::Stream {

// Holds while operations that pass values on keep their places; their operands may be set to others.
class ValueForwarding {
public:
  explicit ValueForwarding(mlir::Operation *root);

  // The values that an operand may become.
  llvm::ArrayRef<mlir::Value> targets(mlir::OpOperand &use) const;

  // The operands that a value may come from; none where its operation makes it.
  llvm::ArrayRef<mlir::OpOperand *> sources(mlir::Value value) const;

  // All values that have sources, in the order of the program.
  auto passedOn() const { return llvm::make_first_range(sourcesOf); }

private:
  void add(mlir::OpOperand &from, mlir::Value to);

  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<mlir::Value, 2>> targetsOf;
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::OpOperand *, 2>> sourcesOf;
};

} // namespace kiln::Stream

#endif // KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_VALUEFORWARDING_H
