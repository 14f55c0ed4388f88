// The stream dialect: scheduling, lifetimes and the memory plan. See StreamOps.td.
#ifndef KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_H
#define KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamDialect.h.inc"
#include "kiln/compiler/Dialect/Stream/IR/StreamEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h.inc"

#endif // KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_H
