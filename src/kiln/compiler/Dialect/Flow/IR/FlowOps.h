// The flow dialect: tensors between dispatches. See FlowOps.td.
#ifndef KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_H
#define KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Flow/IR/FlowAttrs.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h.inc"

#endif // KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_H
