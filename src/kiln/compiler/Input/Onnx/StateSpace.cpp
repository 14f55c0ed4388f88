// Operators that carry a state from token to token: linear attention, causal convolutions, caches.
#include "kiln/compiler/Input/Onnx/Loops.h"
#include "kiln/compiler/Input/Onnx/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Of (batch, time, heads * size) one time as (batch, heads, size).
FailureOr<Value> atTime(Emitter &e, const Value &value, mlir::Value turn, int64_t heads) {
  Dims offsets = {e.number(0), turn, e.number(0)}, sizes = {value.dims[0], e.number(1), value.dims[2]};
  OpFoldResult size = e.compute(Emitter::Arithmetic::DivTowardsZero, value.dims[2], e.number(heads));
  return e.reshape(e.slice(value, offsets, sizes, Dims(3, e.number(1))), {value.dims[0], e.number(heads), size});
}

FailureOr<Value> product(Emitter &e, const Value &a, const Value &b) {
  return e.elementwise({&a, &b}, a.type, [](Scalars &s, ValueRange args) { return s.mul(args[0], args[1]); });
}
FailureOr<Value> sum(Emitter &e, const Value &a, const Value &b) {
  return e.elementwise({&a, &b}, a.type, [](Scalars &s, ValueRange args) { return s.add(args[0], args[1]); });
}
Value reduced(Emitter &e, const Value &value, int64_t axis) {
  return e.reduce(value, {axis}, false, e.constantScalar(0, value.type), value.type,
                  [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.add(soFar, x); });
}

LogicalResult lowerLinearAttention(NodeLowering &n) {
  Emitter &e = n.e;
  const int64_t queryHeads = n.integer("q_num_heads", 0), heads = n.integer("kv_num_heads", 0);
  const std::string_view rule = n.text("update_rule", "gated_delta");
  n.ignore({"chunk_size"}); // how it may be computed
  const bool isGated = rule == "gated" || rule == "gated_delta", isDelta = rule == "delta" || rule == "gated_delta";
  if (rule != "linear" && !isGated && !isDelta)
    return n.refuse("has the rule '" + Twine(StringRef(rule)) + "'");
  if (heads < 1 || queryHeads < heads || queryHeads % heads != 0)
    return n.refuse("has numbers of heads that do not divide");
  if ((isGated && !n.has(4)) || (isDelta && !n.has(5)))
    return n.refuse("lacks its decay or its rate");
  for (size_t input : {0, 1, 2, 4, 5})
    if (n.has(input) && n.in(input).rank() != 3)
      return n.refuse("needs inputs of three dimensions");
  const DataType type = n.in(0).type, inside = DataType::F32;
  const Value query = e.cast(n.in(0), inside), key = e.cast(n.in(1), inside), value = e.cast(n.in(2), inside);
  std::optional<int64_t> width = Emitter::known(query.dims[2]);
  double scale = n.real("scale", 0);
  if (scale == 0) {
    if (!width)
      return n.refuse("needs a scale, or heads of a known size");
    const int64_t size = *width / queryHeads;
    scale = 1 / std::sqrt(double(size));
  }
  std::optional<Value> decay, rate;
  if (isGated)
    decay = e.cast(n.in(4), inside);
  if (isDelta)
    rate = e.cast(n.in(5), inside);
  OpFoldResult batch = query.dims[0];
  using enum Emitter::Arithmetic;
  Dims stateDims = {batch, e.number(heads), e.compute(DivTowardsZero, key.dims[2], e.number(heads)),
                    e.compute(DivTowardsZero, value.dims[2], e.number(heads))};
  Value state = n.has(3) ? e.cast(n.in(3), inside) : e.filled(inside, stateDims, e.constantScalar(0, inside));
  if (state.rank() != 4)
    return n.refuse("needs a state of four dimensions");
  LoopBuilder loop(n, {state});
  SmallVector<Value> results;
  auto turnOf = [&](mlir::Value turn, mlir::Value, ArrayRef<Value> current) -> FailureOr<LoopBuilder::Turn> {
    FailureOr<Value> q = atTime(e, query, turn, queryHeads), k = atTime(e, key, turn, heads),
                     v = atTime(e, value, turn, heads), s = current[0];
    if (failed(q) || failed(k) || failed(v))
      return failure();
    Value column = e.unsqueeze(*k, {3}); // (batch, heads, size of keys, 1)
    if (decay) {
      FailureOr<Value> g = atTime(e, *decay, turn, heads);
      if (failed(g))
        return failure();
      Value spread = e.unsqueeze(*g, {3});
      s = e.elementwise({&*s, &spread}, inside, [](Scalars &scalars, ValueRange args) {
        return scalars.mul(args[0], scalars.make<math::ExpOp>(args[1]));
      });
      if (failed(s))
        return failure();
    }
    Value update = *v;
    if (rate) {
      const int64_t rateHeads = Emitter::known(rate->dims[2]) == 1 ? 1 : heads;
      FailureOr<Value> beta = atTime(e, *rate, turn, rateHeads), known = product(e, *s, column);
      if (failed(beta) || failed(known))
        return failure();
      Value recalled = reduced(e, *known, 2);
      FailureOr<Value> fresh = e.elementwise({&*v, &recalled, &*beta}, inside, [](Scalars &scalars, ValueRange args) {
        return scalars.mul(scalars.sub(args[0], args[1]), args[2]);
      });
      if (failed(fresh))
        return failure();
      update = *fresh;
    }
    Value row = e.unsqueeze(update, {2}); // (batch, heads, 1, size of values)
    FailureOr<Value> outer = product(e, column, row), next = failure();
    if (succeeded(outer))
      next = sum(e, *s, *outer);
    if (failed(next))
      return failure();
    // Queries' heads side by side for each of the keys'.
    OpFoldResult size = q->dims[2];
    FailureOr<Value> grouped = e.reshape(*q, {batch, e.number(heads), e.number(queryHeads / heads), size, e.number(1)});
    if (failed(grouped))
      return failure();
    Value shared = e.unsqueeze(*next, {2});
    FailureOr<Value> weighted = product(e, *grouped, shared);
    if (failed(weighted))
      return failure();
    Value seen = reduced(e, *weighted, 3); // (batch, heads, group, size of values)
    FailureOr<Value> output = e.elementwise({&seen}, inside, [&](Scalars &scalars, ValueRange args) {
      return scalars.mul(args[0], scalars.like(scale, args[0]));
    });
    if (failed(output))
      return failure();
    FailureOr<Value> flat = e.reshape(*output, {batch, e.mul(e.number(queryHeads), seen.dims[3])});
    if (failed(flat))
      return failure();
    LoopBuilder::Turn result;
    result.states = {*next};
    result.collected = {*flat};
    return result;
  };
  if (failed(loop.run(e.indexOf(query.dims[1]), {}, {1}, {false}, turnOf, results)))
    return failure();
  n.results = {e.cast(results[1], type), e.cast(results[0], type)};
  return success();
}

// Each channel by itself, with the positions before the first one from a state.
LogicalResult lowerCausalConv(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &input = n.in(0), &weight = n.in(1);
  if (input.rank() != 3 || weight.rank() != 3)
    return n.refuse("needs an input and weights of three dimensions");
  std::optional<int64_t> taps = Emitter::known(weight.dims[2]);
  if (!taps || *taps < 1)
    return n.refuse("needs weights of a known extent");
  const DataType type = input.type, inside = bitsOf(type) < 32 ? DataType::F32 : type;
  Dims before = {input.dims[0], input.dims[1], e.number(*taps - 1)};
  Value past = n.has(3) ? n.in(3) : e.filled(type, before, e.constantScalar(0, type));
  Value all = input;
  if (*taps > 1) {
    FailureOr<Value> joined = e.concat({&past, &input}, 2);
    if (failed(joined))
      return failure();
    all = *joined;
  }
  MLIRContext *context = e.b.getContext();
  auto loop = [&](int64_t at) { return getAffineDimExpr(at, context); };
  SmallVector<AffineMap> maps = {AffineMap::get(4, 0, {loop(0), loop(1), loop(2) + loop(3)}, context),
                                 AffineMap::get(4, 0, {loop(1), getAffineConstantExpr(0, context), loop(3)}, context),
                                 AffineMap::get(4, 0, {loop(0), loop(1), loop(2)}, context)};
  Value target = e.filled(inside, input.dims, e.constantScalar(0, inside));
  Type element = e.elementType(inside);
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.tensor.getType(), ValueRange{e.tensorOf(all), e.tensorOf(weight)}, target.tensor, maps,
      e.loops(3, 1), [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at);
        mlir::Value x = s.convert(args[0], false, element, false), w = s.convert(args[1], false, element, false);
        linalg::YieldOp::create(inner, at, s.add(args[2], s.mul(x, w)));
      });
  Value result = e.wrap(generic.getResult(0), inside, input.dims);
  if (n.has(2)) {
    FailureOr<Value> biased = withBias(n, result, e.cast(n.in(2), inside));
    if (failed(biased))
      return failure();
    result = *biased;
  }
  const std::string_view activation = n.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    FailureOr<Value> active = e.elementwise(
        {&result}, inside, [](Scalars &s, ValueRange args) { return s.mul(args[0], s.sigmoid(args[0])); });
    if (failed(active))
      return failure();
    result = *active;
  } else if (activation != "none") {
    return n.refuse("has the activation '" + Twine(StringRef(activation)) + "'");
  }
  Dims offsets = {e.number(0), e.number(0), e.sub(all.dims[2], e.number(*taps - 1))};
  n.results = {e.cast(result, type), e.slice(all, offsets, before, Dims(3, e.number(1)))};
  return success();
}

// A part of a cache that is written anew, from a place on that each batch has.
LogicalResult lowerTensorScatter(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &cache = n.in(0), &update = n.in(1);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", -2), cache.rank());
  if (failed(axis) || update.rank() != cache.rank() || *axis == 0)
    return n.refuse("needs an update of the cache's dimensions, and another axis than the batch");
  const bool isCircular = n.text("mode", "linear") == "circular";
  mlir::Value old = e.tensorOf(cache), fresh = e.tensorOf(update), places;
  if (n.has(2))
    places = e.tensorOf(n.in(2));
  mlir::Value length = e.indexOf(update.dims[*axis]), extent = e.indexOf(cache.dims[*axis]);
  return n.give(e.generate(cache.type, cache.dims, [&](Scalars &s, ValueRange at) {
    mlir::Value start = places ? s.toIndex(Emitter::load(s, places, at[0])) : s.index(0);
    mlir::Value place = s.sub(at[*axis], start);
    if (isCircular)
      place = s.rem(place, extent, /*hasSignOfDivisor=*/true);
    mlir::Value isFresh = s.make<arith::AndIOp>(s.lessOrEqual(s.index(0), place), s.less(place, length));
    SmallVector<mlir::Value> from(at);
    from[*axis] = s.select(isFresh, place, s.index(0));
    return s.select(isFresh, Emitter::load(s, fresh, from), Emitter::load(s, old, at));
  }));
}

} // namespace

void registerStateSpace(Registry &registry) {
  registry["CausalConvWithState"] = {lowerCausalConv, 2};
  registry["LinearAttention"] = {lowerLinearAttention, 3};
  registry["TensorScatter"] = {lowerTensorScatter, 2};
}

} // namespace kiln::onnx
