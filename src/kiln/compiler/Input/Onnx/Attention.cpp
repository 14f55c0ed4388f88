// Attention, and what transformers turn their positions with.
#include <limits>

#include "kiln/compiler/Input/Onnx/Attention.h"

#include "kiln/compiler/Input/Onnx/GraphImporter.h"
#include "kiln/compiler/Input/Onnx/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

FailureOr<Value> withHeads(NodeLowering &n, const Value &value, int64_t heads) {
  if (value.rank() == 4)
    return value;
  if (value.rank() != 3 || heads < 1)
    return n.refuse("needs four dimensions, or three and a number of heads");
  OpFoldResult size = n.e.compute(Emitter::Arithmetic::DivTowardsZero, value.dims[2], n.e.number(heads));
  FailureOr<Value> apart = n.e.reshape(value, {value.dims[0], value.dims[1], n.e.number(heads), size});
  if (failed(apart))
    return failure();
  return n.e.transpose(*apart, {0, 2, 1, 3});
}

FailureOr<Value> withoutHeads(NodeLowering &n, const Value &value) {
  Value moved = n.e.transpose(value, {0, 2, 1, 3});
  return n.e.reshape(moved, {moved.dims[0], moved.dims[1], n.e.mul(moved.dims[2], moved.dims[3])});
}

namespace {

// Keys or values as often as there are queries' heads for each of theirs.
FailureOr<Value> forHeads(NodeLowering &n, const Value &value, OpFoldResult heads) {
  Emitter &e = n.e;
  if (Emitter::same(value.dims[1], heads))
    return value;
  OpFoldResult each = e.compute(Emitter::Arithmetic::DivTowardsZero, heads, value.dims[1]);
  Dims dims = {value.dims[0], value.dims[1], each, value.dims[2], value.dims[3]};
  FailureOr<Value> all = e.expand(e.unsqueeze(value, {2}), dims);
  if (failed(all))
    return failure();
  return e.reshape(*all, {value.dims[0], heads, value.dims[2], value.dims[3]});
}

// The number that is added to each score: (batch, heads, queries, keys) in f32.
Value biasOf(NodeLowering &n, const Dims &dims, const Masks &masks) {
  Emitter &e = n.e;
  mlir::Value mask = masks.mask ? e.tensorOf(*masks.mask) : mlir::Value(),
              valid = masks.valid ? e.tensorOf(*masks.valid) : mlir::Value();
  mlir::Value past = e.indexOf(masks.past), queries = e.indexOf(dims[2]);
  SmallVector<mlir::Value> extents;
  if (mask)
    for (OpFoldResult extent : masks.mask->dims)
      extents.push_back(e.indexOf(extent));
  return e.generate(DataType::F32, dims, [&](Scalars &s, ValueRange at) {
    Type f32 = s.b.getF32Type();
    mlir::Value zero = s.constant(0, f32), never = s.constant(-kInfinity, f32), bias = zero, one = s.index(1);
    if (mask) {
      SmallVector<mlir::Value> from;
      mlir::Value isThere = s.constant(1, s.b.getI1Type());
      const size_t skipped = 4 - extents.size();
      for (auto [dim, extent] : llvm::enumerate(extents)) {
        mlir::Value index = at[skipped + dim];
        if (dim + 1 == extents.size()) { // keys that a short mask does not have are masked
          isThere = s.make<arith::OrIOp>(s.less(index, extent), s.equal(extent, one));
          index = s.select(s.less(index, extent), index, s.index(0));
        } else {
          index = s.select(s.equal(extent, one), s.index(0), index);
        }
        from.push_back(index);
      }
      mlir::Value element = Emitter::load(s, mask, from);
      bias =
          masks.mask->type == DataType::Bool ? s.select(element, zero, never) : s.convert(element, false, f32, false);
      bias = s.select(isThere, bias, never);
    }
    auto hide = [&](mlir::Value isSeen) { bias = s.select(isSeen, bias, never); };
    mlir::Value key = at[3], last = s.add(at[2], past), count;
    if (valid) {
      count = s.toIndex(Emitter::load(s, valid, at[0]));
      hide(s.less(key, count));
      last = s.add(at[2], s.sub(count, queries));
    }
    if (masks.isCausal)
      hide(s.lessOrEqual(key, last));
    if (masks.left >= 0)
      hide(s.lessOrEqual(s.sub(last, s.index(masks.left)), key));
    if (masks.right >= 0)
      hide(s.lessOrEqual(key, s.add(last, s.index(masks.right))));
    return bias;
  });
}

} // namespace

FailureOr<Attended> attend(NodeLowering &n, const Value &query, const Value &keys, const Value &values,
                           const Masks &masks, const AttentionOptions &options) {
  Emitter &e = n.e;
  FailureOr<Value> key = forHeads(n, keys, query.dims[1]), value = forHeads(n, values, query.dims[1]);
  if (failed(key) || failed(value))
    return failure();
  const DataType inside = query.type == DataType::F64 ? DataType::F64 : options.inside;
  std::optional<int64_t> size = Emitter::known(query.dims[3]);
  if (!options.scale && !size)
    return n.refuse("needs a scale, or heads of a known size");
  const double scale = options.scale ? *options.scale : 1 / std::sqrt(double(*size));
  Value scaled = e.cast(query, inside);
  FailureOr<Value> q = e.elementwise(
      {&scaled}, inside, [&](Scalars &s, ValueRange args) { return s.mul(args[0], s.like(scale, args[0])); });
  if (failed(q))
    return failure();
  FailureOr<Value> scores = matmul(n, *q, e.transpose(e.cast(*key, inside), {0, 1, 3, 2}), inside);
  if (failed(scores))
    return failure();
  Value shown = *scores;
  if (const double cap = options.cap; cap != 0) {
    scores = e.elementwise({&*scores}, inside, [&](Scalars &s, ValueRange args) {
      mlir::Value limit = s.like(cap, args[0]);
      return s.mul(limit, s.make<math::TanhOp>(s.div(args[0], limit)));
    });
    if (failed(scores))
      return failure();
  }
  if (options.shown == 1)
    shown = *scores;
  if (!masks.isNone()) {
    Value bias = e.cast(biasOf(n, scores->dims, masks), inside);
    scores =
        e.elementwise({&*scores, &bias}, inside, [](Scalars &s, ValueRange args) { return s.add(args[0], args[1]); });
    if (failed(scores))
      return failure();
  }
  if (options.shown == 2)
    shown = *scores;
  if (options.changeScores) {
    scores = options.changeScores(*scores);
    if (failed(scores))
      return failure();
  }
  // A query that sees nothing gives zeros.
  Value most = e.reduce(*scores, {3}, true, e.constantScalar(-kInfinity, inside), inside,
                        [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); });
  FailureOr<Value> powers = e.elementwise({&*scores, &most}, inside, [](Scalars &s, ValueRange args) {
    mlir::Value isNothing = s.equal(args[1], s.like(-kInfinity, args[1]));
    mlir::Value power = s.make<math::ExpOp>(s.sub(args[0], s.select(isNothing, s.like(0, args[1]), args[1])));
    return s.select(isNothing, s.like(0, power), power);
  });
  if (failed(powers))
    return failure();
  Value total = e.reduce(*powers, {3}, true, e.constantScalar(0, inside), inside,
                         [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.add(soFar, x); });
  FailureOr<Value> weights = e.elementwise({&*powers, &total}, inside, [](Scalars &s, ValueRange args) {
    mlir::Value isNothing = s.equal(args[1], s.like(0, args[1]));
    return s.div(args[0], s.select(isNothing, s.like(1, args[1]), args[1]));
  });
  if (succeeded(weights) && options.changeWeights)
    weights = options.changeWeights(*weights);
  if (failed(weights))
    return failure();
  if (options.shown == 3)
    shown = *weights;
  FailureOr<Value> result = matmul(n, *weights, e.cast(*value, inside), inside);
  if (failed(result))
    return failure();
  return Attended{e.cast(*result, values.type), shown};
}

FailureOr<Value> turn(NodeLowering &n, const Value &x, const Turning &turning) {
  Emitter &e = n.e;
  const bool isInterleaved = turning.isInterleaved;
  std::optional<int64_t> size = Emitter::known(x.dims[3]);
  int64_t turned = turning.elements;
  if (!size || turned < 0 || turned > *size || turned % 2 != 0)
    return n.refuse("needs heads of a known size, and an even number of elements to turn");
  if (turned == 0)
    turned = *size;
  for (const Value *table : {turning.cosines, turning.sines})
    if (std::optional<int64_t> pairs = Emitter::known(table->dims.back()); pairs && *pairs < turned / 2)
      return n.refuse("turns " + Twine(turned / 2) + " pairs, and has the angles of " + Twine(*pairs));
  mlir::Value tensor = e.tensorOf(x), cosines = e.tensorOf(*turning.cosines), sines = e.tensorOf(*turning.sines),
              places;
  if (turning.places)
    places = e.tensorOf(*turning.places);
  return e.generate(x.type, x.dims, [&](Scalars &s, ValueRange at) {
    mlir::Value d = at[3], half = s.index(turned / 2), two = s.index(2), one = s.index(1);
    // Which pair, whether it is its second element, and where the other one is.
    mlir::Value pair, isSecond, other;
    if (isInterleaved) {
      pair = s.make<arith::DivUIOp>(d, two);
      isSecond = s.equal(s.make<arith::RemUIOp>(d, two), one);
      other = s.select(isSecond, s.sub(d, one), s.add(d, one));
    } else {
      isSecond = s.lessOrEqual(half, d);
      pair = s.select(isSecond, s.sub(d, half), d);
      other = s.select(isSecond, s.sub(d, half), s.add(d, half));
    }
    mlir::Value isTurned = s.less(d, s.index(turned)), zero = s.index(0);
    pair = s.select(isTurned, pair, zero);
    other = s.select(isTurned, other, d);
    SmallVector<mlir::Value> angle = {at[0], at[2], pair};
    if (places)
      angle = {s.toIndex(Emitter::load(s, places, {at[0], at[2]})), pair};
    mlir::Value cosine = Emitter::load(s, cosines, angle), sine = Emitter::load(s, sines, angle);
    mlir::Value own = Emitter::load(s, tensor, at), partner = Emitter::load(s, tensor, {at[0], at[1], at[2], other});
    mlir::Value across = s.mul(sine, partner), along = s.mul(cosine, own);
    mlir::Value both = s.select(isSecond, s.add(along, across), s.sub(along, across));
    return s.select(isTurned, both, own);
  });
}

namespace {

LogicalResult lowerAttention(NodeLowering &n) {
  Emitter &e = n.e;
  const DataType type = n.in(0).type;
  const bool isFlat = n.in(0).rank() == 3;
  const int64_t queryHeads = n.integer("q_num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  FailureOr<Value> query = withHeads(n, n.in(0), queryHeads), key = withHeads(n, n.in(1), keyHeads),
                   value = withHeads(n, n.in(2), keyHeads);
  if (failed(query) || failed(key) || failed(value))
    return failure();
  Masks masks;
  masks.past = e.number(0);
  if (n.has(4) != n.has(5))
    return n.refuse("has past keys or values, but not both");
  if (n.has(4)) {
    masks.past = n.in(4).dims[2];
    key = e.concat({&n.in(4), &*key}, 2);
    value = e.concat({&n.in(5), &*value}, 2);
    if (failed(key) || failed(value))
      return failure();
  }
  const Value presentKey = *key, presentValue = *value;
  masks.mask = n.has(3) ? &n.in(3) : nullptr;
  masks.valid = n.has(6) ? &n.in(6) : nullptr;
  masks.isCausal = n.integer("is_causal", 0) != 0;
  masks.left = n.integer("left_window_size", -1);
  masks.right = n.integer("right_window_size", -1);
  if (masks.mask && (masks.mask->rank() > 4 || masks.mask->rank() < 1))
    return n.refuse("has a mask of " + Twine(masks.mask->rank()) + " dimensions");
  AttentionOptions options;
  if (n.attribute("scale"))
    options.scale = n.real("scale", 1);
  options.cap = n.real("softcap", 0);
  if (static_cast<DataType>(n.integer("softmax_precision", 0)) == DataType::F64)
    options.inside = DataType::F64;
  options.shown = n.integer("qk_matmul_output_mode", 0);
  FailureOr<Attended> attended = attend(n, *query, *key, *value, masks, options);
  if (failed(attended))
    return failure();
  FailureOr<Value> result = isFlat ? withoutHeads(n, attended->result) : attended->result;
  if (failed(result))
    return failure();
  n.results = {*result, presentKey, presentValue, e.cast(attended->shown, type)};
  return success();
}

LogicalResult lowerRotary(NodeLowering &n) {
  FailureOr<Value> x = withHeads(n, n.in(0), n.integer("num_heads", 0));
  if (failed(x))
    return failure();
  Turning turning{&n.in(1), &n.in(2), n.has(3) ? &n.in(3) : nullptr, n.integer("interleaved", 0) != 0,
                  n.integer("rotary_embedding_dim", 0)};
  FailureOr<Value> result = turn(n, *x, turning);
  if (failed(result) || n.in(0).rank() != 3)
    return n.give(result);
  return n.give(withoutHeads(n, *result));
}

// Attention whose scores and weights are changed by graphs.
LogicalResult lowerFlexAttention(NodeLowering &n) {
  const Value &query = n.in(0), &key = n.in(1), &value = n.in(2);
  if (query.rank() != 4 || key.rank() != 4 || value.rank() != 4)
    return n.refuse("needs queries, keys and values of four dimensions");
  FailureOr<DataType> inside =
      n.dataType("softmax_precision", query.type == DataType::F64 ? DataType::F64 : DataType::F32);
  if (failed(inside))
    return failure();
  AttentionOptions options;
  options.inside = *inside;
  if (n.attribute("scale"))
    options.scale = n.real("scale", 1);
  auto changeBy = [&](std::string_view name) -> AttentionOptions::Change {
    const Graph *graph = graphOf(n, name);
    if (!graph)
      return {};
    return [&n, graph](const Value &numbers) -> FailureOr<Value> {
      if (graph->inputs.size() != 1 || graph->outputs.size() != 1)
        return n.refuse("has a graph of another number of inputs or outputs than one");
      FailureOr<SmallVector<Value>> changed = importBody(n, *graph, numbers);
      if (failed(changed))
        return failure();
      const Value &result = changed->front();
      if (result.rank() != numbers.rank() || result.type != numbers.type)
        return n.refuse("has a graph that gives another type or rank than it takes");
      return result;
    };
  };
  options.changeScores = changeBy("score_mod");
  options.changeWeights = changeBy("prob_mod");
  Masks masks;
  masks.past = n.e.number(0);
  FailureOr<Attended> attended = attend(n, query, key, value, masks, options);
  if (failed(attended))
    return failure();
  return n.give(attended->result);
}

} // namespace

void registerAttention(Registry &registry) {
  registry["ai.onnx.preview.FlexAttention"] = {lowerFlexAttention, 3};
  registry["Attention"] = {lowerAttention, 3};
  registry["RotaryEmbedding"] = {lowerRotary, 3};
}

} // namespace kiln::onnx
