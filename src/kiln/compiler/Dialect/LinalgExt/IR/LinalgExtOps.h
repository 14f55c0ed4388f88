// Operations on tensors that linalg lacks. See LinalgExtOps.td.
#ifndef KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_H
#define KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtDialect.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h.inc"

#endif // KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_H
