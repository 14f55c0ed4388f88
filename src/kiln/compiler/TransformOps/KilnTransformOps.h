// Kiln's transform-dialect extension. See KilnTransformOps.td.
#ifndef KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_H
#define KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "kiln/compiler/TransformOps/KilnTransformOps.h.inc"

namespace kiln {

// Makes the extension known, and upstream's extensions that specs use.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_H
