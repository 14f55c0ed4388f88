// Mathematical functions of f32 as polynomials, without branches, for scalars and vectors alike.
#ifndef KILN_COMPILER_CODEGEN_POLYNOMIALS_H
#define KILN_COMPILER_CODEGEN_POLYNOMIALS_H

#include "kiln/compiler/Interfaces/FloatBuilder.h"

#include "llvm/ADT/StringRef.h"

namespace kiln {

struct PolynomialFunction {
  llvm::StringLiteral name; // of the op, "math.exp"
  // Largest distance from the correctly rounded result, over all f32, on a CPU with fused multiply-add. Infinities,
  // NaNs and signs of zero are those of the C library.
  double ulp;
  mlir::Value (*build)(FloatBuilder &f, mlir::Value x);
};

// For math.exp with kAtMostZeroAttr, and with kVanishesAttr.
mlir::Value buildExpAtMostZero(FloatBuilder &f, mlir::Value x);
mlir::Value buildExpThatVanishes(FloatBuilder &f, mlir::Value x);
// For math.exp that is added to one, which does not notice what is smaller than e^-86.
mlir::Value buildExpAddedToOne(FloatBuilder &f, mlir::Value x);

// All of them; what is not here, or not of f32, is the C library's.
llvm::ArrayRef<PolynomialFunction> polynomialFunctions();
const PolynomialFunction *findPolynomialFunction(llvm::StringRef name);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_POLYNOMIALS_H
