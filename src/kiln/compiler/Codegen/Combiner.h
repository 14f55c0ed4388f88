// How a reduction combines what it reads with what it has so far.
#ifndef KILN_COMPILER_CODEGEN_COMBINER_H
#define KILN_COMPILER_CODEGEN_COMBINER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

// The op of the body that combines an input with init `index`, where that is all that the body does with the init; null
// otherwise.
mlir::Operation *findCombiner(mlir::linalg::LinalgOp op, unsigned index);

// What changes nothing that it is combined with; nothing where upstream knows of none.
std::optional<mlir::TypedAttr> neutralElement(mlir::Operation *combiner);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_COMBINER_H
