#include "kiln/compiler/Input/Onnx/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

RankedTensorType commonType(RankedTensorType a, RankedTensorType b) {
  SmallVector<int64_t> shape;
  for (auto [x, y] : llvm::zip(a.getShape(), b.getShape()))
    shape.push_back(x == y ? x : ShapedType::kDynamic);
  return a.clone(shape);
}

mlir::Value castTo(Emitter &e, RankedTensorType type, mlir::Value tensor) {
  return tensor.getType() == type ? tensor : tensor::CastOp::create(e.b, e.loc, type, tensor).getResult();
}

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

LoopBuilder::LoopBuilder(NodeLowering &n, SmallVector<Value> states) : n(n), e(n.e), states(std::move(states)) {
  for (Value &state : this->states) {
    state.tensor = e.tensorOf(state);
    types.push_back(cast<RankedTensorType>(state.tensor.getType()));
  }
}

LogicalResult LoopBuilder::run(mlir::Value count, mlir::Value goesOn, ArrayRef<int64_t> axes, ArrayRef<bool> fromEnd,
                               Body body, SmallVectorImpl<Value> &results) {
  constexpr int kTries = 8;
  for (int tried = 0; tried < kTries; ++tried) {
    auto [outcome, again] = tryOnce(count, goesOn, axes, fromEnd, body, results);
    if (!again)
      return outcome;
  }
  return n.refuse("changes the types of its state in each turn");
}

std::pair<LogicalResult, bool> LoopBuilder::tryOnce(mlir::Value count, mlir::Value goesOn, ArrayRef<int64_t> axes,
                                                    ArrayRef<bool> fromEnd, Body body,
                                                    SmallVectorImpl<Value> &results) {
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
      RankedTensorType both = commonType(type, cast<RankedTensorType>(e.tensorOf(next).getType()));
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
                getConstantIntValue(count) ? e.number(*getConstantIntValue(count)) : OpFoldResult(count));
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
    SmallVector<mlir::Value> operands = {zero,
                                         goesOn ? goesOn : arith::ConstantOp::create(e.b, loc, e.b.getBoolAttr(true))};
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

SmallVector<Value> LoopBuilder::arguments(Block &block) {
  SmallVector<Value> current;
  for (auto [state, type] : llvm::zip(states, types))
    current.push_back(valueOf(e, block.addArgument(type, e.loc), state.type));
  return current;
}

} // namespace kiln::onnx
