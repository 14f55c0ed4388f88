// The vm dialect: the host program as the VM runs it. See VMOps.td.
#ifndef KILN_COMPILER_DIALECT_VM_IR_VMOPS_H
#define KILN_COMPILER_DIALECT_VM_IR_VMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/VM/IR/VMDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/VM/IR/VMTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/VM/IR/VMOps.h.inc"

#endif // KILN_COMPILER_DIALECT_VM_IR_VMOPS_H
