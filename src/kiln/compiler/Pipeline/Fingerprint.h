// What a function computes, in a form that does not depend on how it is spelled.
#ifndef KILN_COMPILER_PIPELINE_FINGERPRINT_H
#define KILN_COMPILER_PIPELINE_FINGERPRINT_H

#include <optional>
#include <string>

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// 32 hexadecimal digits. Two functions with the same ones take and give the same types, and compute each element of
// their results by the same arithmetic in the same types, whatever ops say so: named ones or linalg.generic, fused or
// not, with transpositions as ops or as indexing maps, with loops and operands of commutative ops in any order. The
// order of a reduction is the one thing that is left open. Nothing for what is not written as linalg on tensors of
// static shapes, or is too large to be one operation. `function` is as the input phase leaves it.
std::optional<std::string> fingerprint(mlir::func::FuncOp function);

// The float type with the fewest bits in its significand of all that the function computes in: "bf16". Nothing where it
// computes in none.
std::optional<std::string> narrowestFloat(mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_COMPILER_PIPELINE_FINGERPRINT_H
