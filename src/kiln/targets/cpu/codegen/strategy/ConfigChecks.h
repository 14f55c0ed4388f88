// Whether a configuration that the program asks for means something for what it stands on.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGCHECKS_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGCHECKS_H

#include "kiln/compiler/Codegen/DispatchRoot.h"

namespace kiln {

// A part of the configuration that elementwise operations and reductions over rows would not follow is an error at
// `op`, which carries it: otherwise two configurations would be one program.
mlir::LogicalResult verifyConfigurationFits(mlir::Operation *op, const DispatchRoot &root, const TileConfig &config);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_CONFIGCHECKS_H
