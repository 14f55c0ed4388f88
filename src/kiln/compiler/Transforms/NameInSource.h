// The names that users know ops by, for errors: an op that a pass made of another one keeps the name of that one.
#ifndef KILN_COMPILER_TRANSFORMS_NAMEINSOURCE_H
#define KILN_COMPILER_TRANSFORMS_NAMEINSOURCE_H

#include "mlir/IR/Operation.h"

namespace kiln {

inline constexpr llvm::StringLiteral kNameInSource = "kiln.name_in_source";

inline llvm::StringRef nameInSource(mlir::Operation *op) {
  auto name = op->getAttrOfType<mlir::StringAttr>(kNameInSource);
  return name ? name.getValue() : op->getName().getStringRef();
}

// `op` was made of `written`. kiln-insert-checks, the last pass that tells of names, removes what is kept here.
inline void keepNameInSource(mlir::Operation *op, mlir::Operation *written) {
  op->setAttr(kNameInSource, mlir::StringAttr::get(op->getContext(), nameInSource(written)));
}

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMS_NAMEINSOURCE_H
