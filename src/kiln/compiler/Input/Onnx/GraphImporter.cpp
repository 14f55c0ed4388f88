#include "kiln/compiler/Input/Onnx/GraphImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace kiln::onnx {

const Registry &registry() {
  static const Registry all = [] {
    Registry known;
    registerAttention(known);
    registerControl(known);
    registerElementwise(known);
    registerFeatures(known);
    registerImages(known);
    registerLosses(known);
    registerMicrosoft(known);
    registerMovement(known);
    registerOrdering(known);
    registerProducts(known);
    registerQuantize(known);
    registerRecurrent(known);
    registerReductions(known);
    registerRegions(known);
    registerResize(known);
    registerSelecting(known);
    registerSequences(known);
    registerShapes(known);
    registerSignals(known);
    registerStateSpace(known);
    registerTraining(known);
    registerTrees(known);
    registerWindows(known);
    return known;
  }();
  return all;
}

const Value *Scope::find(std::string_view name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
  return nullptr;
}

Value GraphImporter::constant(const Tensor &tensor) {
  Value value{tensor.type, {}, {}};
  for (int64_t extent : tensor.dims)
    value.dims.push_back(e.number(extent));
  const int64_t count = tensor.elements();
  constexpr int64_t kMostElements = 256; // that are numbers of the compiler's
  const unsigned bits = bitsOf(tensor.type);
  auto byteAt = [&](int64_t i) { return std::to_integer<uint64_t>(tensor.bytes[i]); };
  auto numberAt = [&](int64_t i) -> uint64_t {
    if (bits < 8)
      return byteAt(i * bits / 8) >> (i * bits % 8) & ((1U << bits) - 1);
    uint64_t number = 0;
    for (unsigned byte = 0; byte < bits / 8; ++byte)
      number |= byteAt(i * (bits / 8) + byte) << (8 * byte);
    return number;
  };
  const bool isBool = tensor.type == DataType::Bool;
  if ((isBool || (Emitter::isInteger(tensor.type) && bits >= 32)) && tensor.dims.size() <= 1 &&
      count <= kMostElements) {
    Dims elements;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t number = numberAt(i);
      const bool isNarrow = bits == 32;
      if (isBool) {
        elements.push_back(e.number(number != 0 ? 1 : 0));
        continue;
      }
      elements.push_back(e.number(!isNarrow                          ? static_cast<int64_t>(number)
                                  : Emitter::isUnsigned(tensor.type) ? static_cast<int64_t>(number)
                                                                     : static_cast<int32_t>(number)));
    }
    value.elements = std::move(elements);
    return value;
  }
  if (bits < 8 && Emitter::isInteger(tensor.type) && count > kMostElements && tensor.dims.back() % (8 / bits) == 0) {
    Tensor bytes = tensor;
    bytes.type = DataType::U8;
    bytes.dims.back() /= 8 / bits;
    Value packed = constant(bytes);
    FailureOr<Value> numbers = e.reshape(e.unpack(packed, bits, tensor.type, {},
                                                  [&](Scalars &s, ValueRange args) {
                                                    return s.make<arith::TruncIOp>(e.elementType(tensor.type), args[0]);
                                                  }),
                                         value.dims);
    if (succeeded(numbers)) {
      numbers->packed = packed.tensor;
      return *numbers;
    }
  }
  RankedTensorType type = e.tensorType(tensor.type, value.dims);
  TypedAttr attribute;
  if (bits < 8 || tensor.type == DataType::Bool) {
    Type element = type.getElementType();
    SmallVector<mlir::Attribute> elements;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t number = tensor.type == DataType::Bool ? uint64_t(numberAt(i) != 0) : numberAt(i);
      if (auto floatType = dyn_cast<FloatType>(element))
        elements.push_back(FloatAttr::get(floatType, APFloat(floatType.getFloatSemantics(), APInt(bits, number))));
      else
        elements.push_back(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(), number)));
    }
    attribute = DenseElementsAttr::get(type, elements);
  } else if (ArrayRef<char> raw(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
             count <= kMostElements) {
    attribute = DenseElementsAttr::getFromRawBuffer(type, raw);
  } else {
    AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(raw, /*align=*/1);
    attribute = DenseResourceElementsAttr::get(type, StringRef(tensor.name), std::move(blob));
  }
  const Location named = tensor.name.empty() ? e.loc : Location(NameLoc::get(e.b.getStringAttr(tensor.name), e.loc));
  value.tensor = arith::ConstantOp::create(e.b, named, attribute);
  return value;
}

void GraphImporter::importGraph(const Graph &graph, Scope &scope) {
  for (const Tensor &tensor : graph.initializers) {
    if (scope.values.contains(tensor.name))
      continue;
    if (e.elementType(tensor.type))
      scope.values.emplace(tensor.name, constant(tensor));
  }
  importNodes(graph.nodes, model.opsets, scope, {});
}

const Function *GraphImporter::findFunction(const Node &node) const {
  auto isCalled = [&](const Function &function) {
    return function.name == node.op && function.domain == node.domain && function.overload == node.overload;
  };
  auto found = llvm::find_if(model.functions, isCalled);
  return found == model.functions.end() ? nullptr : &*found;
}

void GraphImporter::importNodes(ArrayRef<Node> nodes, const Opsets &opsets, Scope &scope, const Call &call) {
  for (const Node &node : nodes) {
    const std::string_view label = node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name;
    const Location outer = e.loc;
    e.loc = NameLoc::get(StringAttr::get(e.b.getContext(), StringRef(label)), outer);
    auto version = opsets.find(node.domain);
    NodeLowering lowering(e, *this, node, scope, version == opsets.end() ? 1 : version->second);
    // What uses something that was refused is not there either.
    bool isComplete = true;
    for (std::string_view name : node.inputs) {
      const Value *value = name.empty() ? nullptr : scope.find(name);
      isComplete &= name.empty() || value;
      lowering.inputs.push_back(value);
    }
    for (const Attribute &attribute : node.attributes) {
      if (attribute.reference.empty()) {
        lowering.attributes.push_back(&attribute);
        continue;
      }
      // Under the node's own name for it.
      for (const Attribute *given : call.attributes)
        if (given->name == attribute.reference) {
          lowering.renamed.push_back(*given);
          lowering.renamed.back().name = attribute.name;
          break;
        }
    }
    for (const Attribute &renamed : lowering.renamed)
      lowering.attributes.push_back(&renamed);
    const std::string op =
        node.domain.empty() ? std::string(node.op) : std::string(node.domain) + "." + std::string(node.op);
    e.reason = "fails, and does not say why";
    const bool isKnown = registry().contains(op) || findFunction(node);
    if (!isKnown)
      refusals.push_back({op, std::string(label), "is not known"});
    else if (isComplete && failed(importNode(lowering))) {
      if (!lowering.isTold)
        refusals.push_back({op, std::string(label), e.reason});
    } else if (isComplete)
      for (auto [i, name] : llvm::enumerate(node.outputs)) {
        if (name.empty())
          continue;
        if (i >= lowering.results.size()) {
          refusals.push_back({op, std::string(label), "has output '" + std::string(name) + "', which is not computed"});
          continue;
        }
        if (!scope.values.emplace(name, lowering.results[i]).second)
          refusals.push_back({op, std::string(label), "gives '" + std::string(name) + "', which is there already"});
      }
    e.loc = outer;
  }
}

static bool isNarrowFloat(DataType type) {
  return Emitter::isFloat(type) && bitsOf(type) < 32;
}

// As Operator::adds has it. What there is behind the first result are the running mean and variance of a
// BatchNormalization, of the type that these come with.
static LogicalResult lowerInF32(Lower lower, NodeLowering &lowering) {
  constexpr size_t kRunningMean = 3;
  SmallVector<DataType> types;
  for (const Value *&input : lowering.inputs) {
    types.push_back(input ? input->type : DataType::F32);
    if (input && isNarrowFloat(input->type))
      input = &lowering.widened.emplace_back(lowering.e.cast(*input, DataType::F32));
  }
  if (failed(lower(lowering)))
    return failure();
  for (auto [i, result] : llvm::enumerate(lowering.results))
    result = lowering.e.cast(result, types[i == 0 ? 0 : kRunningMean + i - 1]);
  return success();
}

LogicalResult GraphImporter::importNode(NodeLowering &lowering) {
  const Node &node = lowering.node;
  // A model's own function counts before an operator of the same name.
  if (const Function *function = findFunction(node))
    return importCall(*function, lowering);
  SmallString<32> op(StringRef(node.domain));
  if (!op.empty())
    op += ".";
  op += StringRef(node.op);
  // What operators mean changes with the version: an older or newer one would be computed wrongly in silence.
  constexpr int64_t kOldest = 7, kNewest = 28;
  const bool isSameSinceTheFirst = node.op == "Not";
  if (node.domain.empty() && (lowering.opset > kNewest || (lowering.opset < kOldest && !isSameSinceTheFirst)))
    return e.refuse("is of version " + Twine(lowering.opset) + " of ONNX's operators, and " + Twine(kOldest) + " to " +
                    Twine(kNewest) + " are known");
  const Operator known = registry().lookup(op);
  for (const Value *value : lowering.inputs) {
    if (!value || e.elementType(value->type) || (known.takesSequences && value->kind != Value::Kind::Tensor))
      continue;
    if (value->kind != Value::Kind::Tensor)
      return e.refuse("takes a sequence or an optional value that is empty");
    return e.refuse("takes a tensor of " + Twine(StringRef(dataTypeName(value->type))));
  }
  for (unsigned input = 0; input < known.inputs; ++input)
    if (!lowering.has(input))
      return e.refuse("has no input " + Twine(input));
  const bool widens = known.adds && isNarrowFloat(lowering.in(0).type);
  if (failed(widens ? lowerInF32(known.lower, lowering) : known.lower(lowering)))
    return failure();
  if (const Attribute *left = lowering.unused())
    return e.refuse("has the attribute '" + Twine(StringRef(left->name)) + "', which is not supported here");
  return success();
}

LogicalResult GraphImporter::importCall(const Function &function, NodeLowering &lowering) {
  constexpr int kMostCalls = 64;
  if (depth >= kMostCalls)
    return e.refuse("calls functions within functions more than " + Twine(kMostCalls) + " deep");
  // Functions that call one another twice double with each.
  constexpr size_t kMostInlined = 100'000;
  inlined += function.nodes.size();
  if (inlined > kMostInlined)
    return e.refuse("is a function whose calls make more than " + Twine(kMostInlined) + " nodes of the model");
  Scope scope;
  for (auto [i, name] : llvm::enumerate(function.inputs))
    if (lowering.has(i))
      scope.values.emplace(name, lowering.in(i));
  SmallVector<const Attribute *> attributes(lowering.attributes);
  for (const Attribute &attribute : function.defaults)
    if (!lowering.attribute(attribute.name))
      attributes.push_back(&attribute);
  const size_t before = refusals.size();
  ++depth;
  importNodes(function.nodes, function.opsets.empty() ? model.opsets : function.opsets, scope, {&function, attributes});
  --depth;
  if (refusals.size() > before) {
    const Refusal inner = refusals[before];
    refusals.resize(before);
    return e.refuse("is a function in which " + inner.op + " " + inner.reason);
  }
  for (std::string_view name : function.outputs) {
    const Value *value = scope.find(name);
    if (!value)
      return e.refuse("is a function whose output '" + Twine(StringRef(name)) + "' nothing computes");
    lowering.results.push_back(*value);
  }
  return success();
}

//===--- Nodes ----------------------------------------------------------------------------------------------------===//

const Attribute *NodeLowering::attribute(std::string_view name) const {
  auto found = llvm::find_if(attributes, [&](const Attribute *attribute) { return attribute->name == name; });
  if (found == attributes.end())
    return nullptr;
  used.insert(*found);
  return *found;
}

const Attribute *NodeLowering::unused() const {
  auto found = llvm::find_if(attributes, [&](const Attribute *attribute) { return !used.contains(attribute); });
  return found == attributes.end() ? nullptr : *found;
}

int64_t NodeLowering::integer(std::string_view name, int64_t otherwise) const {
  const Attribute *found = attribute(name);
  return found && !found->ints.empty() ? found->ints.front() : otherwise;
}

double NodeLowering::real(std::string_view name, double otherwise) const {
  const Attribute *found = attribute(name);
  return found && !found->floats.empty() ? found->floats.front() : otherwise;
}

std::string_view NodeLowering::text(std::string_view name, std::string_view otherwise) const {
  const Attribute *found = attribute(name);
  return found && !found->strings.empty() ? found->strings.front() : otherwise;
}

std::optional<ArrayRef<int64_t>> NodeLowering::integers(std::string_view name) const {
  const Attribute *found = attribute(name);
  return found ? std::optional(ArrayRef(found->ints)) : std::nullopt;
}

SmallVector<int64_t> NodeLowering::integersOr(std::string_view name, size_t count, int64_t otherwise) const {
  std::optional<ArrayRef<int64_t>> given = integers(name);
  return given && given->size() == count ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(count, otherwise);
}

FailureOr<DataType> NodeLowering::dataType(std::string_view name, DataType otherwise) {
  auto type = static_cast<DataType>(integer(name, 0));
  if (type == DataType::Undefined)
    type = otherwise;
  if (!e.elementType(type))
    return refuse("gives a tensor of " + Twine(StringRef(dataTypeName(type))));
  return type;
}

LogicalResult NodeLowering::needRank(size_t input, int64_t least) {
  if (in(input).rank() < least)
    return refuse("has input " + Twine(input) + " of " + Twine(in(input).rank()) + " dimensions, and needs " +
                  Twine(least));
  return success();
}

FailureOr<int64_t> NodeLowering::dimension(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return refuse("has axis " + Twine(axis) + " of " + Twine(rank) + " dimensions");
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> NodeLowering::dimensions(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> all;
  for (int64_t axis : axes) {
    FailureOr<int64_t> one = dimension(axis, rank);
    if (failed(one))
      return failure();
    if (llvm::is_contained(all, *one))
      return refuse("has axis " + Twine(axis) + " twice");
    all.push_back(*one);
  }
  return all;
}

bool NodeLowering::axesAreKnown(size_t input) const {
  const std::optional<Dims> &elements = in(input).elements;
  return elements && Emitter::areKnown(*elements);
}

FailureOr<SmallVector<int64_t>> NodeLowering::knownIntegers(size_t input) {
  FailureOr<Dims> elements = e.elementsOf(in(input));
  if (failed(elements))
    return failure();
  SmallVector<int64_t> numbers;
  for (OpFoldResult element : *elements) {
    std::optional<int64_t> number = Emitter::known(element);
    if (!number)
      return refuse("has input " + Twine(input) + ", which has to be known when the model is compiled");
    numbers.push_back(*number);
  }
  return numbers;
}

FailureOr<std::optional<SmallVector<int64_t>>> NodeLowering::axes(size_t input, std::string_view name) {
  std::optional<SmallVector<int64_t>> all;
  if (std::optional<ArrayRef<int64_t>> given = integers(name)) {
    all.emplace(given->begin(), given->end());
  } else if (has(input)) {
    FailureOr<SmallVector<int64_t>> numbers = knownIntegers(input);
    if (failed(numbers))
      return failure();
    all.emplace(std::move(*numbers));
  }
  return all;
}

} // namespace kiln::onnx
