// What is computed, element by element, of the result of a product or a convolution, while that is in registers.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEPILOGUE_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEPILOGUE_H

#include "kiln/targets/cpu/codegen/strategy/KernelPlan.h"

namespace kiln {

struct Epilogue {
  mlir::linalg::LinalgOp op;               // null: none
  llvm::SmallVector<mlir::AffineMap> maps; // of its operands, from the loops of the operation before
  llvm::SmallVector<unsigned> loops;       // that its own are there
};

// The operation behind `op` that can be computed with it.
Epilogue findEpilogue(mlir::linalg::LinalgOp op, const KernelPlan &plan, const KernelTarget &target);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEPILOGUE_H
