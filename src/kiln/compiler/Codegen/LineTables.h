// Lines of the MLIR source in the code that is made of it.
#ifndef KILN_COMPILER_CODEGEN_LINETABLES_H
#define KILN_COMPILER_CODEGEN_LINETABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Gives the functions of a module in the LLVM dialect what translateModuleToLLVMIR needs to turn locations into debug
// information. `kind` says how much of it the target's code shall have.
mlir::LogicalResult addLineTables(mlir::ModuleOp module, mlir::LLVM::DIEmissionKind kind);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_LINETABLES_H
