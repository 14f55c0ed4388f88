#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "kiln/compiler/Dialect/Util/IR/FunctionSyntax.h"
#include "kiln/compiler/Dialect/Util/IR/InlineAll.h"
#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::Util;

// ": type", or "= value" with ": type" behind it where the global's type is not the value's.
static ParseResult parseTypeOrValue(OpAsmParser &parser, TypeAttr &type, TypedAttr &value) {
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(value))
      return failure();
    type = TypeAttr::get(value.getType());
    if (failed(parser.parseOptionalColon()))
      return success();
  } else if (parser.parseColon()) {
    return failure();
  }
  return parser.parseAttribute(type);
}

static void printTypeOrValue(OpAsmPrinter &printer, Operation *, TypeAttr type, TypedAttr value) {
  if (value)
    printer << "= " << value;
  if (value && value.getType() == type.getValue())
    return;
  printer << (value ? " : " : ": ") << type;
}

Attribute BytePatternAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  uint64_t pattern = 0;
  if (parser.parseLess() || parser.parseInteger(pattern) || parser.parseGreater())
    return {};
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  unsigned bits = tensor && tensor.getElementType().isIntOrFloat() ? tensor.getElementTypeBitWidth() : 0;
  if (!tensor || !tensor.hasStaticShape() || bits == 0 || bits % 8 != 0 || pattern > 255) {
    parser.emitError(loc, "a byte pattern is a byte, for a tensor of known shape whose elements are bytes");
    return {};
  }
  SmallVector<char> element(bits / 8, static_cast<char>(pattern));
  return DenseElementsAttr::getFromRawBuffer(tensor, element);
}
void BytePatternAttr::print(AsmPrinter &printer) const {
  printer << "<>"; // nothing makes one
}

#include "kiln/compiler/Dialect/Util/IR/UtilDialect.cpp.inc"
#include "kiln/compiler/Dialect/Util/IR/UtilEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilTypes.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Util/IR/UtilOps.cpp.inc"

void UtilDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/Util/IR/UtilAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/compiler/Dialect/Util/IR/UtilTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/Util/IR/UtilOps.cpp.inc"
      >();
  addInterface<InlineAll>();
}

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  buildFunction<FuncOp>(builder, state, name, type);
}
ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<FuncOp>(parser, result);
}
void FuncOp::print(OpAsmPrinter &printer) {
  printFunction(printer, *this);
}

CallInterfaceCallable CallOp::getCallableForCallee() {
  return getCalleeAttr();
}
void CallOp::setCalleeFromCallable(CallInterfaceCallable callee) {
  setCalleeAttr(cast<FlatSymbolRefAttr>(cast<SymbolRefAttr>(callee)));
}
Operation::operand_range CallOp::getArgOperands() {
  return getOperands();
}
MutableOperandRange CallOp::getArgOperandsMutable() {
  return getOperandsMutable();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls ") << getCalleeAttr() << ", which is not a function of the module";
  if (callee.getArgumentTypes() != ArrayRef<Type>(llvm::to_vector(getOperandTypes())) ||
      callee.getResultTypes() != ArrayRef<Type>(llvm::to_vector(getResultTypes())))
    return emitOpError("has operands or results that are not those of ") << getCalleeAttr();
  return success();
}

static LogicalResult verifyGlobalUse(Operation *op, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(op, name);
  if (!global)
    return op->emitOpError("names ") << name << ", which is not a global of the module";
  if (global.getType() != type)
    return op->emitOpError("has type ") << type << ", but the global has type " << global.getType();
  return success();
}

LogicalResult GlobalLoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyGlobalUse(*this, getGlobalAttr(), getType(), symbols);
}

LogicalResult GlobalStoreOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (failed(verifyGlobalUse(*this, getGlobalAttr(), getValue().getType(), symbols)))
    return failure();
  auto global = symbols.lookupNearestSymbolFrom<GlobalOp>(*this, getGlobalAttr());
  if (!global.getIsMutable() && !(*this)->getParentOfType<InitializerOp>())
    return emitOpError("sets ") << getGlobalAttr() << ", which is not mutable, outside of an initializer";
  return success();
}

LogicalResult GlobalOp::verify() {
  if (TypedAttr value = getInitialValueAttr())
    if (value.getType() != getType() && (getElementTypeOrSelf(value.getType()) != getElementTypeOrSelf(getType()) ||
                                         failed(verifyCompatibleShape(value.getType(), getType()))))
      return emitOpError("has type ") << getType() << ", but its initial value has type " << value.getType();
  return success();
}
