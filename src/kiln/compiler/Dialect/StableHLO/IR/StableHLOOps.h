// Operations of StableHLO that Kiln takes. See StableHLOOps.td.
#ifndef KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H
#define KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/StableHLO/IR/StableHLODialect.h.inc"
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOAttrs.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h.inc"

#endif // KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_H
