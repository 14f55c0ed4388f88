// Loops of the program whose state is tensors.
#ifndef KILN_COMPILER_INPUT_ONNX_LOOPS_H
#define KILN_COMPILER_INPUT_ONNX_LOOPS_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// The least special type that both have.
mlir::RankedTensorType commonType(mlir::RankedTensorType a, mlir::RankedTensorType b);
mlir::Value castTo(Emitter &e, mlir::RankedTensorType type, mlir::Value tensor);
// With its extents as the program has them.
Value valueOf(Emitter &e, mlir::Value tensor, DataType type);

// A loop of `count` turns, or of as many as its condition says. The body is imported again with less special types
// where it gives the state others than it had.
class LoopBuilder {
public:
  LoopBuilder(NodeLowering &n, llvm::SmallVector<Value> states);

  // What a turn gives: the states that follow, and slices that are collected along dimensions.
  struct Turn {
    llvm::SmallVector<Value> states, collected;
    mlir::Value goesOn; // i1; null where all turns are taken
  };
  using Body =
      llvm::function_ref<mlir::FailureOr<Turn>(mlir::Value turn, mlir::Value goesOn, llvm::ArrayRef<Value> states)>;

  // Gives the last states, and what was collected of each turn along its axis, from the end on where that is so.
  mlir::LogicalResult run(mlir::Value count, mlir::Value goesOn, llvm::ArrayRef<int64_t> axes,
                          llvm::ArrayRef<bool> fromEnd, Body body, llvm::SmallVectorImpl<Value> &results);

private:
  // Whether it is to be tried again is the second.
  std::pair<mlir::LogicalResult, bool> tryOnce(mlir::Value count, mlir::Value goesOn, llvm::ArrayRef<int64_t> axes,
                                               llvm::ArrayRef<bool> fromEnd, Body body,
                                               llvm::SmallVectorImpl<Value> &results);
  llvm::SmallVector<Value> arguments(mlir::Block &block);

  NodeLowering &n;
  Emitter &e;
  llvm::SmallVector<Value> states;
  llvm::SmallVector<mlir::RankedTensorType> types;
};

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_LOOPS_H
