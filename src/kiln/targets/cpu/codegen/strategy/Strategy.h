// What the passes of this folder share about strategies and their configurations.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGY_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGY_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// Whether this target can follow the strategy and the configuration; the error at the function says what is wrong.
mlir::LogicalResult verifyLowering(mlir::func::FuncOp function, HAL::LoweringAttr lowering);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGY_H
