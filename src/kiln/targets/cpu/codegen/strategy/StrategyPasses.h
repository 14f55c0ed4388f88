// The passes of StrategyPasses.td.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h.inc"

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_H
