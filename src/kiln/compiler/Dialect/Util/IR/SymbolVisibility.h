// The assembly of a symbol's visibility, `private` or `public` before its name, for all dialects'
// custom<SymbolVisibility>.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_SYMBOLVISIBILITY_H
#define KILN_COMPILER_DIALECT_UTIL_IR_SYMBOLVISIBILITY_H

#include "mlir/IR/OpImplementation.h"

namespace kiln::Util {

inline mlir::ParseResult parseSymbolVisibility(mlir::OpAsmParser &parser, mlir::StringAttr &visibility) {
  llvm::StringRef keyword;
  if (mlir::succeeded(parser.parseOptionalKeyword(&keyword, {"public", "private"})))
    visibility = parser.getBuilder().getStringAttr(keyword);
  return mlir::success();
}

inline void printSymbolVisibility(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr visibility) {
  if (visibility)
    printer << visibility.getValue();
}

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_SYMBOLVISIBILITY_H
