// The hal dialect: executables, and what the host program asks of the runtime. See HALOps.td.
#ifndef KILN_COMPILER_DIALECT_HAL_IR_HALOPS_H
#define KILN_COMPILER_DIALECT_HAL_IR_HALOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/base/tile_config.h"

namespace kiln {
// What attributes that hold a configuration are told apart by, besides ==.
llvm::hash_code hash_value(const TileConfig &config);
} // namespace kiln

#include "kiln/compiler/Dialect/HAL/IR/HALDialect.h.inc"
#include "kiln/compiler/Dialect/HAL/IR/HALEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALTypes.h.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h.inc"

namespace kiln::HAL {

// Of an argument of a public function: its memory is the program's from the call on, which may give results in it.
inline constexpr llvm::StringLiteral kDonatedAttr = "kiln.donated";

// The number of an element type in kiln/schema/element_type.def, or 0 for a type that has none. `index` is stored as
// i64.
int32_t elementTypeNumber(mlir::Type type);

// The bytes that one element takes in memory: whole bytes, i1 takes one.
int64_t elementByteWidth(mlir::Type type);

// The bits that an element takes in a buffer view, where elements of less than a byte stand packed, the first in the
// lowest bits; an i1 takes a byte.
int64_t packedBitWidth(mlir::Type element);
// The same of a tensor's elements: truth values that it says are packed take a bit.
int64_t packedBitWidth(mlir::RankedTensorType type);

// Whether no code is generated for the element type itself: i2, i4, and floats of at most 8 bits.
bool isNarrowElement(mlir::Type type);
// What is wrong with the bytes of a dense_resource; empty where nothing is, and for constants of other forms.
std::string problemOfBytes(mlir::ElementsAttr elements);

} // namespace kiln::HAL

#endif // KILN_COMPILER_DIALECT_HAL_IR_HALOPS_H
