// Operators that combine elements along dimensions: sums, extrema, softmax, norms.
#include <limits>

#include "kiln/compiler/Input/Onnx/Normalization.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// The dimensions along which elements are combined.
struct Along {
  SmallVector<int64_t> axes;
  std::optional<Dims> flags = {}; // where the program computes which they are
  int64_t kept = 0;               // dimensions that are left then

  Along(SmallVector<int64_t> axes = {}) : axes(std::move(axes)) {}
};

Value reduce(Emitter &e, const Value &value, const Along &along, bool keepsAxes, mlir::Value start,
             mlir::Value (*combine)(Scalars &, mlir::Value element, mlir::Value soFar)) {
  if (!along.flags)
    return e.reduce(value, along.axes, keepsAxes, start, value.type, combine);
  Value reduced = e.reduceWhere(value, *along.flags, start, value.type, combine);
  return keepsAxes ? reduced : *e.reshape(reduced, e.without(reduced.dims, *along.flags, along.kept));
}
Value sum(Emitter &e, const Value &value, const Along &along, bool keepsAxes) {
  return reduce(e, value, along, keepsAxes, e.constantScalar(0, value.type),
                [](Scalars &s, mlir::Value element, mlir::Value soFar) { return s.add(soFar, element); });
}
Value largest(Emitter &e, const Value &value, const Along &along, bool keepsAxes) {
  return reduce(e, value, along, keepsAxes, e.extreme(value.type, /*isLowest=*/true),
                [](Scalars &s, mlir::Value element, mlir::Value soFar) { return s.max(soFar, element); });
}
template <typename Body> Value mapped(Emitter &e, const Value &value, Body body) {
  return *e.elementwise({&value}, value.type, [&](Scalars &s, ValueRange args) { return body(s, args[0]); });
}
OpFoldResult countOf(Emitter &e, const Value &value, const Along &along) {
  OpFoldResult count = e.number(1);
  for (int64_t axis : along.axes)
    count = e.mul(count, value.dims[axis]);
  if (along.flags)
    for (auto [flag, extent] : llvm::zip(*along.flags, value.dims))
      count = e.mul(count, e.chosen(arith::CmpIPredicate::eq, flag, e.number(1), extent, e.number(1)));
  return count;
}
// Of a number of elements.
Value dividedBy(Emitter &e, const Value &value, OpFoldResult count) {
  mlir::Value extent = e.indexOf(count);
  return mapped(e, value, [&](Scalars &s, mlir::Value x) -> mlir::Value {
    if (isa<FloatType>(x.getType()))
      return s.div(x, s.toFloat(extent, x.getType()));
    return s.div(x, s.make<arith::IndexCastOp>(x.getType(), extent));
  });
}

enum class Reduction { Sum, Mean, Max, Min, Product, L1, L2, LogSum, LogSumExp, SumSquare };

template <Reduction kind> LogicalResult lowerReduce(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool keepsAllWithoutAxes = n.integer("noop_with_empty_axes", 0) != 0;
  Along axes;
  if (n.has(1) && !n.axesAreKnown(1)) {
    FailureOr<Dims> places = e.elementsOf(n.in(1));
    if (failed(places))
      return failure();
    axes.flags = e.flags(*places, value.rank());
    axes.kept = value.rank() - static_cast<int64_t>(places->size());
    if (places->empty() && !keepsAllWithoutAxes) {
      axes.flags = Dims(value.rank(), e.number(1));
      axes.kept = 0;
    }
  } else {
    FailureOr<std::optional<SmallVector<int64_t>>> given = n.axes(1);
    if (failed(given))
      return failure();
    if (*given && !(*given)->empty()) {
      FailureOr<SmallVector<int64_t>> all = n.dimensions(**given, value.rank());
      if (failed(all))
        return failure();
      axes.axes = *all;
    } else if (!keepsAllWithoutAxes) {
      for (int64_t dim = 0; dim < value.rank(); ++dim)
        axes.axes.push_back(dim);
    }
  }
  const bool keeps = n.integer("keepdims", 1) != 0;
  auto square = [](Scalars &s, mlir::Value x) { return s.mul(x, x); };
  auto magnitude = [](Scalars &s, mlir::Value x) -> mlir::Value {
    return isa<FloatType>(x.getType()) ? s.make<math::AbsFOp>(x) : s.make<math::AbsIOp>(x);
  };
  auto inFloat = [&](const Value &whole, auto function) {
    const DataType type = Emitter::isFloat(whole.type) ? whole.type : DataType::F64;
    Value result = mapped(e, e.cast(whole, type), function);
    return e.cast(result, whole.type);
  };
  auto log = [](Scalars &s, mlir::Value x) -> mlir::Value { return s.make<math::LogOp>(x); };
  auto root = [](Scalars &s, mlir::Value x) -> mlir::Value { return s.make<math::SqrtOp>(x); };
  switch (kind) {
  case Reduction::Sum: return n.give(sum(e, value, axes, keeps));
  case Reduction::Mean: return n.give(dividedBy(e, sum(e, value, axes, keeps), countOf(e, value, axes)));
  case Reduction::Max: return n.give(largest(e, value, axes, keeps));
  case Reduction::Min:
    return n.give(reduce(e, value, axes, keeps, e.extreme(value.type, /*isLowest=*/false),
                         [](Scalars &s, mlir::Value element, mlir::Value soFar) { return s.min(soFar, element); }));
  case Reduction::Product:
    return n.give(reduce(e, value, axes, keeps, e.constantScalar(1, value.type),
                         [](Scalars &s, mlir::Value element, mlir::Value soFar) { return s.mul(soFar, element); }));
  case Reduction::L1: return n.give(sum(e, mapped(e, value, magnitude), axes, keeps));
  case Reduction::L2: return n.give(inFloat(sum(e, mapped(e, value, square), axes, keeps), root));
  case Reduction::SumSquare: return n.give(sum(e, mapped(e, value, square), axes, keeps));
  case Reduction::LogSum: return n.give(inFloat(sum(e, value, axes, keeps), log));
  case Reduction::LogSumExp: {
    // Without an overflow: with the largest element taken out.
    const DataType type = Emitter::isFloat(value.type) ? value.type : DataType::F64;
    Value x = e.cast(value, type), most = largest(e, x, axes, /*keepsAxes=*/true);
    Value finite = mapped(e, most, [](Scalars &s, mlir::Value top) {
      mlir::Value isInfinite = s.equal(s.make<math::AbsFOp>(top), s.like(std::numeric_limits<double>::infinity(), top));
      return s.select(isInfinite, s.like(0, top), top);
    });
    FailureOr<Value> powers = e.elementwise({&x, &finite}, type, [](Scalars &s, ValueRange args) -> mlir::Value {
      return s.make<math::ExpOp>(s.sub(args[0], args[1]));
    });
    if (failed(powers))
      return failure();
    Value logs = mapped(e, sum(e, *powers, axes, /*keepsAxes=*/true), log);
    FailureOr<Value> result =
        e.elementwise({&logs, &finite}, type, [](Scalars &s, ValueRange args) { return s.add(args[0], args[1]); });
    if (failed(result))
      return failure();
    Dims dims;
    for (int64_t dim = 0; dim < value.rank(); ++dim)
      if (keeps || !llvm::is_contained(axes.axes, dim))
        dims.push_back(result->dims[dim]);
    if (axes.flags && !keeps)
      dims = e.without(result->dims, *axes.flags, axes.kept);
    FailureOr<Value> shaped = e.reshape(*result, dims);
    if (failed(shaped))
      return failure();
    return n.give(e.cast(*shaped, value.type));
  }
  }
  llvm_unreachable("all of them are there");
}

// Where the largest or smallest element along an axis is, of several the first or the last one.
Value argExtreme(Emitter &e, const Value &value, int64_t axis, bool isMax, bool takesLast) {
  Dims dims;
  SmallVector<AffineExpr> results;
  SmallVector<utils::IteratorType> iterators(value.rank(), utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  for (int64_t dim = 0; dim < value.rank(); ++dim)
    if (dim != axis) {
      dims.push_back(value.dims[dim]);
      results.push_back(e.b.getAffineDimExpr(dim));
    }
  mlir::Value best = e.filled(value.type, dims, e.extreme(value.type, /*isLowest=*/isMax)).tensor;
  mlir::Value place = e.filled(DataType::I64, dims, e.constantScalar(-1, DataType::I64)).tensor;
  AffineMap map = AffineMap::get(value.rank(), 0, results, e.b.getContext());
  SmallVector<AffineMap> maps = {e.b.getMultiDimIdentityMap(value.rank()), map, map};
  SmallVector<Type> types = {best.getType(), place.getType()};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, types, ValueRange{e.tensorOf(value)}, ValueRange{best, place}, maps, iterators,
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at, Emitter::isUnsigned(value.type));
        mlir::Value x = args[0], top = args[1];
        mlir::Value isBetter = isMax ? (takesLast ? s.lessOrEqual(top, x) : s.less(top, x))
                                     : (takesLast ? s.lessOrEqual(x, top) : s.less(x, top));
        // The first element is better than none.
        isBetter = s.make<arith::OrIOp>(isBetter, s.less(args[2], s.like(0, args[2])));
        mlir::Value index = s.make<arith::IndexCastOp>(inner.getI64Type(), linalg::IndexOp::create(inner, at, axis));
        SmallVector<mlir::Value> next = {s.select(isBetter, x, top), s.select(isBetter, index, args[2])};
        linalg::YieldOp::create(inner, at, next);
      });
  return e.wrap(generic.getResult(1), DataType::I64, dims);
}

template <bool isMax> LogicalResult lowerArgExtreme(NodeLowering &n) {
  const Value &value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis))
    return failure();
  Value places = argExtreme(n.e, value, *axis, isMax, n.integer("select_last_index", 0) != 0);
  return n.give(n.integer("keepdims", 1) ? n.e.unsqueeze(places, {*axis}) : places);
}

LogicalResult lowerHardmax(NodeLowering &n) {
  Emitter &e = n.e;
  Value value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", n.opset < 13 ? 1 : -1), value.rank());
  if (failed(axis))
    return failure();
  const Dims dims = value.dims;
  if (n.opset < 13) {
    ArrayRef<OpFoldResult> all = dims;
    FailureOr<Value> flat = e.reshape(value, {e.product(all.take_front(*axis)), e.product(all.drop_front(*axis))});
    if (failed(flat))
      return failure();
    value = *flat;
    axis = 1;
  }
  mlir::Value places = e.tensorOf(argExtreme(e, value, *axis, /*isMax=*/true, /*takesLast=*/false));
  Type element = e.elementType(value.type);
  Value result = e.generate(value.type, value.dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> row(at);
    row.erase(row.begin() + *axis);
    mlir::Value isHere = s.equal(s.toIndex(Emitter::load(s, places, row)), at[*axis]);
    return s.select(isHere, s.constant(1, element), s.constant(0, element));
  });
  return n.give(e.reshape(result, dims));
}

// exp(x - max) and its sum along axes; of a model before opset 13 along all dimensions from one on.
LogicalResult lowerSoftmax(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool isLog = n.node.op == "LogSoftmax";
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", n.opset < 13 ? 1 : -1), std::max<int64_t>(value.rank(), 1));
  if (failed(axis) || value.rank() == 0)
    return n.refuse("needs a dimension");
  SmallVector<int64_t> axes = {*axis};
  if (n.opset < 13)
    for (int64_t dim = *axis + 1; dim < value.rank(); ++dim)
      axes.push_back(dim);
  Value most = largest(e, value, axes, /*keepsAxes=*/true);
  FailureOr<Value> shifted =
      e.elementwise({&value, &most}, value.type, [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
  if (failed(shifted))
    return failure();
  auto exp = [](Scalars &s, mlir::Value x) -> mlir::Value { return s.make<math::ExpOp>(x); };
  Value powers = mapped(e, *shifted, exp), total = sum(e, powers, axes, /*keepsAxes=*/true);
  if (isLog)
    return n.give(e.elementwise({&*shifted, &total}, value.type, [](Scalars &s, ValueRange args) -> mlir::Value {
      return s.sub(args[0], s.make<math::LogOp>(args[1]));
    }));
  return n.give(e.elementwise({&powers, &total}, value.type,
                              [](Scalars &s, ValueRange args) { return s.div(args[0], args[1]); }));
}

// (x - mean) / sqrt(variance + epsilon) along axes.
FailureOr<Normalized> normalize(Emitter &e, const Value &value, const Along &axes, double epsilon, bool centers) {
  OpFoldResult count = countOf(e, value, axes);
  Normalized result;
  Value centered = value;
  if (centers) {
    result.mean = dividedBy(e, sum(e, value, axes, /*keepsAxes=*/true), count);
    FailureOr<Value> apart = e.elementwise({&value, &result.mean}, value.type,
                                           [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
    if (failed(apart))
      return failure();
    centered = *apart;
  }
  Value squares = mapped(e, centered, [](Scalars &s, mlir::Value x) { return s.mul(x, x); });
  Value variance = dividedBy(e, sum(e, squares, axes, /*keepsAxes=*/true), count);
  result.inverse = mapped(e, variance, [&](Scalars &s, mlir::Value x) {
    return s.div(s.like(1, x), s.make<math::SqrtOp>(s.add(x, s.like(epsilon, x))));
  });
  FailureOr<Value> scaled = e.elementwise({&centered, &result.inverse}, value.type,
                                          [](Scalars &s, ValueRange args) { return s.mul(args[0], args[1]); });
  if (failed(scaled))
    return failure();
  result.value = *scaled;
  return result;
}

// One number for each channel, for a value (batch, channels, space...).
FailureOr<Value> ofChannels(Emitter &e, const Value &value, const Value &numbers) {
  if (value.rank() < 2 || numbers.rank() != 1)
    return e.refuse("needs channels, and a number for each of them");
  Dims dims(value.rank(), e.number(1));
  dims[1] = numbers.dims[0];
  return e.reshape(numbers, dims);
}

LogicalResult lowerLayerNorm(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool centers = n.node.op == "LayerNormalization";
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", -1), value.rank());
  if (failed(axis))
    return failure();
  SmallVector<int64_t> axes;
  for (int64_t dim = *axis; dim < value.rank(); ++dim)
    axes.push_back(dim);
  const auto stash = static_cast<DataType>(n.integer("stash_type", static_cast<int64_t>(DataType::F32)));
  const DataType inside = Emitter::isFloat(stash) && bitsOf(stash) > bitsOf(value.type) ? stash : value.type;
  FailureOr<Normalized> normalized = normalize(e, e.cast(value, inside), axes, n.real("epsilon", 1e-5), centers);
  if (failed(normalized))
    return failure();
  Value narrow = e.cast(normalized->value, value.type);
  FailureOr<Value> result = affine(e, narrow, n.in(1), n.has(2) ? &n.in(2) : nullptr);
  if (failed(result))
    return failure();
  n.results = {*result};
  if (centers)
    n.results.push_back(normalized->mean);
  n.results.push_back(normalized->inverse);
  return success();
}

LogicalResult lowerInstanceNorm(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  SmallVector<int64_t> axes;
  for (int64_t dim = 2; dim < value.rank(); ++dim)
    axes.push_back(dim);
  FailureOr<Normalized> normalized = normalize(e, value, axes, n.real("epsilon", 1e-5), true);
  FailureOr<Value> scale = ofChannels(e, value, n.in(1)), bias = ofChannels(e, value, n.in(2));
  if (failed(normalized) || failed(scale) || failed(bias))
    return failure();
  return n.give(affine(e, normalized->value, *scale, &*bias));
}

LogicalResult lowerGroupNorm(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t groups = n.integer("num_groups", 1);
  if (failed(n.needRank(0, 2)) || failed(n.needRank(1, 1)) || failed(n.needRank(2, 1)))
    return failure();
  std::optional<int64_t> channels = Emitter::known(value.dims[1]);
  if (!channels || groups < 1 || *channels % groups != 0)
    return n.refuse("has a number of channels that its groups do not divide");
  Dims dims = {value.dims[0], e.number(groups), e.number(*channels / groups)};
  dims.append(value.dims.begin() + 2, value.dims.end());
  FailureOr<Value> grouped = e.reshape(value, dims);
  if (failed(grouped))
    return failure();
  SmallVector<int64_t> axes;
  for (int64_t dim = 2; dim < grouped->rank(); ++dim)
    axes.push_back(dim);
  const auto stash = static_cast<DataType>(n.integer("stash_type", static_cast<int64_t>(DataType::F32)));
  const DataType inside = Emitter::isFloat(stash) && bitsOf(stash) > bitsOf(value.type) ? stash : value.type;
  FailureOr<Normalized> normalized = normalize(e, e.cast(*grouped, inside), axes, n.real("epsilon", 1e-5), true);
  if (failed(normalized))
    return failure();
  FailureOr<Value> flat = e.reshape(e.cast(normalized->value, value.type), value.dims);
  if (failed(flat))
    return failure();
  // One number for each group before opset 21.
  auto spread = [&](const Value &numbers) -> FailureOr<Value> {
    if (Emitter::known(numbers.dims[0]) != groups || groups == *channels)
      return ofChannels(e, value, numbers);
    FailureOr<Value> column = e.reshape(numbers, {numbers.dims[0], e.number(1)});
    if (succeeded(column))
      column = e.expand(*column, {numbers.dims[0], e.number(*channels / groups)});
    if (succeeded(column))
      column = e.reshape(*column, {value.dims[1]});
    if (failed(column))
      return failure();
    return ofChannels(e, value, *column);
  };
  FailureOr<Value> scale = spread(n.in(1)), bias = spread(n.in(2));
  if (failed(scale) || failed(bias))
    return failure();
  return n.give(affine(e, *flat, *scale, &*bias));
}

// By the batch's own mean and variance, which also move the running ones.
LogicalResult lowerBatchNormTraining(NodeLowering &n, double epsilon) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const double momentum = n.real("momentum", 0.9);
  if (failed(n.needRank(0, 2)))
    return failure();
  SmallVector<int64_t> axes = {0};
  for (int64_t dim = 2; dim < value.rank(); ++dim)
    axes.push_back(dim);
  FailureOr<Normalized> normalized = normalize(e, value, axes, epsilon, true);
  FailureOr<Value> scale = ofChannels(e, value, n.in(1)), bias = ofChannels(e, value, n.in(2));
  if (failed(normalized) || failed(scale) || failed(bias))
    return failure();
  FailureOr<Value> result = affine(e, normalized->value, *scale, &*bias);
  if (failed(result))
    return failure();
  n.results = {*result};
  Value variance = mapped(e, normalized->inverse, [&](Scalars &s, mlir::Value x) {
    return s.sub(s.div(s.like(1, x), s.mul(x, x)), s.like(epsilon, x));
  });
  for (auto [own, running] : {std::pair(&normalized->mean, &n.in(3)), std::pair(&variance, &n.in(4))}) {
    FailureOr<Value> flat = e.reshape(*own, running->dims);
    if (failed(flat))
      return failure();
    FailureOr<Value> moved = e.elementwise({running, &*flat}, running->type, [&](Scalars &s, ValueRange args) {
      return s.add(s.mul(args[0], s.like(momentum, args[0])), s.mul(args[1], s.like(1 - momentum, args[1])));
    });
    if (failed(moved))
      return failure();
    n.results.push_back(*moved);
  }
  return success();
}

LogicalResult lowerBatchNorm(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const double epsilon = n.real("epsilon", 1e-5);
  n.ignore({"momentum"}); // of training
  if (!n.integer("spatial", 1))
    return n.refuse("has means of each place");
  if (n.integer("training_mode", 0))
    return lowerBatchNormTraining(n, epsilon);
  SmallVector<Value> numbers;
  for (size_t input = 1; input < 5; ++input) {
    FailureOr<Value> spread = ofChannels(e, value, n.in(input));
    if (failed(spread))
      return failure();
    numbers.push_back(*spread);
  }
  // As one factor and one summand for each channel, which do not depend on the input.
  FailureOr<Value> factor =
      e.elementwise({&numbers[0], &numbers[3]}, numbers[0].type, [&](Scalars &s, ValueRange args) -> mlir::Value {
        return s.div(args[0], s.make<math::SqrtOp>(s.add(args[1], s.like(epsilon, args[1]))));
      });
  if (failed(factor))
    return failure();
  FailureOr<Value> summand =
      e.elementwise({&numbers[1], &numbers[2], &*factor}, numbers[0].type,
                    [](Scalars &s, ValueRange args) { return s.sub(args[0], s.mul(args[1], args[2])); });
  if (failed(summand))
    return failure();
  Value scale = e.cast(*factor, value.type), bias = e.cast(*summand, value.type);
  return n.give(affine(e, value, scale, &bias));
}

LogicalResult lowerLRN(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t size = n.integer("size", 1);
  const double alpha = n.real("alpha", 1e-4), beta = n.real("beta", 0.75), bias = n.real("bias", 1);
  if (value.rank() < 2 || size < 1)
    return n.refuse("needs channels and a size");
  // Sums of squares over neighbouring channels.
  Value squares = mapped(e, value, [](Scalars &s, mlir::Value x) { return s.mul(x, x); });
  Dims low(value.rank(), e.number(0)), high = low;
  low[1] = e.number((size - 1) / 2);
  high[1] = e.number(size / 2);
  Value padded = e.pad(squares, low, high, e.constantScalar(0, value.type));
  const int64_t rank = value.rank();
  MLIRContext *context = e.b.getContext();
  SmallVector<AffineExpr> from;
  for (int64_t dim = 0; dim < rank; ++dim)
    from.push_back(getAffineDimExpr(dim, context));
  AffineMap result = AffineMap::get(rank + 1, 0, from, context);
  from[1] = from[1] + getAffineDimExpr(rank, context);
  SmallVector<AffineMap> maps = {AffineMap::get(rank + 1, 0, from, context),
                                 AffineMap::get(rank + 1, 0, {getAffineDimExpr(rank, context)}, context), result};
  mlir::Value window = e.empty(value.type, {e.number(size)}).tensor;
  mlir::Value target = e.filled(value.type, value.dims, e.constantScalar(0, value.type)).tensor;
  auto generic = linalg::GenericOp::create(e.b, e.loc, target.getType(), ValueRange{padded.tensor, window}, target,
                                           maps, e.loops(rank, 1), [](OpBuilder &inner, Location at, ValueRange args) {
                                             Scalars s(inner, at);
                                             linalg::YieldOp::create(inner, at, s.add(args[2], args[0]));
                                           });
  Value sums = e.wrap(generic.getResult(0), value.type, value.dims);
  return n.give(e.elementwise({&value, &sums}, value.type, [&](Scalars &s, ValueRange args) -> mlir::Value {
    mlir::Value base = s.add(s.like(bias, args[1]), s.mul(s.like(alpha / double(size), args[1]), args[1]));
    return s.div(args[0], s.make<math::PowFOp>(base, s.like(beta, base)));
  }));
}

LogicalResult lowerLpNormalization(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", -1), value.rank());
  if (failed(axis))
    return failure();
  const bool isFirst = n.integer("p", 2) == 1;
  Value parts = mapped(e, value, [&](Scalars &s, mlir::Value x) -> mlir::Value {
    return isFirst ? s.make<math::AbsFOp>(x) : s.mul(x, x);
  });
  Value total = sum(e, parts, SmallVector<int64_t>{*axis}, /*keepsAxes=*/true);
  return n.give(e.elementwise({&value, &total}, value.type, [&](Scalars &s, ValueRange args) -> mlir::Value {
    mlir::Value norm = isFirst ? args[1] : s.make<math::SqrtOp>(args[1]);
    return s.select(s.equal(norm, s.like(0, norm)), s.like(0, norm), s.div(args[0], norm));
  }));
}

LogicalResult lowerMeanVariance(NodeLowering &n) {
  const Value &value = n.in(0);
  FailureOr<SmallVector<int64_t>> axes =
      n.dimensions(n.integers("axes").value_or(ArrayRef<int64_t>({0, 2, 3})), value.rank());
  if (failed(axes))
    return failure();
  FailureOr<Normalized> normalized = normalize(n.e, value, *axes, 1e-9, true);
  return succeeded(normalized) ? n.give(normalized->value) : failure();
}

} // namespace

FailureOr<Normalized> normalizeRows(Emitter &e, const Value &value, double epsilon, bool centers) {
  return normalize(e, value, SmallVector<int64_t>{value.rank() - 1}, epsilon, centers);
}

FailureOr<Value> affine(Emitter &e, const Value &value, const Value &scale, const Value *bias) {
  if (!bias)
    return e.elementwise({&value, &scale}, value.type,
                         [](Scalars &s, ValueRange args) { return s.mul(args[0], args[1]); });
  return e.elementwise({&value, &scale, bias}, value.type,
                       [](Scalars &s, ValueRange args) { return s.add(s.mul(args[0], args[1]), args[2]); });
}

void registerReductions(Registry &registry) {
  registry["ArgMax"] = {lowerArgExtreme<true>};
  registry["ArgMin"] = {lowerArgExtreme<false>};
  registry["BatchNormalization"] = {lowerBatchNorm, 5, /*adds=*/true};
  registry["GroupNormalization"] = {lowerGroupNorm, 3};
  registry["Hardmax"] = {lowerHardmax};
  registry["InstanceNormalization"] = {lowerInstanceNorm, 3, /*adds=*/true};
  registry["LRN"] = {lowerLRN, 1, /*adds=*/true};
  registry["LayerNormalization"] = {lowerLayerNorm, 2};
  registry["LogSoftmax"] = {lowerSoftmax};
  registry["LpNormalization"] = {lowerLpNormalization, 1, /*adds=*/true};
  registry["MeanVarianceNormalization"] = {lowerMeanVariance, 1, /*adds=*/true};
  registry["RMSNormalization"] = {lowerLayerNorm, 2};
  registry["SimplifiedLayerNormalization"] = {lowerLayerNorm, 2}; // ONNX Runtime's, older than ONNX's own
  registry["ReduceL1"] = {lowerReduce<Reduction::L1>, 1, /*adds=*/true};
  registry["ReduceL2"] = {lowerReduce<Reduction::L2>, 1, /*adds=*/true};
  registry["ReduceLogSum"] = {lowerReduce<Reduction::LogSum>, 1, /*adds=*/true};
  registry["ReduceLogSumExp"] = {lowerReduce<Reduction::LogSumExp>, 1, /*adds=*/true};
  registry["ReduceMax"] = {lowerReduce<Reduction::Max>};
  registry["ReduceMean"] = {lowerReduce<Reduction::Mean>, 1, /*adds=*/true};
  registry["ReduceMin"] = {lowerReduce<Reduction::Min>};
  registry["ReduceProd"] = {lowerReduce<Reduction::Product>, 1, /*adds=*/true};
  registry["ReduceSum"] = {lowerReduce<Reduction::Sum>, 1, /*adds=*/true};
  registry["ReduceSumSquare"] = {lowerReduce<Reduction::SumSquare>, 1, /*adds=*/true};
  registry["Softmax"] = {lowerSoftmax};
}

} // namespace kiln::onnx
