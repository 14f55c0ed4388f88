// Remarks: decisions of the compiler that cost the program time, each told where it is made. They are part of the IR,
// so that they are the same at any number of threads, and are still there where a compilation stops and goes on later.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_REMARKS_H
#define KILN_COMPILER_DIALECT_UTIL_IR_REMARKS_H

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

namespace kiln::Util {

// The node of a model that a location is of, by its name; empty for a place in a text.
llvm::StringRef nodeOf(mlir::Location loc);

// Adds one to `holder`: an op that the pass may change. `function` is the function or dispatch that takes longer.
void addRemark(mlir::Operation *holder, Cost cost, mlir::Location loc, llvm::StringRef function,
               const llvm::Twine &text);

// Moves the remarks of all ops in `holder` to `holder` itself; for when they will be gone.
void gatherRemarks(mlir::Operation *holder);

// Removes those of `root` and of all in it.
void dropRemarks(mlir::Operation *root);

// Those of `root` and all in it, in the order of their places in the source.
llvm::SmallVector<RemarkAttr> remarksIn(mlir::Operation *root);

// How many there are of each kind: "copy 2, one_workgroup 1"; "none".
std::string summarizeRemarks(mlir::Operation *root);

// As YAML, in the form of LLVM's optimization remarks, which its tools read.
std::string remarksAsYaml(llvm::ArrayRef<RemarkAttr> remarks);

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_REMARKS_H
