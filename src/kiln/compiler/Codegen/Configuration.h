// The configuration that an op of the source program carries for its dispatch: {kiln.configuration =
// "tile_config_..."}.
#ifndef KILN_COMPILER_CODEGEN_CONFIGURATION_H
#define KILN_COMPILER_CODEGEN_CONFIGURATION_H

#include "kiln/base/tile_config.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// The op of a dispatch that carries one, or null.
mlir::Operation *findConfigured(mlir::func::FuncOp function);

// Takes the configuration off the op that carries it; nullopt where none does. What is no configuration is an error.
mlir::FailureOr<std::optional<TileConfig>> takeConfiguration(mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_CONFIGURATION_H
