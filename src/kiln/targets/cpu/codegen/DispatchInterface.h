// How a dispatch function meets the executable ABI (kiln/schema/executable_abi.h).
#ifndef KILN_TARGETS_CPU_CODEGEN_DISPATCHINTERFACE_H
#define KILN_TARGETS_CPU_CODEGEN_DISPATCHINTERFACE_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace kiln {

// On the ABI function: how many bytes of local memory it needs, an i64.
inline constexpr llvm::StringLiteral localMemoryBytesAttr = "hal.local_memory_bytes";
// On a dispatch that returns a status, and then on its ABI function: an array of texts. Status n > 0 is the n-th of
// them.
inline constexpr llvm::StringLiteral assertMessagesAttr = "hal.assert_messages";

// Whether the function is called by the runtime: in a variant, the exports; elsewhere every public function.
bool isDispatch(mlir::func::FuncOp func);

// Turns a dispatch into two functions: `<name>`, with the ABI's signature, loads what the dispatch uses from the two
// state pointers and calls `<name>.body`, which takes each binding as a pointer of its own. LLVM inlines the body; it
// is split off because there the arguments can say `noalias`, which inlining turns into alias scopes on every access.
//
// The ops of hal.interface in `func` are replaced; `func` becomes the body. It must have no arguments but local memory,
// and no results but a status, an i32. Returns the ABI function.
mlir::FailureOr<mlir::LLVM::LLVMFuncOp> splitDispatch(mlir::func::FuncOp func,
                                                      const mlir::LLVMTypeConverter &converter);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_DISPATCHINTERFACE_H
