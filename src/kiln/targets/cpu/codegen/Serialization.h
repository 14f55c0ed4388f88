// A translated variant as the bytes of an ELF shared object.
#ifndef KILN_TARGETS_CPU_CODEGEN_SERIALIZATION_H
#define KILN_TARGETS_CPU_CODEGEN_SERIALIZATION_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Interfaces/TargetBackend.h"

namespace kiln {

// Compiles the LLVM dialect that is in the variant's modules, for the variant's target: each module to an object file,
// on all threads of the context, and all objects to one shared object, whose bytes do not depend on the threads. With
// debug information, line tables lead from the code to the MLIR source. Where the options name folders, it leaves
// there, each with the options' base name, and the name of its first function where there are several modules:
// .codegen.ll (as translated), .optimized.ll, .optimized.bc, .s, .o; and the .so among the binaries. Errors are
// diagnostics at the variant.
mlir::LogicalResult serializeCpuVariant(HAL::ExecutableVariantOp variant, const SerializationOptions &options,
                                        bool debugInfo, llvm::SmallVectorImpl<char> &bytes);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_SERIALIZATION_H
