#include "kiln/compiler/Dialect/VM/IR/VMOps.h"

#include "kiln/compiler/Dialect/Util/IR/FunctionSyntax.h"
#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/DialectImplementation.h"
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
  kiln::Util::buildFunction<FuncOp>(builder, state, name, type);
}
ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  return kiln::Util::parseFunction<FuncOp>(parser, result);
}
void FuncOp::print(OpAsmPrinter &printer) {
  kiln::Util::printFunction(printer, *this);
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!isa_and_nonnull<FuncOp, ImportOp>(callee))
    return emitOpError("calls ") << getCalleeAttr() << ", which is neither a function nor an import of the module";
  return success();
}
