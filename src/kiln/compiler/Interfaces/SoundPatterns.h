// MLIR's rewrites, without those that change what a program computes.
#ifndef KILN_COMPILER_INTERFACES_SOUNDPATTERNS_H
#define KILN_COMPILER_INTERFACES_SOUNDPATTERNS_H

#include "mlir/Pass/PassManager.h"

namespace kiln {

// Names of the patterns that are left out; what rewrites operations on tensors gives them as disabled patterns.
llvm::ArrayRef<std::string> unsoundPatterns();

// Of all dialects, or of one only.
std::unique_ptr<mlir::Pass> createSoundCanonicalizerPass(llvm::StringRef only = "");

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_SOUNDPATTERNS_H
