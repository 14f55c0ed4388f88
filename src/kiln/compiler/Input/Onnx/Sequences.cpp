// Operators of sequences and optional values, whose lengths and presence are known when the model is compiled.
#include "kiln/compiler/Input/Onnx/Lowering.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

LogicalResult needSequence(NodeLowering &n) {
  return n.in(0).isSequence() ? success() : n.refuse("takes no sequence");
}

// A place of a sequence, which may be counted from the end, as an input; `otherwise` where there is none.
FailureOr<int64_t> placeOf(NodeLowering &n, size_t input, int64_t count, int64_t otherwise) {
  if (!n.has(input))
    return otherwise;
  FailureOr<SmallVector<int64_t>> numbers = n.knownIntegers(input);
  if (failed(numbers))
    return failure();
  if (numbers->size() != 1 || numbers->front() < -count || numbers->front() >= count)
    return n.refuse("has no place in a sequence of " + Twine(n.in(0).sequence.size()));
  return numbers->front() < 0 ? numbers->front() + count : numbers->front();
}

LogicalResult lowerSequenceConstruct(NodeLowering &n) {
  std::vector<Value> values;
  for (const Value *input : n.inputs) {
    if (!input || input->kind != Value::Kind::Tensor)
      return n.refuse("is not made of tensors");
    values.push_back(*input);
  }
  return n.give(Value::sequenceOf(std::move(values)));
}

LogicalResult lowerSequenceEmpty(NodeLowering &n) {
  n.ignore({"dtype"});
  return n.give(Value::sequenceOf({}));
}

LogicalResult lowerSequenceAt(NodeLowering &n) {
  if (failed(needSequence(n)))
    return failure();
  const auto count = static_cast<int64_t>(n.in(0).sequence.size());
  FailureOr<int64_t> place = placeOf(n, 1, count, 0);
  return failed(place) ? failure() : n.give(n.in(0).sequence[*place]);
}

LogicalResult lowerSequenceInsert(NodeLowering &n) {
  if (failed(needSequence(n)))
    return failure();
  if (n.in(1).kind != Value::Kind::Tensor)
    return n.refuse("inserts what is no tensor");
  std::vector<Value> values = n.in(0).sequence;
  const auto count = static_cast<int64_t>(values.size());
  // The end is a place, too, but is not counted from the end.
  FailureOr<int64_t> place = placeOf(n, 2, count + 1, count);
  if (failed(place))
    return failure();
  if (n.has(2) && n.knownIntegers(2)->front() < 0)
    --*place;
  if (*place < 0)
    return n.refuse("has no place in a sequence of " + Twine(count));
  values.insert(values.begin() + *place, n.in(1));
  return n.give(Value::sequenceOf(std::move(values)));
}

LogicalResult lowerSequenceErase(NodeLowering &n) {
  if (failed(needSequence(n)))
    return failure();
  std::vector<Value> values = n.in(0).sequence;
  const auto count = static_cast<int64_t>(values.size());
  FailureOr<int64_t> place = placeOf(n, 1, count, count - 1);
  if (failed(place))
    return failure();
  if (count == 0)
    return n.refuse("erases from an empty sequence");
  values.erase(values.begin() + *place);
  return n.give(Value::sequenceOf(std::move(values)));
}

LogicalResult lowerSequenceLength(NodeLowering &n) {
  if (failed(needSequence(n)))
    return failure();
  const auto count = static_cast<int64_t>(n.in(0).sequence.size());
  return n.give(n.e.scalars(DataType::I64, {n.e.number(count)}, /*isScalar=*/true));
}

// Into parts of sizes that are given, or of one size of which the last part may have less.
LogicalResult lowerSplitToSequence(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis))
    return failure();
  const bool keepsAxis = n.integer("keepdims", 1) != 0 || n.has(1);
  SmallVector<int64_t> sizes;
  if (n.has(1) && n.in(1).rank() == 1) {
    FailureOr<SmallVector<int64_t>> given = n.knownIntegers(1);
    if (failed(given))
      return failure();
    sizes = *given;
  } else {
    std::optional<int64_t> extent = Emitter::known(value.dims[*axis]);
    if (!extent)
      return n.refuse("makes a sequence of an unknown number of parts");
    FailureOr<SmallVector<int64_t>> size = n.has(1) ? n.knownIntegers(1) : SmallVector<int64_t>{1};
    if (failed(size))
      return failure();
    if (size->size() != 1 || size->front() < 1)
      return n.refuse("has parts of no size");
    constexpr int64_t kMostParts = 4096;
    if (*extent / size->front() > kMostParts)
      return n.refuse("makes a sequence of more than " + Twine(kMostParts) + " parts");
    for (int64_t at = 0; at < *extent; at += size->front())
      sizes.push_back(std::min(size->front(), *extent - at));
  }
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return n.refuse("has parts of less than nothing");
  std::vector<Value> parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    Dims offsets(value.rank(), e.number(0)), extents = value.dims, without = value.dims;
    offsets[*axis] = e.number(at);
    extents[*axis] = e.number(size);
    without.erase(without.begin() + *axis);
    at += size;
    Value part = e.slice(value, offsets, extents, Dims(value.rank(), e.number(1)));
    FailureOr<Value> shaped = keepsAxis ? FailureOr<Value>(part) : e.reshape(part, without);
    if (failed(shaped))
      return failure();
    parts.push_back(*shaped);
  }
  if (at != Emitter::known(value.dims[*axis]).value_or(at))
    return n.refuse("has parts of " + Twine(at) + " elements together, which is not what there is");
  return n.give(Value::sequenceOf(std::move(parts)));
}

LogicalResult lowerConcatFromSequence(NodeLowering &n) {
  if (failed(needSequence(n)))
    return failure();
  std::vector<Value> values = n.in(0).sequence;
  if (values.empty())
    return n.refuse("joins an empty sequence");
  const bool isNew = n.integer("new_axis", 0) != 0;
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), values.front().rank() + (isNew ? 1 : 0));
  if (failed(axis))
    return failure();
  SmallVector<const Value *> all;
  for (Value &value : values) {
    if (isNew)
      value = n.e.unsqueeze(value, {*axis});
    all.push_back(&value);
  }
  return n.give(n.e.concat(all, *axis));
}

LogicalResult lowerOptional(NodeLowering &n) {
  n.ignore({"type"});
  return n.give(n.has(0) ? n.in(0) : Value::nothing());
}

LogicalResult lowerOptionalHasElement(NodeLowering &n) {
  const bool has = n.has(0) && n.in(0).kind != Value::Kind::Nothing;
  return n.give(n.e.scalars(DataType::Bool, {n.e.number(has ? 1 : 0)}, /*isScalar=*/true));
}

LogicalResult lowerOptionalGetElement(NodeLowering &n) {
  return n.in(0).kind == Value::Kind::Nothing ? n.refuse("takes what is in an empty optional value") : n.give(n.in(0));
}

} // namespace

void registerSequences(Registry &registry) {
  const auto add = [&](const char *name, Lower lower, unsigned inputs) {
    registry[name] = {lower, inputs, /*adds=*/false, /*takesSequences=*/true};
  };
  add("ConcatFromSequence", lowerConcatFromSequence, 1);
  add("Optional", lowerOptional, 0);
  add("OptionalGetElement", lowerOptionalGetElement, 1);
  add("OptionalHasElement", lowerOptionalHasElement, 0);
  add("SequenceAt", lowerSequenceAt, 2);
  add("SequenceConstruct", lowerSequenceConstruct, 1);
  add("SequenceEmpty", lowerSequenceEmpty, 0);
  add("SequenceErase", lowerSequenceErase, 1);
  add("SequenceInsert", lowerSequenceInsert, 2);
  add("SequenceLength", lowerSequenceLength, 1);
  add("SplitToSequence", lowerSplitToSequence, 1);
}

} // namespace kiln::onnx
