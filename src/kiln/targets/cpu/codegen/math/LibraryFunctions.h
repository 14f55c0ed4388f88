// Functions of the C library that kernels may call, of single values and of vectors. They are all that a kernel may
// call: the CPU driver resolves them when it loads the object, and the runtime brings the mathematical libraries along.
#ifndef KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H

#include <string>

#include "llvm/ADT/StringRef.h"

namespace kiln {

struct CpuTarget;

// The function of f64 for an op, "exp" for "math.exp", or "". That of f32 has an f at the end.
llvm::StringRef libraryFunctionOf(llvm::StringRef op);
// Whether the C library has these functions for vectors, too: glibc's libmvec for x86-64, of all of them. Their results
// are within 4 ULP, and infinities, NaNs and signs of zero are those of the functions of single values.
bool hasVectorFunctions(const CpuTarget &target);
inline constexpr double kVectorFunctionUlp = 4;
// The name of `function`, "sinf", for vectors of that many bits (128, 256, 512) and lanes, as the vector ABI of x86-64
// spells it: "_ZGVdN8v_sinf".
std::string vectorFunctionName(llvm::StringRef function, unsigned operands, int64_t bits, int64_t lanes,
                               const CpuTarget &target);
// Whether `name` is one of all these, of f64 or f32.
bool isLibraryFunction(llvm::StringRef name);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_MATH_LIBRARYFUNCTIONS_H
