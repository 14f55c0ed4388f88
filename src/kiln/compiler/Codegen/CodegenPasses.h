// The passes of CodegenPasses.td, which the targets put into their pipelines.
#ifndef KILN_COMPILER_CODEGEN_CODEGENPASSES_H
#define KILN_COMPILER_CODEGEN_CODEGENPASSES_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

// On a dispatch's function that is distributed over workgroups and works on memory already.
inline constexpr llvm::StringLiteral distributedAttr = "kiln.distributed";
// The argument that PlaceAllocations adds to a function that needs local memory: memref<Nxi8>.
inline constexpr llvm::StringLiteral localMemoryArgAttr = "hal.local_memory";

#define GEN_PASS_DECL
#include "kiln/compiler/Codegen/CodegenPasses.h.inc"

// The dialects that these passes work on, and the interfaces that bufferization and tiling need of them.
void registerCodegenDialects(mlir::DialectRegistry &registry);

// Registers each pass under its name.
void registerCodegenPasses();

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_CODEGENPASSES_H
