// Numbers that are made of inputs for other models to take: TfIdfVectorizer, and operators of the domain ai.onnx.ml.
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// How often each of some groups of numbers is in a row, with up to so many numbers left out between two of a group.
LogicalResult lowerTfIdf(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const std::string_view mode = n.text("mode", "TF");
  const int64_t shortest = n.integer("min_gram_length", 1), longest = n.integer("max_gram_length", 1),
                skips = n.integer("max_skip_count", 0);
  std::optional<ArrayRef<int64_t>> pool = n.integers("pool_int64s"), begins = n.integers("ngram_counts"),
                                   columns = n.integers("ngram_indexes");
  if (!Emitter::isInteger(value.type) || !pool || !begins || !columns || value.rank() < 1 || value.rank() > 2)
    return n.refuse("needs rows of integers, and groups of integers to look for");
  const Attribute *weights = n.attribute("weights");
  constexpr int64_t kMost = 1 << 20; // columns of the result, and numbers that are left out
  if (shortest < 1 || longest < shortest || longest > static_cast<int64_t>(begins->size()) || skips < 0 ||
      skips > kMost || (weights && weights->floats.size() != columns->size()))
    return n.refuse("has groups of no length, or weights for others");
  // All groups in one list, each as long as the longest one, and their lengths; only some lengths count.
  Dims numbers, lengths, groupOf;
  int64_t groups = 0, width = 0;
  for (int64_t column : *columns)
    width = std::max(width, std::min(column, kMost) + 1);
  if (width > kMost)
    return n.refuse("has more than " + Twine(kMost) + " columns");
  groupOf.assign(width, e.number(-1));
  for (auto [index, begin] : llvm::enumerate(*begins)) {
    const auto length = static_cast<int64_t>(index) + 1;
    const int64_t end = index + 1 < begins->size() ? (*begins)[index + 1] : static_cast<int64_t>(pool->size());
    if (begin < 0 || end < begin || end > static_cast<int64_t>(pool->size()))
      return n.refuse("has counts of groups that are not in its list");
    for (int64_t at = begin; at + length <= end; at += length, ++groups) {
      if (groups >= static_cast<int64_t>(columns->size()) || (*columns)[groups] < 0)
        return n.refuse("has more groups than columns");
      groupOf[(*columns)[groups]] = e.number(groups);
      lengths.push_back(e.number(length >= shortest && length <= longest ? length : 0));
      for (int64_t i = 0; i < longest; ++i)
        numbers.push_back(e.number(i < length ? (*pool)[at + i] : 0));
    }
  }
  if (groups == 0)
    return n.refuse("has no groups");
  mlir::Value table = e.tensorOf(e.scalars(DataType::I64, numbers)),
              lengthOf = e.tensorOf(e.scalars(DataType::I64, lengths)),
              places = e.tensorOf(e.scalars(DataType::I64, groupOf));
  OpFoldResult rows = value.rank() == 2 ? value.dims[0] : e.number(1), extent = value.dims.back();
  FailureOr<Value> matrix = e.reshape(e.cast(value, DataType::I64), {rows, extent});
  if (failed(matrix))
    return failure();
  mlir::Value tensor = e.tensorOf(*matrix), limit = e.indexOf(extent);
  MLIRContext *context = e.b.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
  Value counts = e.filled(DataType::F32, {rows, e.number(groups)}, e.constantScalar(0, DataType::F32));
  mlir::Value window = e.empty(DataType::F32, {e.number(skips + 1), extent}).tensor;
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, counts.tensor.getType(), window, counts.tensor,
      ArrayRef<AffineMap>{all.getMinorSubMap(2), all.getMajorSubMap(2)}, e.loops(2, 2),
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Scalars s(inner, loc);
        mlir::Value row = linalg::IndexOp::create(inner, loc, 0), group = linalg::IndexOp::create(inner, loc, 1),
                    step = linalg::IndexOp::create(inner, loc, 2), start = linalg::IndexOp::create(inner, loc, 3);
        step = s.add(step, s.index(1));
        mlir::Value length = s.toIndex(Emitter::load(s, lengthOf, group)), one = s.index(1);
        mlir::Value last = s.add(start, s.mul(s.sub(length, one), step));
        // One number leaves nothing out.
        mlir::Value isFound = s.make<arith::OrIOp>(s.less(one, length), s.equal(step, one));
        isFound = s.make<arith::AndIOp>(isFound, s.less(s.index(0), length));
        isFound = s.make<arith::AndIOp>(isFound, s.less(last, limit));
        for (int64_t i = 0; i < longest; ++i) {
          mlir::Value place = s.add(start, s.mul(s.index(i), step));
          place = s.select(s.less(place, limit), place, s.index(0));
          mlir::Value wanted = Emitter::load(s, table, s.add(s.mul(group, s.index(longest)), s.index(i)));
          mlir::Value isSame = s.equal(Emitter::load(s, tensor, {row, place}), wanted);
          mlir::Value isBehind = s.lessOrEqual(length, s.index(i));
          isFound = s.make<arith::AndIOp>(isFound, s.make<arith::OrIOp>(isSame, isBehind));
        }
        mlir::Value more = s.add(args[1], s.like(1, args[1]));
        linalg::YieldOp::create(inner, loc, s.select(isFound, more, args[1]));
      });
  mlir::Value found = generic.getResult(0), factors;
  if (weights && mode != "TF")
    factors = arith::ConstantOp::create(e.b, e.loc,
                                        DenseElementsAttr::get(RankedTensorType::get({groups}, e.b.getF32Type()),
                                                               ArrayRef(weights->floats).take_front(groups)));
  Value result = e.generate(DataType::F32, {rows, e.number(width)}, [&](Scalars &s, ValueRange at) {
    mlir::Value group = s.toIndex(Emitter::load(s, places, at[1])), isThere = s.lessOrEqual(s.index(0), group);
    group = s.max(s.index(0), group);
    mlir::Value count = Emitter::load(s, found, {at[0], group});
    if (mode == "IDF")
      count = s.min(count, s.like(1, count));
    if (factors)
      count = s.mul(count, Emitter::load(s, factors, group));
    return s.select(isThere, count, s.like(0, count));
  });
  return value.rank() == 2 ? n.give(result) : n.give(e.reshape(result, {e.number(width)}));
}

LogicalResult lowerBinarizer(NodeLowering &n) {
  const double threshold = n.real("threshold", 0);
  return n.give(n.e.elementwise({&n.in(0)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
    mlir::Value x = args[0];
    return s.select(s.less(s.like(threshold, x), x), s.like(1, x), s.like(0, x));
  }));
}

// Elements of the last dimension, of which a vector is a row.
LogicalResult lowerFeatureExtractor(NodeLowering &n) {
  Emitter &e = n.e;
  FailureOr<Value> value = n.in(0);
  if (value->rank() == 1)
    value = e.reshape(*value, {e.number(1), value->dims[0]});
  FailureOr<Value> places = e.reshape(n.in(1), {e.product(n.in(1).dims)});
  if (failed(value) || failed(places) || value->rank() < 1)
    return n.refuse("has nothing to take elements of");
  Dims dims = value->dims;
  dims.back() = places->dims[0];
  mlir::Value tensor = e.tensorOf(*value), indices = e.tensorOf(*places);
  return n.give(e.generate(value->type, dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from(at);
    from.back() = s.toIndex(Emitter::load(s, indices, at.back()));
    return Emitter::load(s, tensor, from);
  }));
}

} // namespace

void registerFeatures(Registry &registry) {
  registry["TfIdfVectorizer"] = {lowerTfIdf};
  registry["ai.onnx.ml.ArrayFeatureExtractor"] = {lowerFeatureExtractor, 2};
  registry["ai.onnx.ml.Binarizer"] = {lowerBinarizer};
}

} // namespace kiln::onnx
