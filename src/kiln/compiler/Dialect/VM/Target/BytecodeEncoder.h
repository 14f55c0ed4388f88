// Encodes a module of the vm dialect as a module file, or as C.
#ifndef KILN_COMPILER_DIALECT_VM_TARGET_BYTECODEENCODER_H
#define KILN_COMPILER_DIALECT_VM_TARGET_BYTECODEENCODER_H

#include "kiln/compiler/Dialect/VM/IR/VMOps.h"
#include "kiln/schema/module_writer.h"

namespace kiln::VM {

// Writes the container to `sink`. Errors are diagnostics at the op that cannot be encoded; an error of the sink is one
// at the module.
mlir::LogicalResult encodeModule(ModuleOp module, const schema::ByteSink &sink);
// The same as C (kiln/schema/c_writer.h).
mlir::LogicalResult writeModuleAsC(ModuleOp module, const schema::ByteSink &sink);

} // namespace kiln::VM

#endif // KILN_COMPILER_DIALECT_VM_TARGET_BYTECODEENCODER_H
