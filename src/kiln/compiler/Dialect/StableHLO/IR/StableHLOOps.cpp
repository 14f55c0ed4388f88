#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"

#include "kiln/compiler/Dialect/Util/IR/InlineAll.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace kiln::StableHLO;

#include "kiln/compiler/Dialect/StableHLO/IR/StableHLODialect.cpp.inc"
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOEnums.cpp.inc"

//===--- Types
//------------------------------------------------------------------------------------------------------===//

// "tensor<4xf32>" for all, or "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>".
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    for (Type *operand : operands)
      *operand = type;
    result = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(loc) << "needs the types of " << operands.size() << " operands and of one result";
  for (auto [operand, input] : llvm::zip(operands, function.getInputs()))
    *operand = input;
  result = function.getResult(0);
  return success();
}

static void printTypes(OpAsmPrinter &printer, ArrayRef<Type> operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(operands, ArrayRef<Type>{result});
}

static ParseResult parseOneType(OpAsmParser &parser, Type &operand, Type &result) {
  return parseTypes(parser, {&operand}, result);
}
static void printOneType(OpAsmPrinter &printer, Operation *, Type operand, Type result) {
  printTypes(printer, {operand}, result);
}
static ParseResult parseOneType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  return parseTypes(parser, {&lhs, &rhs}, result);
}
static void printOneType(OpAsmPrinter &printer, Operation *, Type lhs, Type rhs, Type result) {
  printTypes(printer, {lhs, rhs}, result);
}
static ParseResult parseOneType(OpAsmParser &parser, Type &a, Type &b, Type &c, Type &result) {
  return parseTypes(parser, {&a, &b, &c}, result);
}
static void printOneType(OpAsmPrinter &printer, Operation *, Type a, Type b, Type c, Type result) {
  printTypes(printer, {a, b, c}, result);
}

// "tensor<4xi1>, tensor<4xf32>": of the condition, and of all else.
static ParseResult parseSelectTypes(OpAsmParser &parser, Type &condition, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(condition))
    return failure();
  if (auto function = dyn_cast<FunctionType>(condition)) {
    if (function.getNumInputs() != 3 || function.getNumResults() != 1)
      return parser.emitError(loc, "needs the types of 3 operands and of one result");
    condition = function.getInput(0);
    onTrue = function.getInput(1);
    onFalse = function.getInput(2);
    result = function.getResult(0);
    return success();
  }
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}
static void printSelectTypes(OpAsmPrinter &printer, Operation *, Type condition, Type onTrue, Type onFalse,
                             Type result) {
  if (onTrue == result && onFalse == result)
    printer << condition << ", " << result;
  else
    printer.printFunctionalType(ArrayRef<Type>{condition, onTrue, onFalse}, ArrayRef<Type>{result});
}

//===--- Lists
//------------------------------------------------------------------------------------------------------===//

using Numbers = SmallVector<int64_t>;

static ParseResult parseNumbers(AsmParser &parser, Numbers &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}

// "[0:2, 1:6:2]": from, to and step of each dimension.
static ParseResult parseRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                               DenseI64ArrayAttr &strides) {
  Numbers from, to, step;
  auto parseRange = [&] {
    if (parser.parseInteger(from.emplace_back()) || parser.parseColon() || parser.parseInteger(to.emplace_back()))
      return failure();
    step.push_back(1);
    return failure(succeeded(parser.parseOptionalColon()) && failed(parser.parseInteger(step.back())));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(from);
  limits = parser.getBuilder().getDenseI64ArrayAttr(to);
  strides = parser.getBuilder().getDenseI64ArrayAttr(step);
  return success();
}
static void printRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                        DenseI64ArrayAttr strides) {
  printer << " [";
  llvm::interleaveComma(llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()), printer,
                        [&](auto range) {
                          auto [from, to, step] = range;
                          printer << from << ":" << to;
                          if (step != 1)
                            printer << ":" << step;
                        });
  printer << "]";
}

// "%a, %b," in front of a word.
static ParseResult parseOperandsAndComma(OpAsmParser &parser,
                                         SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult parsed;
  while ((parsed = parser.parseOptionalOperand(operand)).has_value()) {
    if (failed(*parsed) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
  return success();
}
static void printOperandsAndComma(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  for (Value operand : operands)
    printer << ' ' << operand << ',';
}

// ", precision = [DEFAULT, HIGHEST]", which may be left out.
static ParseResult parsePrecisionConfig(OpAsmParser &parser, ArrayAttr &config) {
  if (failed(parser.parseOptionalComma()))
    return success();
  SmallVector<Attribute> precisions;
  auto parsePrecision = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Precision> precision = symbolizePrecision(word);
    if (!precision)
      return parser.emitError(loc) << "'" << word << "' is no precision";
    precisions.push_back(PrecisionAttr::get(parser.getContext(), *precision));
    return success();
  };
  if (parser.parseKeyword("precision") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePrecision))
    return failure();
  config = parser.getBuilder().getArrayAttr(precisions);
  return success();
}
static void printPrecisionConfig(OpAsmPrinter &printer, Operation *, ArrayAttr config) {
  if (!config)
    return;
  printer << ", precision = [";
  llvm::interleaveComma(config, printer, [&](Attribute each) {
    if (auto precision = dyn_cast<PrecisionAttr>(each))
      printer << stringifyPrecision(precision.getValue());
  });
  printer << "]";
}

//===--- Attributes of dimensions
//-----------------------------------------------------------------------------------===//

namespace {
// "name = [0, 1]" or "name = 2", in any order, each at most once.
struct Field {
  StringRef name;
  Numbers *list = nullptr;
  int64_t *number = nullptr;
};
} // namespace

static ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  llvm::SmallDenseSet<StringRef> seen;
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  // Some write a comma behind the last one.
  while (succeeded(parser.parseOptionalKeyword(&name))) {
    const Field *field = llvm::find_if(fields, [&](const Field &each) { return each.name == name; });
    if (field == fields.end() || !seen.insert(field->name).second)
      return parser.emitError(loc) << "'" << name << "' is not expected here";
    if (parser.parseEqual() || (field->list ? parseNumbers(parser, *field->list) : parser.parseInteger(*field->number)))
      return failure();
    if (failed(parser.parseOptionalComma()))
      break;
    loc = parser.getCurrentLocation();
  }
  return success();
}

static void printFields(AsmPrinter &printer, ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists) {
  bool isFirst = true;
  for (auto [name, list] : lists) {
    if (list.empty())
      continue;
    printer << (isFirst ? "" : ", ") << name << " = " << llvm::interleaved_array(list);
    isFirst = false;
  }
}

Attribute GatherDimensionsAttr::parse(AsmParser &parser, Type) {
  Numbers offsets, collapsed, operandBatch, indexBatch, indexMap;
  int64_t vector = 0;
  if (parser.parseLess() ||
      parseFields(parser, {{"offset_dims", &offsets},
                           {"collapsed_slice_dims", &collapsed},
                           {"operand_batching_dims", &operandBatch},
                           {"start_indices_batching_dims", &indexBatch},
                           {"start_index_map", &indexMap},
                           {"index_vector_dim", nullptr, &vector}}) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), offsets, collapsed, operandBatch, indexBatch, indexMap, vector);
}
void GatherDimensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  int64_t vector[] = {getIndexVectorDim()};
  printFields(printer, {{"offset_dims", getOffsetDims()},
                        {"collapsed_slice_dims", getCollapsedSliceDims()},
                        {"operand_batching_dims", getOperandBatchingDims()},
                        {"start_indices_batching_dims", getStartIndicesBatchingDims()},
                        {"start_index_map", getStartIndexMap()}});
  bool hasLists = !getOffsetDims().empty() || !getCollapsedSliceDims().empty() || !getStartIndexMap().empty();
  printer << (hasLists ? ", " : "") << "index_vector_dim = " << vector[0] << ">";
}

Attribute DotDimensionsAttr::parse(AsmParser &parser, Type) {
  Numbers lhsBatch, rhsBatch, lhsContracted, rhsContracted;
  if (parser.parseLess() ||
      parseFields(parser, {{"lhs_batching_dimensions", &lhsBatch},
                           {"rhs_batching_dimensions", &rhsBatch},
                           {"lhs_contracting_dimensions", &lhsContracted},
                           {"rhs_contracting_dimensions", &rhsContracted}}) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContracted, rhsContracted);
}
void DotDimensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printFields(printer, {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
                        {"rhs_batching_dimensions", getRhsBatchingDimensions()},
                        {"lhs_contracting_dimensions", getLhsContractingDimensions()},
                        {"rhs_contracting_dimensions", getRhsContractingDimensions()}});
  printer << ">";
}

// "batching_dims = [0] x [0], contracting_dims = [2] x [1]"; the former may be left out.
static ParseResult parseDotDimensions(OpAsmParser &parser, DotDimensionsAttr &dimensions) {
  Numbers lhsBatch, rhsBatch, lhsContracted, rhsContracted;
  auto parsePair = [&](Numbers &left, Numbers &right) -> ParseResult {
    return failure(parser.parseEqual() || parseNumbers(parser, left) || parser.parseKeyword("x") ||
                   parseNumbers(parser, right));
  };
  if (succeeded(parser.parseOptionalKeyword("batching_dims")) && (parsePair(lhsBatch, rhsBatch) || parser.parseComma()))
    return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(lhsContracted, rhsContracted))
    return failure();
  dimensions = DotDimensionsAttr::get(parser.getContext(), lhsBatch, rhsBatch, lhsContracted, rhsContracted);
  return success();
}
static void printDotDimensions(OpAsmPrinter &printer, Operation *, DotDimensionsAttr dimensions) {
  if (!dimensions.getLhsBatchingDimensions().empty() || !dimensions.getRhsBatchingDimensions().empty())
    printer << "batching_dims = " << llvm::interleaved_array(dimensions.getLhsBatchingDimensions()) << " x "
            << llvm::interleaved_array(dimensions.getRhsBatchingDimensions()) << ", ";
  printer << "contracting_dims = " << llvm::interleaved_array(dimensions.getLhsContractingDimensions()) << " x "
          << llvm::interleaved_array(dimensions.getRhsContractingDimensions());
}

// "[b, 0, 1, f]": which dimension is the batch (or the kernel's inputs), the features, and each of space.
static ParseResult parseLayout(AsmParser &parser, StringRef first, StringRef second, int64_t &firstPlace,
                               int64_t &secondPlace, Numbers &space) {
  SmallVector<std::pair<int64_t, int64_t>> places;
  int64_t place = 0;
  firstPlace = secondPlace = -1;
  SMLoc loc = parser.getCurrentLocation();
  auto parsePlace = [&]() -> ParseResult {
    int64_t number = 0;
    OptionalParseResult parsed = parser.parseOptionalInteger(number);
    if (parsed.has_value()) {
      places.push_back({number, place});
    } else if (succeeded(parser.parseOptionalKeyword(first))) {
      firstPlace = place;
    } else {
      if (parser.parseKeyword(second))
        return failure();
      secondPlace = place;
    }
    ++place;
    return parsed.has_value() ? ParseResult(*parsed) : success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePlace))
    return failure();
  llvm::sort(places);
  for (auto [i, each] : llvm::enumerate(places)) {
    if (each.first != static_cast<int64_t>(i))
      return parser.emitError(loc, "needs each dimension of space once");
    space.push_back(each.second);
  }
  if (firstPlace < 0 || secondPlace < 0)
    return parser.emitError(loc) << "needs '" << first << "' and '" << second << "'";
  return success();
}
static void printLayout(AsmPrinter &printer, StringRef first, StringRef second, int64_t firstPlace, int64_t secondPlace,
                        ArrayRef<int64_t> space) {
  SmallVector<std::string> names(space.size() + 2);
  auto name = [&](int64_t place, std::string text) {
    if (place >= 0 && place < static_cast<int64_t>(names.size()))
      names[place] = std::move(text);
  };
  name(firstPlace, first.str());
  name(secondPlace, second.str());
  for (auto [i, place] : llvm::enumerate(space))
    name(place, std::to_string(i));
  printer << "[" << llvm::join(names, ", ") << "]";
}

static ParseResult parseConv(AsmParser &parser, ConvDimensionsAttr &dimensions) {
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0, outputFeature = 0;
  Numbers inputSpace, kernelSpace, outputSpace;
  if (succeeded(parser.parseOptionalKeyword("raw"))) {
    if (parseFields(parser, {{"input_batch_dimension", nullptr, &inputBatch},
                             {"input_feature_dimension", nullptr, &inputFeature},
                             {"input_spatial_dimensions", &inputSpace},
                             {"kernel_input_feature_dimension", nullptr, &kernelInput},
                             {"kernel_output_feature_dimension", nullptr, &kernelOutput},
                             {"kernel_spatial_dimensions", &kernelSpace},
                             {"output_batch_dimension", nullptr, &outputBatch},
                             {"output_feature_dimension", nullptr, &outputFeature},
                             {"output_spatial_dimensions", &outputSpace}}))
      return failure();
  } else if (parseLayout(parser, "b", "f", inputBatch, inputFeature, inputSpace) || parser.parseKeyword("x") ||
             parseLayout(parser, "i", "o", kernelInput, kernelOutput, kernelSpace) || parser.parseArrow() ||
             parseLayout(parser, "b", "f", outputBatch, outputFeature, outputSpace)) {
    return failure();
  }
  dimensions = ConvDimensionsAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpace, kernelInput,
                                       kernelOutput, kernelSpace, outputBatch, outputFeature, outputSpace);
  return success();
}
static void printConv(AsmPrinter &printer, ConvDimensionsAttr dimensions) {
  printLayout(printer, "b", "f", dimensions.getInputBatchDimension(), dimensions.getInputFeatureDimension(),
              dimensions.getInputSpatialDimensions());
  printer << "x";
  printLayout(printer, "i", "o", dimensions.getKernelInputFeatureDimension(),
              dimensions.getKernelOutputFeatureDimension(), dimensions.getKernelSpatialDimensions());
  printer << "->";
  printLayout(printer, "b", "f", dimensions.getOutputBatchDimension(), dimensions.getOutputFeatureDimension(),
              dimensions.getOutputSpatialDimensions());
}
Attribute ConvDimensionsAttr::parse(AsmParser &parser, Type) {
  ConvDimensionsAttr dimensions;
  if (parser.parseLess() || parseConv(parser, dimensions) || parser.parseGreater())
    return {};
  return dimensions;
}
void ConvDimensionsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printConv(printer, *this);
  printer << ">";
}
static ParseResult parseConvDimensions(OpAsmParser &parser, ConvDimensionsAttr &dimensions) {
  return parseConv(parser, dimensions);
}
static void printConvDimensions(OpAsmPrinter &printer, Operation *, ConvDimensionsAttr dimensions) {
  printConv(printer, dimensions);
}

// "stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]"
static ParseResult parseWindow(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                               DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                               DenseBoolArrayAttr &reversal) {
  Builder &builder = parser.getBuilder();
  if (parser.parseOptionalRBrace().succeeded())
    return parser.emitError(parser.getCurrentLocation(), "needs a stride or a padding");
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::None, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    Numbers numbers;
    if (name == "pad") {
      auto parsePair = [&] {
        size_t before = numbers.size();
        return failure(failed(parseNumbers(parser, numbers)) || numbers.size() != before + 2);
      };
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
        return parser.emitError(loc, "needs two numbers for each dimension");
      auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size() / 2), 2}, builder.getI64Type());
      padding = DenseIntElementsAttr::get(type, numbers);
      return success();
    }
    if (name == "reverse") {
      SmallVector<bool> flags;
      auto parseFlag = [&]() -> ParseResult {
        bool isReversed = succeeded(parser.parseOptionalKeyword("true"));
        flags.push_back(isReversed);
        return isReversed ? success() : parser.parseKeyword("false");
      };
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseFlag))
        return failure();
      reversal = builder.getDenseBoolArrayAttr(flags);
      return success();
    }
    if (parseNumbers(parser, numbers))
      return failure();
    DenseI64ArrayAttr *attribute = llvm::StringSwitch<DenseI64ArrayAttr *>(name)
                                       .Case("stride", &strides)
                                       .Case("lhs_dilate", &lhsDilation)
                                       .Case("rhs_dilate", &rhsDilation)
                                       .Default(nullptr);
    if (!attribute)
      return parser.emitError(loc) << "'" << name << "' is not expected here";
    *attribute = builder.getDenseI64ArrayAttr(numbers);
    return success();
  });
}
static void printWindow(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                        DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  bool isFirst = true;
  auto begin = [&](StringRef name) -> OpAsmPrinter & {
    printer << (isFirst ? "" : ", ") << name << " = ";
    isFirst = false;
    return printer;
  };
  if (strides)
    begin("stride") << llvm::interleaved_array(strides.asArrayRef());
  if (padding) {
    begin("pad") << "[";
    Numbers numbers(padding.getValues<int64_t>());
    for (size_t i = 0; i + 1 < numbers.size(); i += 2)
      printer << (i ? ", " : "") << "[" << numbers[i] << ", " << numbers[i + 1] << "]";
    printer << "]";
  }
  if (lhsDilation)
    begin("lhs_dilate") << llvm::interleaved_array(lhsDilation.asArrayRef());
  if (rhsDilation)
    begin("rhs_dilate") << llvm::interleaved_array(rhsDilation.asArrayRef());
  if (reversal) {
    begin("reverse") << "[";
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool flag) { printer << (flag ? "true" : "false"); });
    printer << "]";
  }
}

//===--- Operations with a text of their own
//------------------------------------------------------------------------===//

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseAttribute(value, "value", result.attributes))
    return failure();
  result.addTypes(value.getType());
  return success();
}
void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

// "(%x init: %y), (%z init: %w) applies stablehlo.add across dimensions = [0] : types", or the types and then
// "reducer(%a: tensor<f32>, %b: tensor<f32>) (...) { ... }", which gives the arguments of a value and of its inputs in
// pairs.
ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, starts;
  SMLoc loc = parser.getCurrentLocation();
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(starts.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  inputs.append(starts);
  FailureOr<OperationName> applied = failure();
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    applied = parser.parseCustomOperationName();
    if (failed(applied))
      return failure();
  }
  Numbers dimensions;
  FunctionType types;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseNumbers(parser, dimensions) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(types) || parser.resolveOperands(inputs, types.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(types.getResults());
  result.addAttribute("dimensions", parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  Region *body = result.addRegion();
  if (succeeded(applied)) {
    if (starts.size() != 1)
      return parser.emitError(loc, "applies an operation, and so has one input");
    Type element = types.getInput(1);
    Block &block = body->emplaceBlock();
    Location at = parser.getEncodedSourceLoc(loc);
    block.addArguments({element, element}, {at, at});
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToStart(&block);
    OperationState state(at, *applied, block.getArguments(), element);
    ReturnOp::create(builder, at, builder.create(state)->getResults());
    return success();
  }
  if (parser.parseKeyword("reducer"))
    return failure();
  SmallVector<OpAsmParser::Argument> lefts, rights;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (parser.parseLParen() || parser.parseArgument(lefts.emplace_back(), /*allowType=*/true) || parser.parseComma() ||
        parser.parseArgument(rights.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  }
  lefts.append(rights);
  return parser.parseRegion(*body, lefts);
}
void ReduceOp::print(OpAsmPrinter &printer) {
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer, [&](auto pair) {
    printer << "(" << std::get<0>(pair) << " init: " << std::get<1>(pair) << ")";
  });
  printer << " across dimensions = " << llvm::interleaved_array(getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << " reducer";
  Block &block = getBody().front();
  unsigned count = block.getNumArguments() / 2;
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument left = block.getArgument(i), right = block.getArgument(count + i);
    printer << " (" << left << ": " << left.getType() << ", " << right << ": " << right.getType() << ")";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

// "(%a = %x, %b = %y) : types cond { ... } do { ... }"
ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen, parsePair))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addTypes(types);
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") || parser.parseRegion(*result.addRegion(), arguments));
}
void WhileOp::print(OpAsmPrinter &printer) {
  printer << "(";
  // Both regions have the same names for their arguments, as the text has them once.
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << " = " << std::get<1>(pair); });
  printer << ")";
  if (!getOperand().empty()) {
    printer << " : ";
    llvm::interleaveComma(getOperand().getTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"

void StableHLODialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.cpp.inc"
      >();
  addInterface<kiln::Util::InlineAll>();
}
