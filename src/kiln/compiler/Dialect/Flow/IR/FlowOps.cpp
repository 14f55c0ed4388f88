#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "kiln/compiler/Dialect/Util/IR/ExecutableBody.h"
#include "kiln/compiler/Dialect/Util/IR/InlineAll.h"
#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::Flow;
using kiln::Util::parseSymbolVisibility;
using kiln::Util::printSymbolVisibility;

#include "kiln/compiler/Dialect/Flow/IR/FlowDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Flow/IR/FlowAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.cpp.inc"

void FlowDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/Flow/IR/FlowAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.cpp.inc"
      >();
  addInterface<kiln::Util::InlineAll>();
}

// <"scope"::"key"> or <"key">.
Attribute NamedParameterAttr::parse(AsmParser &parser, Type type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string first, second;
  bool hasScope = false;
  if (parser.parseLess() || parser.parseString(&first))
    return {};
  if (succeeded(parser.parseOptionalColon())) {
    hasScope = true;
    if (parser.parseColon() || parser.parseString(&second))
      return {};
  }
  // What other compilers say of a parameter beside its name changes nothing.
  DictionaryAttr ignored;
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(ignored))
    return {};
  if (parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return NamedParameterAttr::getChecked([&] { return parser.emitError(loc); }, context,
                                        hasScope ? StringAttr::get(context, first) : StringAttr(),
                                        StringAttr::get(context, hasScope ? second : first), type);
}

void NamedParameterAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getScope())
    printer << getScope() << "::";
  printer << getKey() << ">";
}

LogicalResult NamedParameterAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr, StringAttr key,
                                         Type type) {
  auto tensor = dyn_cast_if_present<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return emitError() << "the parameter " << key << " needs the type of a tensor whose extents are known behind it";
  return success();
}

LogicalResult TensorDynamicConstantOp::verify() {
  auto value = dyn_cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getType());
  if (!value || value.getElementType() != result.getElementType() || failed(verifyCompatibleShape(value, result)))
    return emitOpError("has the value ") << getValue().getType() << ", which is no " << result;
  return success();
}

LogicalResult ExecutableOp::verify() {
  return kiln::Util::verifyExecutableBody(*this);
}

void ExecutableOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymVisibilityAttrName(state.name), builder.getStringAttr("private"));
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

// The slice of `dims` that belongs to result `index`: the dynamic extents of all results stand one after another.
static ValueRange dimsOfResult(TypeRange types, ValueRange dims, unsigned index) {
  unsigned begin = 0;
  for (unsigned i = 0; i < index; ++i)
    begin += cast<ShapedType>(types[i]).getNumDynamicDims();
  return dims.slice(begin, cast<ShapedType>(types[index]).getNumDynamicDims());
}

ValueRange DispatchRegionOp::getDimsOfResult(unsigned index) {
  return dimsOfResult(getResultTypes(), getResultDims(), index);
}

ValueRange DispatchOp::getDimsOfResult(unsigned index) {
  return dimsOfResult(getResultTypes(), getResultDims(), index);
}

LogicalResult DispatchOp::verify() {
  if (getTied().size() != getNumResults())
    return emitOpError("needs one entry of 'tied' for each of its ") << getNumResults() << " results";
  for (auto [i, tied] : llvm::enumerate(getTied())) {
    if (tied >= static_cast<int64_t>(getArgs().size()))
      return emitOpError("ties result ") << i << " to operand " << tied << ", which it does not have";
    if (tied >= 0 && getArgs()[tied].getType() != getResult(i).getType())
      return emitOpError("ties result ") << i << " to an operand of another type";
  }
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<ExecutableOp>(*this, FlatSymbolRefAttr::get(getEntry().getRootReference())))
    return emitOpError("launches ") << getEntry() << ", which is not an executable of the module";
  return success();
}
