// Ops of specs that find a part of a program. See SubgraphOps.td.
#ifndef KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_H
#define KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "kiln/compiler/TransformOps/SubgraphOps.h.inc"

namespace kiln {

// On what transform.util.import_symbol has copied into a program.
inline constexpr llvm::StringLiteral kImportedAttr = "kiln.imported";

// Makes them known, with the dialects that they create ops of.
void registerSubgraphOps(mlir::DialectRegistry &registry);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_H
