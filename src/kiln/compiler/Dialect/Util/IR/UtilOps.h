// The util dialect: functions, globals and bytes of the host program. See UtilOps.td.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_H
#define KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/compiler/Dialect/Util/IR/UtilDialect.h.inc"
#include "kiln/compiler/Dialect/Util/IR/UtilEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h.inc"

namespace kiln::Util {

// On a global that holds what depends on constants alone: it is set once, and what it holds is only read.
inline constexpr llvm::StringLiteral kComputedOnce = "kiln.computed_once";

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_H
