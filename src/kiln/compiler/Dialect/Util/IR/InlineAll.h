// Lets the inliner take the operations of a dialect from one function into another: none of them minds where it is.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_INLINEALL_H
#define KILN_COMPILER_DIALECT_UTIL_IR_INLINEALL_H

#include "mlir/Transforms/InliningUtils.h"

namespace kiln::Util {

struct InlineAll : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const override { return true; }
  // What is inlined into an initializer.
  bool isLegalToInline(mlir::Region *, mlir::Region *, bool, mlir::IRMapping &) const override { return true; }
};

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_INLINEALL_H
