#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "kiln/compiler/Dialect/Encoding/IR/EncodingOps.h"
#include "kiln/compiler/Dialect/Util/IR/SymbolVisibility.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln::HAL;
using kiln::Util::parseSymbolVisibility;
using kiln::Util::printSymbolVisibility;

static ParseResult parseTileConfig(AsmParser &parser, kiln::TileConfig &config) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  if (parser.parseString(&name))
    return failure();
  kiln::Result<kiln::TileConfig> parsed = kiln::TileConfig::parse(name);
  if (!parsed.ok())
    return parser.emitError(loc) << StringRef(parsed.status().message());
  config = *std::move(parsed);
  return success();
}

static void printTileConfig(AsmPrinter &printer, const kiln::TileConfig &config) {
  printer.printString(config.name());
}

#include "kiln/compiler/Dialect/HAL/IR/HALDialect.cpp.inc"
#include "kiln/compiler/Dialect/HAL/IR/HALEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALTypes.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/HAL/IR/HALOps.cpp.inc"

void HALDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "kiln/compiler/Dialect/HAL/IR/HALTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/HAL/IR/HALAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/HAL/IR/HALOps.cpp.inc"
      >();
}

//===--- Attributes ----------------------------------------------------------------------------------------------===//

llvm::hash_code kiln::hash_value(const TileConfig &config) {
  return llvm::hash_value(config.name());
}

std::string ExecutableTargetAttr::getSymbolName() const {
  std::string name = getBackend().str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name;
}

StringRef ExecutableTargetAttr::getString(StringRef key) const {
  auto value = getConfiguration().getAs<StringAttr>(key);
  return value ? value.getValue() : StringRef();
}

Attribute PipelineLayoutAttr::parse(AsmParser &parser, Type) {
  int64_t constants = 0;
  SmallVector<BindingAccess> bindings;
  auto parseBinding = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<BindingAccess> access = symbolizeBindingAccess(keyword);
    if (!access)
      return parser.emitError(loc) << "expected readonly, writeonly or readwrite";
    bindings.push_back(*access);
    return success();
  };
  if (parser.parseLess() || parser.parseKeyword("constants") || parser.parseEqual() || parser.parseInteger(constants) ||
      parser.parseComma() || parser.parseKeyword("bindings") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBinding) || parser.parseGreater())
    return {};
  return get(parser.getContext(), constants, bindings);
}

void PipelineLayoutAttr::print(AsmPrinter &printer) const {
  printer << "<constants = " << getConstants() << ", bindings = [";
  llvm::interleaveComma(getBindings(), printer, [&](BindingAccess access) { printer << stringifyEnum(access); });
  printer << "]>";
}

std::optional<int64_t> AffinityAttr::getDeviceIndex() {
  StringRef name = getDevice().getValue();
  unsigned index = 0;
  if (!name.consume_front("__device_") || name.getAsInteger(10, index) || index > 255)
    return std::nullopt;
  return index;
}

uint64_t AffinityAttr::getQueueMask() {
  uint64_t mask = 0;
  for (int64_t queue : getQueues())
    mask |= uint64_t(1) << (queue & 63);
  return mask ? mask : ~uint64_t(0);
}

//===--- Executables ---------------------------------------------------------------------------------------------===//

void ExecutableOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymVisibilityAttrName(state.name), builder.getStringAttr("private"));
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

void ExecutableVariantOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                                ExecutableTargetAttr target) {
  state.addAttribute(getSymVisibilityAttrName(state.name), builder.getStringAttr("public"));
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getTargetAttrName(state.name), target);
  state.addRegion()->emplaceBlock();
}

ModuleOp ExecutableVariantOp::getInnerModule() {
  auto modules = getBody().getOps<ModuleOp>();
  return modules.empty() ? ModuleOp() : *modules.begin();
}

Block *ExecutableExportOp::createWorkgroupCountBlock() {
  Region &region = getWorkgroupCount();
  assert(region.empty() && "the workgroup count is already known");
  Block &block = region.emplaceBlock();
  for (int64_t i = 0, e = getLayout().getConstants(); i < e; ++i)
    block.addArgument(IndexType::get(getContext()), getLoc());
  return &block;
}

// hal.executable.export public @name ordinal(0) layout(#...) count(%a: index) -> (index, index, index) { ... }
ParseResult ExecutableExportOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr visibility, name;
  IntegerAttr ordinal;
  PipelineLayoutAttr layout;
  if (parseSymbolVisibility(parser, visibility) ||
      parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseKeyword("ordinal") || parser.parseLParen() ||
      parser.parseAttribute(ordinal, parser.getBuilder().getI32Type()) || parser.parseRParen() ||
      parser.parseKeyword("layout") || parser.parseLParen() || parser.parseAttribute(layout) || parser.parseRParen())
    return failure();
  if (visibility)
    result.addAttribute(getSymVisibilityAttrName(result.name), visibility);
  result.addAttribute(getOrdinalAttrName(result.name), ordinal);
  result.addAttribute(getLayoutAttrName(result.name), layout);
  Region *region = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("count"))) {
    SmallVector<OpAsmParser::Argument> args;
    SmallVector<Type> types;
    if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseArrowTypeList(types) || parser.parseRegion(*region, args))
      return failure();
  }
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void ExecutableExportOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printSymbolVisibility(printer, *this, getSymVisibilityAttr());
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " ordinal(" << getOrdinal() << ") layout(" << getLayout() << ")";
  if (!getWorkgroupCount().empty()) {
    printer << " count(";
    llvm::interleaveComma(getWorkgroupCount().getArguments(), printer,
                          [&](BlockArgument arg) { printer.printRegionArgument(arg); });
    printer << ") -> (index, index, index) ";
    printer.printRegion(getWorkgroupCount(), /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getSymVisibilityAttrName(), getSymNameAttrName(),
                                                                 getOrdinalAttrName(), getLayoutAttrName()});
}

LogicalResult ExecutableExportOp::verifyRegions() {
  if (getWorkgroupCount().empty())
    return success();
  Block &block = getWorkgroupCount().front();
  if (block.getNumArguments() != static_cast<size_t>(getLayout().getConstants()))
    return emitOpError("takes a workload of ")
           << block.getNumArguments() << " values, but its layout has " << getLayout().getConstants() << " constants";
  auto ret = dyn_cast<ReturnOp>(block.getTerminator());
  if (!ret || ret.getNumOperands() != 3 || !llvm::all_of(ret.getOperandTypes(), [](Type t) { return t.isIndex(); }))
    return emitOpError("must return the workgroup count as three index values");
  return success();
}

//===--- What a dispatch's function sees -------------------------------------------------------------------------===//

static LogicalResult verifyDynamicDims(Operation *op, ShapedType type, OperandRange dims) {
  if (static_cast<size_t>(type.getNumDynamicDims()) != dims.size())
    return op->emitOpError("has a type with ")
           << type.getNumDynamicDims() << " dynamic dimensions, but is given " << dims.size();
  return success();
}

LogicalResult InterfaceBindingSubspanOp::verify() {
  return verifyDynamicDims(*this, cast<ShapedType>(getType()), getDynamicDims());
}

// A grid has at most 2^31 - 1 workgroups in each dimension.
static ConstantIntRanges gridRange(bool isCount) {
  return ConstantIntRanges::fromUnsigned(APInt(64, isCount ? 1 : 0), APInt(64, isCount ? INT32_MAX : INT32_MAX - 1));
}

void InterfaceWorkgroupIDOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setResultRange) {
  setResultRange(getResult(), gridRange(/*isCount=*/false));
}

void InterfaceWorkgroupCountOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setResultRange) {
  setResultRange(getResult(), gridRange(/*isCount=*/true));
}

//===--- The tensor boundary -------------------------------------------------------------------------------------===//

LogicalResult TensorImportOp::verify() {
  return verifyDynamicDims(*this, cast<ShapedType>(getType()), getDynamicDims());
}

LogicalResult TensorExportOp::verify() {
  return verifyDynamicDims(*this, cast<ShapedType>(getExportedType()), getDynamicDims());
}

//===--- Element types -------------------------------------------------------------------------------------------===//

int32_t kiln::HAL::elementTypeNumber(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << (type.isIndex() ? IntegerType::get(type.getContext(), 64) : type);
#define KILN_ELEMENT_TYPE(Name, spelling, number, bits)                                                                \
  if (text == spelling)                                                                                                \
    return number;
#include "kiln/schema/element_type.def"
  return 0;
}

int64_t kiln::HAL::elementByteWidth(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

int64_t kiln::HAL::packedBitWidth(Type element) {
  return element.isInteger(1) || element.isIndex() ? 8 * elementByteWidth(element) : element.getIntOrFloatBitWidth();
}

int64_t kiln::HAL::packedBitWidth(RankedTensorType type) {
  return Encoding::isPacked(type) ? type.getElementTypeBitWidth() : packedBitWidth(type.getElementType());
}

bool kiln::HAL::isNarrowElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && (integer.getWidth() == 2 || integer.getWidth() == 4);
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() <= 8 && elementTypeNumber(type) != 0;
}

std::string kiln::HAL::problemOfBytes(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return "";
  StringRef key = resource.getRawHandle().getKey();
  if (packedBitWidth(elements.getElementType()) % 8 != 0)
    return llvm::formatv("its resource '{0}' has elements of less than a byte; write them as dense<...>", key).str();
  int64_t count = elements.getNumElements(), width = elementByteWidth(elements.getElementType()), expected;
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return count == 0 ? "" : llvm::formatv("the file does not hold the bytes of its resource '{0}'", key).str();
  if (!llvm::MulOverflow(count, width, expected) && static_cast<int64_t>(blob->getData().size()) == expected)
    return "";
  return llvm::formatv("its resource '{0}' has {1} bytes; {2} elements of {3} take {4}, {5} each", key,
                       blob->getData().size(), count, elements.getElementType(), expected, width)
      .str();
}
