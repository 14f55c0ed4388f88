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

// What transform.kiln.trace ops leave behind while a spec runs.
class TraceExtension : public mlir::transform::TransformState::Extension {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TraceExtension)
  // `current` becomes the op that runs; it must outlive the state.
  TraceExtension(mlir::transform::TransformState &state, mlir::Operation *&current)
      : Extension(state), current(current) {}
  void enter(mlir::Operation *op) { current = op; }

private:
  mlir::Operation *&current;
};

// Makes the extension known, and upstream's extensions that specs use.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_H
