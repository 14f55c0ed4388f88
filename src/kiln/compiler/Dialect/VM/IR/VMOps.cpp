#include "kiln/compiler/Dialect/VM/IR/VMOps.h"

#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::VM;
using kiln::Util::parseSymbolVisibility;
using kiln::Util::printSymbolVisibility;

#include "kiln/compiler/Dialect/VM/IR/VMDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/VM/IR/VMTypes.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/VM/IR/VMOps.cpp.inc"

void VMDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/compiler/Dialect/VM/IR/VMTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/VM/IR/VMOps.cpp.inc"
      >();
}

void kiln::VM::ModuleOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!isa_and_nonnull<FuncOp, ImportOp>(callee))
    return emitOpError("calls ") << getCalleeAttr() << ", which is neither a function nor an import of the module";
  return success();
}
