// Functions of the C library that kernels may call. They are all that a kernel may call: the CPU driver resolves them
// when it loads the object, and the runtime brings the mathematical library along.
#ifndef KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace kiln {

// The function of f64 for an op, "exp" for "math.exp", or "". That of f32 has an f at the end.
llvm::StringRef libraryFunctionOf(llvm::StringRef op);
// Whether `name` is one of these, of f64 or f32.
bool isLibraryFunction(llvm::StringRef name);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H
