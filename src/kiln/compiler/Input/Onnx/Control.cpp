// Operators that have graphs: If, Loop, Scan.
#include "kiln/compiler/Input/Onnx/GraphImporter.h"
#include "kiln/compiler/Input/Onnx/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

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

// The graph of an attribute, into the block where the builder is, with its inputs. Fails where nodes were refused,
// which are listed by themselves then.
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
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&regions[i]);
    FailureOr<SmallVector<Value>> outputs = importBody(n, *branches[i], {});
    if (failed(outputs))
      return failure();
    results[i] = *outputs;
    for (Value &value : results[i])
      value.tensor = e.tensorOf(value);
  }
  SmallVector<Type> types;
  for (auto [x, y] : llvm::zip(results[0], results[1])) {
    if (x.rank() != y.rank() || x.type != y.type)
      return n.refuse("has branches that give tensors of different ranks or types");
    types.push_back(commonType(cast<RankedTensorType>(x.tensor.getType()), cast<RankedTensorType>(y.tensor.getType())));
  }
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToEnd(&regions[i].front());
    SmallVector<mlir::Value> yielded;
    for (auto [value, type] : llvm::zip(results[i], types))
      yielded.push_back(castTo(e, cast<RankedTensorType>(type), value.tensor));
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  auto branch = scf::IfOp::create(e.b, e.loc, types, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(regions[0]);
  branch.getElseRegion().takeBody(regions[1]);
  for (auto [result, value] : llvm::zip(branch.getResults(), results[0]))
    n.results.push_back(valueOf(e, result, value.type));
  return success();
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
        LoopBuilder::Turn result;
        ArrayRef<Value> all = *outputs;
        const Value &next = all.front();
        const bool isTrue = next.elements && Emitter::known(next.elements->front()) == 1;
        if (!((passesOn || isTrue) && isAlways && count))
          result.goesOn = scalarOf(e, next);
        result.states.append(all.begin() + 1, all.begin() + 1 + states.size());
        result.collected.append(all.begin() + 1 + states.size(), all.end());
        return result;
      },
      n.results);
}

LogicalResult lowerScan(NodeLowering &n) {
  Emitter &e = n.e;
  const Graph *graph = graphOf(n, "body");
  const int64_t scanned = n.integer("num_scan_inputs", 0);
  const auto inputs = static_cast<int64_t>(n.inputs.size());
  if (n.opset < 9)
    return n.refuse("of opset 8 has batches");
  if (llvm::is_contained(n.inputs, nullptr) || !graph || scanned < 1 || scanned > inputs)
    return n.refuse("has no body, or nothing to scan");
  const int64_t carried = inputs - scanned;
  const int64_t collected = static_cast<int64_t>(graph->outputs.size()) - carried;
  if (collected < 0)
    return n.refuse("has a body that gives too little");
  SmallVector<int64_t> inputAxes = n.integersOr("scan_input_axes", scanned, 0),
                       inputDirections = n.integersOr("scan_input_directions", scanned, 0),
                       outputAxes = n.integersOr("scan_output_axes", collected, 0),
                       outputDirections = n.integersOr("scan_output_directions", collected, 0);
  SmallVector<Value> states;
  for (int64_t i = 0; i < carried; ++i)
    states.push_back(n.in(i));
  for (int64_t i = 0; i < scanned; ++i) {
    FailureOr<int64_t> axis = n.dimension(inputAxes[i], n.in(carried + i).rank());
    if (failed(axis))
      return failure();
    inputAxes[i] = *axis;
  }
  mlir::Value count = e.indexOf(n.in(carried).dims[inputAxes[0]]);
  SmallVector<bool> fromEnd;
  for (int64_t direction : outputDirections)
    fromEnd.push_back(direction != 0);
  LoopBuilder loop(n, states);
  return loop.run(
      count, {}, outputAxes, fromEnd,
      [&](mlir::Value turn, mlir::Value, ArrayRef<Value> current) -> FailureOr<LoopBuilder::Turn> {
        SmallVector<Value> all(current);
        for (int64_t i = 0; i < scanned; ++i) {
          const Value &value = n.in(carried + i);
          const int64_t axis = inputAxes[i];
          Dims offsets(value.rank(), e.number(0)), sizes = value.dims, dims = value.dims;
          offsets[axis] = inputDirections[i] ? e.sub(e.sub(count, e.number(1)), turn) : OpFoldResult(turn);
          sizes[axis] = e.number(1);
          dims.erase(dims.begin() + axis);
          FailureOr<Value> slice = e.reshape(e.slice(value, offsets, sizes, Dims(value.rank(), e.number(1))), dims);
          if (failed(slice))
            return failure();
          all.push_back(*slice);
        }
        FailureOr<SmallVector<Value>> outputs = importBody(n, *graph, all);
        if (failed(outputs))
          return failure();
        LoopBuilder::Turn result;
        result.states.append(outputs->begin(), outputs->begin() + carried);
        result.collected.append(outputs->begin() + carried, outputs->end());
        return result;
      },
      n.results);
}

} // namespace

void registerControl(Registry &registry) {
  registry["If"] = {lowerIf};
  registry["Loop"] = {lowerLoop, 0};
  registry["Scan"] = {lowerScan};
}

} // namespace kiln::onnx
