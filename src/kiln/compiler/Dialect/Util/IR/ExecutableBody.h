// What the executables of the flow and the stream phase hold.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_EXECUTABLEBODY_H
#define KILN_COMPILER_DIALECT_UTIL_IR_EXECUTABLEBODY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln::Util {

// Fails, after an error, unless the executable holds a module whose first function is one block that ends with
// func.return.
inline mlir::LogicalResult verifyExecutableBody(mlir::Operation *executable) {
  auto modules = executable->getRegion(0).getOps<mlir::ModuleOp>();
  if (!modules.empty()) {
    auto functions = (*modules.begin()).getOps<mlir::func::FuncOp>();
    if (!functions.empty()) {
      mlir::Region &body = (*functions.begin()).getFunctionBody();
      if (body.hasOneBlock() && body.front().mightHaveTerminator() &&
          llvm::isa<mlir::func::ReturnOp>(body.front().back()))
        return mlir::success();
    }
  }
  return executable->emitOpError("holds no module with a function of one block that it could run");
}

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_EXECUTABLEBODY_H
