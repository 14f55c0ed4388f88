// Writes the loops over vectors of one linalg operation, as a KernelPlan has it.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEMITTER_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEMITTER_H

#include "kiln/targets/cpu/codegen/strategy/KernelEpilogue.h"
#include "kiln/targets/cpu/codegen/strategy/KernelPlan.h"

#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Replaces `op`, which works on memory, by loops in scf, vector, memref, arith and math. `initialValues` holds for each
// init the scalar that all of its elements have, or null where they are in memory. What has an i1 in the body may be a
// byte in memory. `epilogue` is replaced as well, if there is one.
void emitKernel(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op, const KernelPlan &plan,
                const KernelTarget &target, llvm::ArrayRef<mlir::Value> initialValues, const Epilogue &epilogue = {});

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELEMITTER_H
