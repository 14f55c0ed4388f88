// Passes that only tests run: no phase has them. kiln-opt knows them by name, and kiln-lying-compile, which tests use
// in place of kiln-compile, adds them to its input phase.
#ifndef KILN_COMPILER_TESTING_TESTING_H
#define KILN_COMPILER_TESTING_TESTING_H

#include "mlir/Pass/Pass.h"

namespace kiln {

// What a kernel has to wait for, on the ops of a program and then on the kernel's function: iterations of an empty
// loop.
inline constexpr llvm::StringLiteral kDelayAttr = "kiln.delay";

void registerTestingPasses();

#define GEN_PASS_DECL
#include "kiln/compiler/testing/TestingPasses.h.inc"

} // namespace kiln

#endif // KILN_COMPILER_TESTING_TESTING_H
