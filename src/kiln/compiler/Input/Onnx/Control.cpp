// Operators that have graphs: If, Loop, Scan, SequenceMap.
#include "kiln/compiler/Input/Onnx/GraphImporter.h"
#include "kiln/compiler/Input/Onnx/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

FailureOr<SmallVector<Value>> importBody(NodeLowering &n, const Graph &graph, ArrayRef<Value> inputs) {
  const size_t before = n.importer.refusals.size();
  Scope scope{&n.scope, {}};
  for (auto [info, value] : llvm::zip(graph.inputs, inputs))
    scope.values.emplace(info.name, value);
  n.importer.importGraph(graph, scope);
  if (n.importer.refusals.size() > before) {
    n.isTold = true;
    return failure();
  }
  SmallVector<Value> outputs;
  for (const ValueInfo &output : graph.outputs) {
    const Value *value = scope.find(output.name);
    if (!value)
      return n.refuse("has a graph whose output '" + Twine(StringRef(output.name)) + "' nothing computes");
    outputs.push_back(*value);
  }
  return outputs;
}

const Graph *graphOf(NodeLowering &n, std::string_view name) {
  const Attribute *attribute = n.attribute(name);
  return attribute && !attribute->graphs.empty() ? attribute->graphs.front().get() : nullptr;
}

namespace {

mlir::Value scalarOf(Emitter &e, const Value &value) {
  if (value.elements) {
    OpFoldResult number = value.elements->front();
    Type type = e.elementType(value.type);
    if (std::optional<int64_t> known = Emitter::known(number))
      return arith::ConstantOp::create(e.b, e.loc, IntegerAttr::get(type, *known));
    return arith::IndexCastOp::create(e.b, e.loc, type, e.indexOf(number));
  }
  SmallVector<mlir::Value> zeros(value.rank(), arith::ConstantIndexOp::create(e.b, e.loc, 0));
  return tensor::ExtractOp::create(e.b, e.loc, value.tensor, zeros);
}

bool areTensors(ArrayRef<Value> values) {
  return llvm::all_of(values, [](const Value &value) { return value.kind == Value::Kind::Tensor; });
}

bool hasSameStructure(const Value &x, const Value &y) {
  return x.kind == y.kind && llvm::equal(x.sequence, y.sequence, hasSameStructure);
}

LogicalResult lowerIf(NodeLowering &n) {
  Emitter &e = n.e;
  const Graph *branches[] = {graphOf(n, "then_branch"), graphOf(n, "else_branch")};
  if (!branches[0] || !branches[1])
    return n.refuse("has no branches");
  if (const Value &condition = n.in(0); condition.elements && Emitter::known(condition.elements->front())) {
    FailureOr<SmallVector<Value>> taken =
        importBody(n, *branches[*Emitter::known(condition.elements->front()) ? 0 : 1], {});
    if (failed(taken))
      return failure();
    n.results = *taken;
    return success();
  }
  mlir::Value condition = scalarOf(e, n.in(0));
  Region regions[2];
  SmallVector<Value> results[2];
  SmallVector<Value *> tensors[2];
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&regions[i]);
    FailureOr<SmallVector<Value>> outputs = importBody(n, *branches[i], {});
    if (failed(outputs))
      return failure();
    results[i] = *outputs;
    for (Value &result : results[i])
      result.forEachTensor([&](Value &value) {
        value.tensor = e.tensorOf(value);
        tensors[i].push_back(&value);
      });
  }
  for (auto [x, y] : llvm::zip(results[0], results[1]))
    if (!hasSameStructure(x, y))
      return n.refuse("has branches that give sequences of different lengths or optional values of different content, "
                      "and the program decides which one is taken");
  SmallVector<Type> types;
  for (auto [x, y] : llvm::zip(tensors[0], tensors[1])) {
    if (x->rank() != y->rank() || x->type != y->type)
      return n.refuse("has branches that give tensors of different ranks or types");
    types.push_back(
        commonType(cast<RankedTensorType>(x->tensor.getType()), cast<RankedTensorType>(y->tensor.getType())));
  }
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToEnd(&regions[i].front());
    SmallVector<mlir::Value> yielded;
    for (auto [value, type] : llvm::zip(tensors[i], types))
      yielded.push_back(castTo(e, cast<RankedTensorType>(type), value->tensor));
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  auto branch = scf::IfOp::create(e.b, e.loc, types, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(regions[0]);
  branch.getElseRegion().takeBody(regions[1]);
  for (auto [result, value] : llvm::zip(branch.getResults(), tensors[0]))
    *value = valueOf(e, result, value->type);
  n.results = results[0];
  return success();
}

// A loop whose state has sequences or optional values: each turn by itself, of which the number has to be known.
LogicalResult unrollLoop(NodeLowering &n, const Graph &graph, SmallVector<Value> states) {
  Emitter &e = n.e;
  constexpr int64_t kMostTurns = 1024;
  const std::string what = "has a sequence or an optional value as its state, ";
  std::optional<int64_t> count = kMostTurns + 1;
  if (n.has(0)) {
    FailureOr<Dims> turns = e.elementsOf(n.in(0));
    if (failed(turns))
      return failure();
    count = turns->size() == 1 ? Emitter::known(turns->front()) : std::nullopt;
  }
  if (!count)
    return n.refuse(what + "and a number of turns that the program computes");
  Value goesOn = n.has(1) ? n.in(1) : e.scalars(DataType::Bool, {e.number(1)}, /*isScalar=*/true);
  std::vector<SmallVector<Value>> collected(graph.outputs.size() - states.size() - 1);
  for (int64_t turn = 0; turn < *count; ++turn) {
    std::optional<int64_t> isTaken = goesOn.elements ? Emitter::known(goesOn.elements->front()) : std::nullopt;
    if (!isTaken)
      return n.refuse(what + "and a condition that the program computes");
    if (*isTaken == 0)
      break;
    if (turn == kMostTurns)
      return n.refuse(what + "and more than " + Twine(kMostTurns) + " turns");
    SmallVector<Value> inputs = {e.scalars(DataType::I64, {e.number(turn)}, /*isScalar=*/true), goesOn};
    llvm::append_range(inputs, states);
    FailureOr<SmallVector<Value>> outputs = importBody(n, graph, inputs);
    if (failed(outputs))
      return failure();
    goesOn = outputs->front();
    states.assign(outputs->begin() + 1, outputs->begin() + 1 + static_cast<int64_t>(states.size()));
    for (auto [slices, slice] : llvm::zip(collected, ArrayRef(*outputs).drop_front(1 + states.size()))) {
      if (slice.kind != Value::Kind::Tensor)
        return n.refuse("collects sequences");
      slices.push_back(e.unsqueeze(slice, {0}));
    }
  }
  n.results = states;
  for (ArrayRef<Value> slices : collected) {
    if (slices.empty())
      return n.refuse("collects slices of no turn");
    if (failed(n.give(e.concat(llvm::to_vector(llvm::make_pointer_range(slices)), 0))))
      return failure();
  }
  return success();
}

// A slice that each turn gives alike, with the extents that the body says of it where they are not known otherwise.
Value asDeclared(Emitter &e, Value slice, const ValueType &type) {
  if (slice.elements || !type.shape || type.shape->size() != slice.dims.size())
    return slice;
  for (auto [extent, dimension] : llvm::zip(slice.dims, *type.shape))
    if (!Emitter::known(extent) && dimension.extent)
      extent = e.number(*dimension.extent);
  slice.tensor = castTo(e, e.tensorType(slice.type, slice.dims), slice.tensor);
  return slice;
}

LogicalResult lowerLoop(NodeLowering &n) {
  Emitter &e = n.e;
  const Graph *graph = graphOf(n, "body");
  if (!graph || graph->inputs.size() < 2 || graph->outputs.empty())
    return n.refuse("has no body");
  if (llvm::is_contained(ArrayRef(n.inputs).drop_front(std::min<size_t>(2, n.inputs.size())), nullptr))
    return n.refuse("leaves out a state");
  SmallVector<Value> states;
  for (size_t i = 2; i < n.inputs.size(); ++i)
    states.push_back(n.in(i));
  if (graph->inputs.size() != states.size() + 2 || graph->outputs.size() < states.size() + 1)
    return n.refuse("has a body of another number of inputs or outputs");
  if (!areTensors(states))
    return unrollLoop(n, *graph, states);
  for (size_t input : {0, 1})
    if (n.has(input) && n.in(input).kind != Value::Kind::Tensor)
      return n.refuse("takes a sequence or an optional value for its turns");
  mlir::Value count, goesOn;
  if (n.has(0)) {
    FailureOr<Dims> turns = e.elementsOf(n.in(0));
    if (failed(turns) || turns->size() != 1)
      return failure();
    count = e.indexOf(turns->front());
  }
  if (n.has(1))
    goesOn = scalarOf(e, n.in(1));
  if (!count && !goesOn)
    return n.refuse("never ends");
  // A condition that each turn passes on as it was is that of the beginning.
  const bool passesOn =
      graph->outputs[0].name == graph->inputs[1].name || llvm::any_of(graph->nodes, [&](const Node &node) {
        return node.op == "Identity" && node.outputs[0] == graph->outputs[0].name &&
               node.inputs[0] == graph->inputs[1].name;
      });
  const bool isAlways = n.has(1) ? n.in(1).elements && Emitter::known(n.in(1).elements->front()) == 1 : true;
  const size_t slices = graph->outputs.size() - states.size() - 1;
  LoopBuilder loop(n, states);
  return loop.run(
      count, goesOn, SmallVector<int64_t>(slices, 0), SmallVector<bool>(slices, false),
      [&](mlir::Value turn, mlir::Value flag, ArrayRef<Value> current) -> FailureOr<LoopBuilder::Turn> {
        SmallVector<Value> inputs = {e.scalars(DataType::I64, {turn}, /*isScalar=*/true)};
        inputs.push_back(
            e.wrap(tensor::FromElementsOp::create(e.b, e.loc, RankedTensorType::get({}, e.b.getI1Type()), flag),
                   DataType::Bool, {}));
        llvm::append_range(inputs, current);
        FailureOr<SmallVector<Value>> outputs = importBody(n, *graph, inputs);
        if (failed(outputs))
          return failure();
        if (!areTensors(*outputs))
          return n.refuse("makes sequences or optional values of tensors");
        LoopBuilder::Turn result;
        ArrayRef<Value> all = *outputs;
        const Value &next = all.front();
        const bool isTrue = next.elements && Emitter::known(next.elements->front()) == 1;
        if (!((passesOn || isTrue) && isAlways && count))
          result.goesOn = scalarOf(e, next);
        result.states.append(all.begin() + 1, all.begin() + 1 + states.size());
        for (size_t i = 1 + states.size(); i < all.size(); ++i)
          result.collected.push_back(asDeclared(e, all[i], graph->outputs[i].type));
        return result;
      },
      n.results);
}

// Along which dimension each input is taken apart and each output put together, and whether from the end on.
struct Scanned {
  SmallVector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections;
};

// The body for each slice of the inputs behind the states.
LogicalResult scan(NodeLowering &n, const Graph &graph, ArrayRef<Value> inputs, const Scanned &how,
                   SmallVectorImpl<Value> &results) {
  Emitter &e = n.e;
  const size_t scanned = how.inputAxes.size(), carried = inputs.size() - scanned;
  SmallVector<Value> states(inputs.take_front(carried));
  SmallVector<int64_t> axes;
  for (auto [axis, value] : llvm::zip(how.inputAxes, inputs.drop_front(carried))) {
    FailureOr<int64_t> dim = n.dimension(axis, value.rank());
    if (failed(dim))
      return failure();
    axes.push_back(*dim);
  }
  mlir::Value count = e.indexOf(inputs[carried].dims[axes[0]]);
  SmallVector<bool> fromEnd;
  for (int64_t direction : how.outputDirections)
    fromEnd.push_back(direction != 0);
  LoopBuilder loop(n, states);
  return loop.run(
      count, {}, how.outputAxes, fromEnd,
      [&](mlir::Value turn, mlir::Value, ArrayRef<Value> current) -> FailureOr<LoopBuilder::Turn> {
        SmallVector<Value> all(current);
        for (size_t i = 0; i < scanned; ++i) {
          const Value &value = inputs[carried + i];
          const int64_t axis = axes[i];
          Dims offsets(value.rank(), e.number(0)), sizes = value.dims, dims = value.dims;
          offsets[axis] = how.inputDirections[i] ? e.sub(e.sub(count, e.number(1)), turn) : OpFoldResult(turn);
          sizes[axis] = e.number(1);
          dims.erase(dims.begin() + axis);
          FailureOr<Value> slice = e.reshape(e.slice(value, offsets, sizes, Dims(value.rank(), e.number(1))), dims);
          if (failed(slice))
            return failure();
          all.push_back(*slice);
        }
        FailureOr<SmallVector<Value>> outputs = importBody(n, graph, all);
        if (failed(outputs))
          return failure();
        if (!areTensors(*outputs))
          return n.refuse("makes sequences or optional values of tensors");
        LoopBuilder::Turn result;
        result.states.append(outputs->begin(), outputs->begin() + static_cast<int64_t>(carried));
        for (size_t i = carried; i < outputs->size(); ++i)
          result.collected.push_back(asDeclared(e, (*outputs)[i], graph.outputs[i].type));
        return result;
      },
      results);
}

// Of opset 8, whose first input are lengths and whose others have batches: one scan after the other.
LogicalResult scanBatches(NodeLowering &n, const Graph &graph, const Scanned &how) {
  Emitter &e = n.e;
  ArrayRef<const Value *> inputs = ArrayRef(n.inputs).drop_front();
  if (n.has(0))
    return n.refuse("has lengths of its sequences");
  std::optional<int64_t> batches = inputs[0]->rank() > 0 ? Emitter::known(inputs[0]->dims[0]) : std::nullopt;
  constexpr int64_t kMostBatches = 64;
  if (!batches || *batches < 1 || *batches > kMostBatches)
    return n.refuse("has an unknown number of batches, or more than " + Twine(kMostBatches));
  std::vector<SmallVector<Value>> parts(graph.outputs.size());
  for (int64_t batch = 0; batch < *batches; ++batch) {
    SmallVector<Value> own, results;
    for (const Value *input : inputs) {
      Dims offsets(input->rank(), e.number(0)), sizes = input->dims;
      if (input->rank() == 0)
        return n.refuse("has an input without batches");
      sizes[0] = e.number(1);
      offsets[0] = e.number(batch);
      FailureOr<Value> slice = e.reshape(e.slice(*input, offsets, sizes, Dims(input->rank(), e.number(1))),
                                         Dims(input->dims.begin() + 1, input->dims.end()));
      if (failed(slice))
        return failure();
      own.push_back(*slice);
    }
    if (failed(scan(n, graph, own, how, results)))
      return failure();
    for (auto [all, result] : llvm::zip(parts, results))
      all.push_back(e.unsqueeze(result, {0}));
  }
  for (const SmallVector<Value> &all : parts)
    if (failed(n.give(e.concat(llvm::to_vector(llvm::make_pointer_range(all)), 0))))
      return failure();
  return success();
}

LogicalResult lowerScan(NodeLowering &n) {
  const Graph *graph = graphOf(n, "body");
  const bool hasBatches = n.opset < 9;
  const int64_t scanned = n.integer("num_scan_inputs", 0),
                inputs = static_cast<int64_t>(n.inputs.size()) - (hasBatches ? 1 : 0);
  if (!graph || scanned < 1 || scanned > inputs ||
      llvm::is_contained(ArrayRef(n.inputs).drop_front(hasBatches ? 1 : 0), nullptr))
    return n.refuse("has no body, or nothing to scan");
  const int64_t carried = inputs - scanned;
  const int64_t collected = static_cast<int64_t>(graph->outputs.size()) - carried;
  if (collected < 0)
    return n.refuse("has a body that gives too little");
  const Scanned how{n.integersOr("scan_input_axes", scanned, 0),
                    n.integersOr(hasBatches ? "directions" : "scan_input_directions", scanned, 0),
                    n.integersOr("scan_output_axes", collected, 0),
                    n.integersOr("scan_output_directions", collected, 0)};
  if (hasBatches)
    return scanBatches(n, *graph, how);
  SmallVector<Value> values;
  for (const Value *input : n.inputs)
    values.push_back(*input);
  return scan(n, *graph, values, how, n.results);
}

// The body for each element of the first sequence, with those at the same place of other sequences.
LogicalResult lowerSequenceMap(NodeLowering &n) {
  const Graph *graph = graphOf(n, "body");
  if (!graph || graph->inputs.size() != n.inputs.size() || llvm::is_contained(n.inputs, nullptr))
    return n.refuse("has no body, or one of another number of inputs");
  if (!n.in(0).isSequence())
    return n.refuse("maps no sequence");
  std::vector<std::vector<Value>> results(graph->outputs.size());
  for (size_t place = 0; place < n.in(0).sequence.size(); ++place) {
    SmallVector<Value> inputs;
    for (const Value *input : n.inputs) {
      if (input->isSequence() && place >= input->sequence.size())
        return n.refuse("has a sequence that is shorter than the first one");
      inputs.push_back(input->isSequence() ? input->sequence[place] : *input);
    }
    FailureOr<SmallVector<Value>> outputs = importBody(n, *graph, inputs);
    if (failed(outputs))
      return failure();
    if (!areTensors(*outputs))
      return n.refuse("makes a sequence of sequences");
    for (auto [all, output] : llvm::zip(results, *outputs))
      all.push_back(output);
  }
  for (std::vector<Value> &all : results)
    n.results.push_back(Value::sequenceOf(std::move(all)));
  return success();
}

} // namespace

void registerControl(Registry &registry) {
  registry["If"] = {lowerIf};
  registry["Loop"] = {lowerLoop, 0, /*adds=*/false, /*takesSequences=*/true};
  registry["Scan"] = {lowerScan, 0};
  registry["SequenceMap"] = {lowerSequenceMap, 1, /*adds=*/false, /*takesSequences=*/true};
}

} // namespace kiln::onnx
