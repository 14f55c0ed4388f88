// Operators that have graphs: If, Loop, Scan.
#include "kiln/compiler/Input/Onnx/GraphImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// The least special type that both have.
RankedTensorType common(RankedTensorType a, RankedTensorType b) {
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(a.getShape(), b.getShape()))
    shape.push_back(x == y ? x : ShapedType::kDynamic);
  return a.clone(shape);
}

mlir::Value castTo(Emitter &e, RankedTensorType type, mlir::Value tensor) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(e.b, e.loc, type, tensor).getResult();
}

// With its extents as the program has them.
Value valueOf(Emitter &e, mlir::Value tensor, DataType type) {
  Value value{type, {}, tensor};
  auto shape = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim = 0; dim < shape.getRank(); ++dim)
    if (shape.isDynamicDim(dim))
      value.dims.push_back(tensor::DimOp::create(e.b, e.loc, tensor, dim).getResult());
    else
      value.dims.push_back(e.number(shape.getDimSize(dim)));
  return value;
}

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
    types.push_back(common(cast<RankedTensorType>(x.tensor.getType()), cast<RankedTensorType>(y.tensor.getType())));
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

// A loop whose state is tensors: of `count` turns, or as long as the state says. The body is imported again with less
// special types where it gives the state others than it had.
class LoopBuilder {
public:
  LoopBuilder(NodeLowering &n, SmallVector<Value> states) : n(n), e(n.e), states(std::move(states)) {
    for (Value &state : this->states) {
      state.tensor = e.tensorOf(state);
      types.push_back(cast<RankedTensorType>(state.tensor.getType()));
    }
  }

  // What a turn gives: the states that follow, and slices that are collected along dimensions.
  struct Turn {
    SmallVector<Value> states, collected;
    mlir::Value goesOn; // i1; null where all turns are taken
  };
  using Body = function_ref<FailureOr<Turn>(mlir::Value turn, mlir::Value goesOn, ArrayRef<Value> states)>;

  // Gives the last states, and what was collected of each turn along its axis, from the end on where that is so.
  LogicalResult run(mlir::Value count, mlir::Value goesOn, ArrayRef<int64_t> axes, ArrayRef<bool> fromEnd, Body body,
                    SmallVectorImpl<Value> &results) {
    constexpr int kTries = 8;
    for (int tried = 0; tried < kTries; ++tried) {
      auto [outcome, again] = tryOnce(count, goesOn, axes, fromEnd, body, results);
      if (!again)
        return outcome;
    }
    return n.refuse("changes the types of its state in each turn");
  }

private:
  std::pair<LogicalResult, bool> tryOnce(mlir::Value count, mlir::Value goesOn, ArrayRef<int64_t> axes,
                                         ArrayRef<bool> fromEnd, Body body, SmallVectorImpl<Value> &results) {
    // The body is imported apart first, to see which slices it gives.
    const Location loc = e.loc;
    Region probe;
    FailureOr<Turn> seen = failure();
    {
      OpBuilder::InsertionGuard guard(e.b);
      Block *block = e.b.createBlock(&probe);
      mlir::Value turn = block->addArgument(e.b.getIndexType(), loc), flag = block->addArgument(e.b.getI1Type(), loc);
      seen = body(turn, flag, arguments(*block));
      if (failed(seen))
        return {failure(), false};
      for (auto [state, next, type] : llvm::zip(states, seen->states, types)) {
        if (next.type != state.type || next.rank() != state.rank())
          return {n.refuse("changes the rank or the element type of its state"), false};
        RankedTensorType both = common(type, cast<RankedTensorType>(e.tensorOf(next).getType()));
        if (both != type) {
          type = both;
          probe.dropAllReferences();
          return {success(), true};
        }
      }
    }
    SmallVector<Value> slices = seen->collected;
    SmallVector<DataType> sliceTypes;
    SmallVector<SmallVector<std::optional<int64_t>>> shapes;
    for (const Value &slice : slices) {
      sliceTypes.push_back(slice.type);
      SmallVector<std::optional<int64_t>> shape;
      for (OpFoldResult extent : slice.dims)
        shape.push_back(Emitter::known(extent));
      if (llvm::is_contained(shape, std::nullopt))
        return {n.refuse("collects slices whose extents are not known"), false};
      shapes.push_back(shape);
    }
    const bool isWhile = seen->goesOn != nullptr;
    probe.dropAllReferences();
    if (!slices.empty() && !count)
      return {n.refuse("collects slices of an unknown number of turns"), false};
    SmallVector<mlir::Value> initial;
    for (auto [state, type] : llvm::zip(states, types))
      initial.push_back(castTo(e, type, state.tensor));
    for (auto [shape, type, axis] : llvm::zip(shapes, sliceTypes, axes)) {
      Dims dims;
      for (std::optional<int64_t> extent : shape)
        dims.push_back(e.number(*extent));
      dims.insert(dims.begin() + (axis < 0 ? axis + int64_t(dims.size()) + 1 : axis),
                  isConstant(count) ? e.number(*isConstant(count)) : OpFoldResult(count));
      initial.push_back(e.empty(type, dims).tensor);
    }
    auto turnOf = [&](mlir::Value index, mlir::Value flag, Block &block,
                      size_t first) -> FailureOr<std::pair<SmallVector<mlir::Value>, mlir::Value>> {
      SmallVector<Value> current;
      for (size_t i = 0; i < states.size(); ++i)
        current.push_back(valueOf(e, block.getArgument(first + i), states[i].type));
      FailureOr<Turn> turn = body(index, flag, current);
      if (failed(turn))
        return failure();
      SmallVector<mlir::Value> next;
      for (auto [value, type] : llvm::zip(turn->states, types))
        next.push_back(castTo(e, type, e.tensorOf(value)));
      for (auto [i, slice] : llvm::enumerate(turn->collected)) {
        mlir::Value into = block.getArgument(first + states.size() + i);
        const int64_t axis = axes[i] < 0 ? axes[i] + slice.rank() + 1 : axes[i];
        Dims offsets(slice.rank() + 1, e.number(0)), sizes = slice.dims, steps(slice.rank() + 1, e.number(1));
        sizes.insert(sizes.begin() + axis, e.number(1));
        offsets[axis] = fromEnd[i] ? e.sub(e.sub(count, e.number(1)), index) : OpFoldResult(index);
        next.push_back(tensor::InsertSliceOp::create(e.b, loc, e.tensorOf(slice), into, offsets, sizes, steps));
      }
      return std::pair(next, turn->goesOn);
    };
    SmallVector<mlir::Value> last;
    mlir::Value turns = count;
    mlir::Value zero = arith::ConstantIndexOp::create(e.b, loc, 0), one = arith::ConstantIndexOp::create(e.b, loc, 1);
    if (!isWhile) {
      auto loop = scf::ForOp::create(e.b, loc, zero, count, one, initial);
      OpBuilder::InsertionGuard guard(e.b);
      Block &block = *loop.getBody();
      e.b.setInsertionPointToStart(&block);
      mlir::Value always = arith::ConstantOp::create(e.b, loc, e.b.getBoolAttr(true));
      auto next = turnOf(loop.getInductionVar(), always, block, 1);
      if (failed(next))
        return {failure(), false};
      scf::YieldOp::create(e.b, loc, next->first);
      llvm::append_range(last, loop.getResults());
    } else {
      SmallVector<mlir::Value> operands = {zero, goesOn ? goesOn
                                                        : arith::ConstantOp::create(e.b, loc, e.b.getBoolAttr(true))};
      llvm::append_range(operands, initial);
      SmallVector<Location> locations(operands.size(), loc);
      SmallVector<Type> operandTypes(ValueRange(operands).getTypes());
      auto loop = scf::WhileOp::create(e.b, loc, operandTypes, operands);
      OpBuilder::InsertionGuard guard(e.b);
      Block *before = e.b.createBlock(&loop.getBefore(), {}, operandTypes, locations);
      mlir::Value condition = before->getArgument(1);
      if (count) {
        mlir::Value isLeft = arith::CmpIOp::create(e.b, loc, arith::CmpIPredicate::slt, before->getArgument(0), count);
        condition = arith::AndIOp::create(e.b, loc, condition, isLeft);
      }
      scf::ConditionOp::create(e.b, loc, condition, before->getArguments());
      Block *after = e.b.createBlock(&loop.getAfter(), {}, operandTypes, locations);
      auto next = turnOf(after->getArgument(0), after->getArgument(1), *after, 2);
      if (failed(next))
        return {failure(), false};
      SmallVector<mlir::Value> yielded = {arith::AddIOp::create(e.b, loc, after->getArgument(0), one), next->second};
      llvm::append_range(yielded, next->first);
      scf::YieldOp::create(e.b, loc, yielded);
      turns = loop.getResult(0);
      llvm::append_range(last, loop.getResults().drop_front(2));
    }
    for (auto [i, tensor] : llvm::enumerate(last)) {
      if (i < states.size()) {
        results.push_back(valueOf(e, tensor, states[i].type));
        continue;
      }
      Value all = valueOf(e, tensor, sliceTypes[i - states.size()]);
      if (isWhile) {
        Dims sizes = all.dims;
        const int64_t axis = axes[i - states.size()];
        sizes[axis < 0 ? axis + all.rank() : axis] = turns;
        all = e.slice(all, Dims(all.rank(), e.number(0)), sizes, Dims(all.rank(), e.number(1)));
      }
      results.push_back(all);
    }
    return {success(), false};
  }

  static std::optional<int64_t> isConstant(mlir::Value index) { return getConstantIntValue(index); }

  SmallVector<Value> arguments(Block &block) {
    SmallVector<Value> current;
    for (auto [state, type] : llvm::zip(states, types))
      current.push_back(valueOf(e, block.addArgument(type, e.loc), state.type));
    return current;
  }

  NodeLowering &n;
  Emitter &e;
  SmallVector<Value> states;
  SmallVector<RankedTensorType> types;
};

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
