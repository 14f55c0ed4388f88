// Constants of a program that leave it: parameters, which lie in an archive beside it.
#ifndef KILN_COMPILER_TRANSFORMS_PARAMETERS_H
#define KILN_COMPILER_TRANSFORMS_PARAMETERS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace kiln {

struct ParameterExport {
  std::string scope, path;                       // where no path is given, no archive is written
  int64_t minimumBytes = 0, minimumElements = 0; // of what leaves
  // Whether a global stands for each, as in a program's source.
  bool asGlobals = false;
};

// Replaces each constant that is large enough, unless all of its elements are the same, by a parameter that is named
// after it, and writes the archive. An error is told at the module.
llvm::LogicalResult exportParameters(mlir::ModuleOp module, const ParameterExport &options);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMS_PARAMETERS_H
