// How the function ops of all dialects are built and written: as func.func is.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_FUNCTIONSYNTAX_H
#define KILN_COMPILER_DIALECT_UTIL_IR_FUNCTIONSYNTAX_H

#include "mlir/Interfaces/FunctionImplementation.h"

namespace kiln::Util {

template <typename FuncOp>
void buildFunction(mlir::OpBuilder &builder, mlir::OperationState &state, llvm::StringRef name,
                   mlir::FunctionType type) {
  state.addAttribute(mlir::SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(FuncOp::getFunctionTypeAttrName(state.name), mlir::TypeAttr::get(type));
  state.addRegion();
}

template <typename FuncOp> mlir::ParseResult parseFunction(mlir::OpAsmParser &parser, mlir::OperationState &result) {
  auto buildType = [](mlir::Builder &builder, llvm::ArrayRef<mlir::Type> arguments, llvm::ArrayRef<mlir::Type> results,
                      mlir::function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, FuncOp::getFunctionTypeAttrName(result.name), buildType,
      FuncOp::getArgAttrsAttrName(result.name), FuncOp::getResAttrsAttrName(result.name));
}

template <typename FuncOp> void printFunction(mlir::OpAsmPrinter &printer, FuncOp op) {
  mlir::function_interface_impl::printFunctionOp(printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(),
                                                 op.getArgAttrsAttrName(), op.getResAttrsAttrName());
}

} // namespace kiln::Util

#endif // KILN_COMPILER_DIALECT_UTIL_IR_FUNCTIONSYNTAX_H
