// What must be known of a program before MLIR's verifier may look at it.
#ifndef KILN_COMPILER_PIPELINE_GUARDVERIFIER_H
#define KILN_COMPILER_PIPELINE_GUARDVERIFIER_H

#include "mlir/IR/Operation.h"

namespace kiln {

// Rejects, at the op, what MLIR 22 parses and its verifiers then read beyond their arrays for. Parse without verifying,
// call this, then verify.
mlir::LogicalResult guardVerifier(mlir::Operation *program);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_GUARDVERIFIER_H
