// Operators that select as many elements as the program finds: NonZero, Compress, Unique, NonMaxSuppression. How many
// there are is read by the host before the result is made.
#include <limits>

#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"
#include "kiln/compiler/Input/Onnx/Loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Tensors of one shape, ordered alike along a dimension: by elements of the first one, of which equal ones keep their
// order.
SmallVector<Value> sorted(Emitter &e, ArrayRef<Value> values, int64_t dim,
                          function_ref<mlir::Value(Scalars &, mlir::Value, mlir::Value)> goesFirst) {
  SmallVector<mlir::Value> tensors;
  SmallVector<Type> elements;
  for (const Value &value : values) {
    tensors.push_back(e.tensorOf(value));
    elements.append(2, e.elementType(value.type));
  }
  auto sort =
      LinalgExt::SortOp::create(e.b, e.loc, ValueRange(tensors).getTypes(), e.b.getI64IntegerAttr(dim), tensors);
  OpBuilder::InsertionGuard guard(e.b);
  Block *block = e.b.createBlock(&sort.getBody(), {}, elements, SmallVector<Location>(elements.size(), e.loc));
  Scalars s(e.b, e.loc, Emitter::isUnsigned(values.front().type));
  LinalgExt::YieldOp::create(e.b, e.loc, goesFirst(s, block->getArgument(0), block->getArgument(1)));
  SmallVector<Value> results;
  for (auto [result, value] : llvm::zip(sort.getResults(), values))
    results.push_back(e.wrap(result, value.type, value.dims));
  return results;
}

// NaN is behind all numbers, which would have no order else.
mlir::Value ascending(Scalars &s, mlir::Value x, mlir::Value y) {
  mlir::Value isBefore = s.less(x, y);
  if (!isa<FloatType>(x.getType()))
    return isBefore;
  mlir::Value isLastNumber = s.make<arith::AndIOp>(s.equal(x, x), s.logicalNot(s.equal(y, y)));
  return s.make<arith::OrIOp>(isBefore, isLastNumber);
}

// Elements from 0 on along a dimension.
Value counted(Emitter &e, const Dims &dims, int64_t dim = 0) {
  return e.generate(DataType::I64, dims, [&](Scalars &s, ValueRange at) -> mlir::Value {
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), at[dim]);
  });
}

// Elements of a list, or slices along a dimension, at some places, which are held to it.
Value taken(Emitter &e, const Value &value, const Value &places, int64_t dim = 0) {
  Dims dims = value.dims;
  dims[dim] = places.dims[0];
  mlir::Value tensor = e.tensorOf(value), indices = e.tensorOf(places),
              last = e.indexOf(e.sub(value.dims[dim], e.number(1)));
  return e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from(at);
    from[dim] = s.min(s.toIndex(Emitter::load(s, indices, at[dim])), last);
    return Emitter::load(s, tensor, from);
  });
}

FailureOr<Value> flatten(Emitter &e, const Value &value) {
  return e.reshape(value, {e.product(value.dims)});
}

// The places of a list of booleans that are true, in order.
FailureOr<Value> placesOf(Emitter &e, const Value &flags) {
  Value numbers = e.cast(flags, DataType::I64);
  Value total = e.reduce(numbers, {0}, /*keepsAxes=*/false, e.constantScalar(0, DataType::I64), DataType::I64,
                         [](Scalars &s, mlir::Value element, mlir::Value soFar) { return s.add(soFar, element); });
  FailureOr<Dims> count = e.elementsOf(total);
  if (failed(count))
    return failure();
  SmallVector<Value> ordered = sorted(e, {numbers, counted(e, flags.dims)}, 0,
                                      [](Scalars &s, mlir::Value x, mlir::Value y) { return s.less(y, x); });
  return e.slice(ordered[1], {e.number(0)}, {count->front()}, {e.number(1)});
}

// A column of indices for each element that is not zero.
LogicalResult lowerNonZero(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  FailureOr<Value> flat = flatten(e, e.cast(value, DataType::Bool));
  if (failed(flat))
    return failure();
  FailureOr<Value> places = placesOf(e, *flat);
  if (failed(places))
    return failure();
  const int64_t rank = std::max<int64_t>(value.rank(), 1);
  SmallVector<mlir::Value> extents;
  for (OpFoldResult extent : value.dims)
    extents.push_back(e.indexOf(extent));
  mlir::Value tensor = places->tensor;
  return n.give(e.generate(DataType::I64, {e.number(rank), places->dims[0]}, [&](Scalars &s, ValueRange at) {
    mlir::Value rest = s.toIndex(Emitter::load(s, tensor, at[1])), result = s.index(0);
    for (int64_t dim = value.rank() - 1; dim >= 0; --dim) {
      mlir::Value own = s.make<arith::RemUIOp>(rest, extents[dim]);
      result = s.select(s.equal(at[0], s.index(dim)), own, result);
      rest = s.make<arith::DivUIOp>(rest, extents[dim]);
    }
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), result);
  }));
}

LogicalResult lowerCompress(NodeLowering &n) {
  Emitter &e = n.e;
  int64_t dim = 0;
  FailureOr<Value> value = n.in(0);
  if (n.attribute("axis")) {
    FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value->rank());
    if (failed(axis))
      return failure();
    dim = *axis;
  } else {
    value = flatten(e, *value);
  }
  if (failed(value) || n.in(1).rank() != 1)
    return n.refuse("needs a list of conditions");
  FailureOr<Value> places = placesOf(e, e.cast(n.in(1), DataType::Bool));
  return failed(places) ? failure() : n.give(taken(e, *value, *places, dim));
}

// The first one of equal elements, or of equal slices along an axis.
LogicalResult lowerUnique(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool isSorted = n.integer("sorted", 1) != 0, hasAxis = n.attribute("axis") != nullptr;
  int64_t axis = 0;
  Value rows; // each slice as a row
  if (hasAxis) {
    FailureOr<int64_t> dim = n.dimension(n.integer("axis", 0), value.rank());
    if (failed(dim))
      return failure();
    axis = *dim;
    SmallVector<int64_t> order = {axis};
    Dims rest;
    for (int64_t other = 0; other < value.rank(); ++other)
      if (other != axis) {
        order.push_back(other);
        rest.push_back(value.dims[other]);
      }
    FailureOr<Value> matrix = e.reshape(e.transpose(value, order), {value.dims[axis], e.product(rest)});
    if (failed(matrix))
      return failure();
    rows = *matrix;
  } else {
    FailureOr<Value> column = e.reshape(value, {e.product(value.dims), e.number(1)});
    if (failed(column))
      return failure();
    rows = *column;
  }
  constexpr int64_t kMostColumns = 64;
  std::optional<int64_t> columns = Emitter::known(rows.dims[1]);
  if (!columns || *columns > kMostColumns)
    return n.refuse("compares slices of an unknown size, or of more than " + Twine(kMostColumns) + " elements");
  // By the last column first: rows that are equal in another one keep that order.
  const Dims list = {rows.dims[0]};
  mlir::Value matrix = e.tensorOf(rows);
  Value order = counted(e, list);
  for (int64_t column = *columns - 1; column >= 0; --column) {
    mlir::Value places = order.tensor;
    Value keys = e.generate(rows.type, list, [&](Scalars &s, ValueRange at) {
      return Emitter::load(s, matrix, {s.toIndex(Emitter::load(s, places, at[0])), s.index(column)});
    });
    order = sorted(e, {keys, order}, 0, ascending)[1];
  }
  mlir::Value places = order.tensor;
  Value isFirst = e.generate(DataType::Bool, list, [&](Scalars &s, ValueRange at) {
    mlir::Value differs = s.equal(at[0], s.index(0)), before = s.max(s.index(0), s.sub(at[0], s.index(1)));
    auto element = [&](mlir::Value place, int64_t column) {
      return Emitter::load(s, matrix, {s.toIndex(Emitter::load(s, places, place)), s.index(column)});
    };
    for (int64_t column = 0; column < *columns; ++column) {
      mlir::Value isSame = s.equal(element(at[0], column), element(before, column));
      differs = s.make<arith::OrIOp>(differs, s.logicalNot(isSame));
    }
    return differs;
  });
  FailureOr<Value> starts = placesOf(e, isFirst); // of groups, in the order
  if (failed(starts))
    return failure();
  Value indices = taken(e, order, *starts), groups = counted(e, starts->dims);
  mlir::Value startsTensor = starts->tensor, groupCount = e.indexOf(starts->dims[0]), total = e.indexOf(list[0]);
  Value counts = e.generate(DataType::I64, starts->dims, [&](Scalars &s, ValueRange at) {
    mlir::Value next = s.add(at[0], s.index(1)), isLast = s.equal(next, groupCount);
    mlir::Value end = s.toIndex(Emitter::load(s, startsTensor, s.select(isLast, at[0], next)));
    end = s.select(isLast, total, end);
    mlir::Value begin = s.toIndex(Emitter::load(s, startsTensor, at[0]));
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), s.sub(end, begin));
  });
  // The group of each place of the order, and of each place of the value.
  Value flags = e.cast(isFirst, DataType::I64), none = e.filled(DataType::I64, {}, e.constantScalar(0, DataType::I64));
  auto scan = LinalgExt::ScanOp::create(e.b, e.loc, TypeRange{flags.tensor.getType(), none.tensor.getType()},
                                        e.b.getI64IntegerAttr(0), e.b.getBoolAttr(true), flags.tensor,
                                        e.empty(DataType::I64, list).tensor, none.tensor);
  {
    OpBuilder::InsertionGuard guard(e.b);
    Type i64 = e.b.getI64Type();
    Block *block = e.b.createBlock(&scan.getBody(), {}, {i64, i64}, SmallVector<Location>(2, e.loc));
    Scalars s(e.b, e.loc);
    LinalgExt::YieldOp::create(e.b, e.loc, s.add(block->getArgument(0), block->getArgument(1)));
  }
  mlir::Value prefixes = scan.getResult(0);
  Value groupOf = e.generate(DataType::I64, list, [&](Scalars &s, ValueRange at) {
    mlir::Value count = Emitter::load(s, prefixes, at);
    return s.sub(count, s.like(1, count));
  });
  Value inverse = sorted(e, {order, groupOf}, 0, ascending)[1];
  if (!isSorted) {
    // Groups by their first places instead.
    SmallVector<Value> byPlace = sorted(e, {indices, groups}, 0, ascending);
    counts = taken(e, counts, byPlace[1]);
    Value rank = sorted(e, {byPlace[1], groups}, 0, ascending)[1];
    inverse = taken(e, rank, inverse);
    indices = byPlace[0];
  }
  FailureOr<Value> source = hasAxis ? FailureOr<Value>(value) : flatten(e, value);
  if (failed(source))
    return failure();
  n.results = {taken(e, *source, indices, axis), indices, inverse, counts};
  return success();
}

// Boxes of one picture: corners in any order, or a center and extents.
struct Boxes {
  Emitter &e;
  mlir::Value tensor;
  bool hasCenters;

  struct Box {
    mlir::Value low[2], high[2], area;
  };
  Box at(Scalars &s, mlir::Value batch, mlir::Value place) const {
    auto number = [&](int64_t which) { return Emitter::load(s, tensor, {batch, place, s.index(which)}); };
    Box box;
    for (int64_t dim = 0; dim < 2; ++dim) {
      mlir::Value x = number(dim), y = number(2 + dim);
      if (hasCenters) {
        mlir::Value half = s.div(y, s.like(2, y));
        box.low[dim] = s.sub(x, half);
        box.high[dim] = s.add(x, half);
      } else {
        box.low[dim] = s.min(x, y);
        box.high[dim] = s.max(x, y);
      }
    }
    box.area = s.mul(s.sub(box.high[0], box.low[0]), s.sub(box.high[1], box.low[1]));
    return box;
  }
  // Their intersection over their union is more than that.
  static mlir::Value overlap(Scalars &s, const Box &a, const Box &b, mlir::Value threshold) {
    mlir::Value shared;
    for (int dim = 0; dim < 2; ++dim) {
      mlir::Value length = s.sub(s.min(a.high[dim], b.high[dim]), s.max(a.low[dim], b.low[dim]));
      length = s.max(s.like(0, length), length);
      shared = shared ? s.mul(shared, length) : length;
    }
    mlir::Value all = s.sub(s.add(a.area, b.area), shared);
    mlir::Value isThere = s.less(s.like(0, all), all);
    return s.make<arith::AndIOp>(isThere, s.less(threshold, s.div(shared, all)));
  }
};

// In each turn the best box of each class that is left is taken, and those that overlap it are left out.
LogicalResult lowerNonMaxSuppression(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &boxes = n.in(0), &scores = n.in(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.type != DataType::F32 || scores.type != DataType::F32)
    return n.refuse("needs boxes and scores of three dimensions, of f32");
  if (Emitter::known(boxes.dims[2]).value_or(4) != 4 ||
      Emitter::known(e.sub(boxes.dims[0], scores.dims[0])).value_or(0) != 0 ||
      Emitter::known(e.sub(boxes.dims[1], scores.dims[2])).value_or(0) != 0)
    return n.refuse("has scores of other boxes than it has");
  OpFoldResult most = e.number(0), batch = scores.dims[0], classes = scores.dims[1], places = scores.dims[2];
  if (n.has(2)) {
    FailureOr<Dims> given = e.elementsOf(n.in(2));
    if (failed(given) || given->size() != 1)
      return n.refuse("needs one number of boxes");
    most =
        e.compute(Emitter::Arithmetic::Min, e.compute(Emitter::Arithmetic::Max, given->front(), e.number(0)), places);
  }
  auto scalarOf = [&](size_t input, double otherwise) -> FailureOr<mlir::Value> {
    Scalars s(e.b, e.loc);
    if (!n.has(input))
      return s.constant(otherwise, e.b.getF32Type());
    FailureOr<Value> scalar = e.reshape(n.in(input), {});
    if (failed(scalar))
      return failure();
    return Emitter::load(s, e.tensorOf(*scalar), {});
  };
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  FailureOr<mlir::Value> threshold = scalarOf(3, 0), least = scalarOf(4, kLowest);
  if (failed(threshold) || failed(least))
    return failure();
  const Boxes all{e, e.tensorOf(boxes), n.integer("center_point_box", 0) != 0};
  const Value left = *e.elementwise({&scores}, DataType::F32, [&](Scalars &s, ValueRange args) {
    return s.select(s.less(*least, args[0]), args[0], s.like(kLowest, args[0]));
  });
  // The scores of boxes that are left, and which box each turn took, or -1.
  Value chosen = e.filled(DataType::I64, {batch, classes, most}, e.constantScalar(-1, DataType::I64));
  mlir::Value last = e.indexOf(e.sub(places, e.number(1))), count = e.indexOf(places);
  LoopBuilder loop(n, {left, chosen});
  SmallVector<Value> results;
  LogicalResult made = loop.run(
      e.indexOf(most), {}, {}, {},
      [&](mlir::Value turn, mlir::Value, ArrayRef<Value> states) -> FailureOr<LoopBuilder::Turn> {
        const Value &scores = states[0], &chosen = states[1];
        mlir::Value best = e.reduce(scores, {2}, false, e.extreme(DataType::F32, /*isLowest=*/true), DataType::F32,
                                    [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); })
                               .tensor;
        mlir::Value current = scores.tensor, old = chosen.tensor;
        Value candidates = e.generate(DataType::I64, scores.dims, [&](Scalars &s, ValueRange at) {
          mlir::Value own = Emitter::load(s, current, at), top = Emitter::load(s, best, at.drop_back());
          mlir::Value isBest = s.make<arith::AndIOp>(s.equal(own, top), s.less(s.like(kLowest, top), top));
          return s.make<arith::IndexCastOp>(s.b.getI64Type(), s.select(isBest, at[2], count));
        });
        mlir::Value taken =
            e.reduce(candidates, {2}, false, e.extreme(DataType::I64, /*isLowest=*/false), DataType::I64,
                     [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.min(soFar, x); })
                .tensor;
        LoopBuilder::Turn result;
        result.states.push_back(e.generate(DataType::F32, scores.dims, [&](Scalars &s, ValueRange at) {
          mlir::Value place = s.toIndex(Emitter::load(s, taken, at.drop_back()));
          Boxes::Box own = all.at(s, at[0], at[2]), other = all.at(s, at[0], s.min(place, last));
          mlir::Value leaves = s.make<arith::OrIOp>(s.equal(at[2], place), Boxes::overlap(s, own, other, *threshold));
          mlir::Value score = Emitter::load(s, current, at);
          return s.select(leaves, s.like(kLowest, score), score);
        }));
        result.states.push_back(e.generate(DataType::I64, chosen.dims, [&](Scalars &s, ValueRange at) {
          mlir::Value place = s.toIndex(Emitter::load(s, taken, at.drop_back()));
          mlir::Value isNow = s.make<arith::AndIOp>(s.equal(at[2], turn), s.less(place, count));
          mlir::Value before = Emitter::load(s, old, at);
          return s.select(isNow, s.make<arith::IndexCastOp>(s.b.getI64Type(), place), before);
        }));
        // Whether anything was left of any class.
        Value isFound = e.reduce(e.wrap(best, DataType::F32, {batch, classes}), {0, 1}, false,
                                 e.extreme(DataType::F32, /*isLowest=*/true), DataType::F32,
                                 [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); });
        Scalars s(e.b, e.loc);
        mlir::Value top = Emitter::load(s, isFound.tensor, {});
        result.goesOn = s.less(s.like(kLowest, top), top);
        return result;
      },
      results);
  if (failed(made))
    return failure();
  FailureOr<Value> flat = flatten(e, results[1]);
  if (failed(flat))
    return failure();
  Value isThere = *e.elementwise(
      {&*flat}, DataType::Bool, [](Scalars &s, ValueRange args) { return s.lessOrEqual(s.like(0, args[0]), args[0]); });
  FailureOr<Value> selected = placesOf(e, isThere);
  if (failed(selected))
    return failure();
  mlir::Value found = flat->tensor, where = selected->tensor, turns = e.indexOf(most), kinds = e.indexOf(classes);
  return n.give(e.generate(DataType::I64, {selected->dims[0], e.number(3)}, [&](Scalars &s, ValueRange at) {
    mlir::Value place = s.toIndex(Emitter::load(s, where, at[0]));
    mlir::Value group = s.make<arith::DivUIOp>(place, turns), which = s.toIndex(Emitter::load(s, found, place));
    mlir::Value batch = s.make<arith::DivUIOp>(group, kinds), kind = s.make<arith::RemUIOp>(group, kinds);
    mlir::Value result = s.select(s.equal(at[1], s.index(0)), batch, s.select(s.equal(at[1], s.index(1)), kind, which));
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), result);
  }));
}

} // namespace

void registerSelecting(Registry &registry) {
  registry["Compress"] = {lowerCompress, 2};
  registry["NonMaxSuppression"] = {lowerNonMaxSuppression, 2};
  registry["NonZero"] = {lowerNonZero};
  registry["Unique"] = {lowerUnique};
}

} // namespace kiln::onnx
