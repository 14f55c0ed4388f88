// Where dumps of a compilation go.
#ifndef KILN_COMPILER_INTERFACES_DUMPFILES_H
#define KILN_COMPILER_INTERFACES_DUMPFILES_H

#include "mlir/IR/Operation.h"

namespace kiln {

// With the folders above it. An error at `op` says why not.
mlir::LogicalResult makeDumpFolder(mlir::Operation *op, llvm::StringRef folder);

// The path of a file there. Names come from symbols, which may hold anything: what no name of a file may hold, and
// white space, is an underscore.
std::string dumpPath(llvm::StringRef folder, const llvm::Twine &name);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_DUMPFILES_H
