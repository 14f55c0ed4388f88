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

// The file appears when all of it is written. An error at `op` says why not.
mlir::LogicalResult writeDump(mlir::Operation *op, const std::string &path,
                              llvm::function_ref<void(llvm::raw_ostream &)> print);

// The files of one executable that a user asked for; an empty folder means none.
class ExecutableDump {
public:
  ExecutableDump(mlir::Operation *op, llvm::StringRef folder, llvm::StringRef baseName)
      : op(op), folder(folder), baseName(baseName) {}

  bool wanted() const { return !folder.empty(); }

  // The file <base name><suffix>; an error at the op where it cannot be written.
  mlir::LogicalResult write(llvm::StringRef suffix, llvm::function_ref<void(llvm::raw_ostream &)> print) const;

private:
  mlir::Operation *op;
  llvm::StringRef folder, baseName;
};

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_DUMPFILES_H
