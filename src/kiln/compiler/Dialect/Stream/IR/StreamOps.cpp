#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/ExecutableBody.h"
#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::Stream;
using kiln::Util::parseSymbolVisibility;
using kiln::Util::printSymbolVisibility;

#include "kiln/compiler/Dialect/Stream/IR/StreamDialect.cpp.inc"
#include "kiln/compiler/Dialect/Stream/IR/StreamEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamTypes.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.cpp.inc"

Attribute NamedParameterAttr::parse(AsmParser &parser, Type type) {
  return kiln::Flow::NamedParameterAttr::parse(parser, type);
}
void NamedParameterAttr::print(AsmPrinter &printer) const {
  printer << "<>"; // nothing makes one
}

void StreamDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/compiler/Dialect/Stream/IR/StreamTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/Stream/IR/StreamAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.cpp.inc"
      >();
}

LogicalResult ExecutableOp::verify() {
  return kiln::Util::verifyExecutableBody(*this);
}

void ExecutableOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymVisibilityAttrName(state.name), builder.getStringAttr("private"));
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}
