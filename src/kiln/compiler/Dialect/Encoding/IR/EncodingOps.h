// The encoding dialect: how elements of a tensor lie in memory. See EncodingOps.td.
#ifndef KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_H
#define KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "kiln/compiler/Dialect/Encoding/IR/EncodingDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Encoding/IR/EncodingAttrs.h.inc"

namespace kiln::Encoding {

// Whether the type is a tensor whose elements are said to be packed.
bool isPacked(mlir::Type type);

} // namespace kiln::Encoding

#endif // KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_H
