// The check dialect: what a test program expects of its values. See CheckOps.td.
#ifndef KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_H
#define KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/Check/IR/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Check/IR/CheckOps.h.inc"

#endif // KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_H
