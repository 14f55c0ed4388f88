// Operators of the domain com.microsoft, which exports of transformers use.
#include "kiln/compiler/Input/Onnx/Attention.h"
#include "kiln/compiler/Input/Onnx/Loops.h"
#include "kiln/compiler/Input/Onnx/Normalization.h"
#include "kiln/compiler/Input/Onnx/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;

namespace kiln::onnx {

namespace {

mlir::Value add(Scalars &s, ValueRange args) {
  return s.add(args[0], args[1]);
}

// The input with the one behind it added, where there is one.
FailureOr<Value> withAdded(NodeLowering &n, const Value &value, size_t input) {
  if (!n.has(input))
    return value;
  return n.e.elementwise({&value, &n.in(input)}, value.type, add);
}

template <bool isTanh> LogicalResult lowerGelu(NodeLowering &n) {
  FailureOr<Value> x = withAdded(n, n.in(0), 1);
  if (failed(x))
    return failure();
  return n.give(n.e.elementwise({&*x}, x->type, [](Scalars &s, ValueRange args) { return s.gelu(args[0], isTanh); }));
}

LogicalResult lowerQuickGelu(NodeLowering &n) {
  const double alpha = n.real("alpha", 1.702);
  return n.give(n.e.elementwise({&n.in(0)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
    return s.mul(args[0], s.sigmoid(s.mul(args[0], s.like(alpha, args[0]))));
  }));
}

LogicalResult lowerFusedMatMul(NodeLowering &n) {
  Value lhs = n.in(0), rhs = n.in(1);
  for (auto [value, name, batch] :
       {std::tuple(&lhs, "transA", "transBatchA"), std::tuple(&rhs, "transB", "transBatchB")}) {
    if (n.integer(batch, 0) != 0)
      return n.refuse("transposes batches");
    if (n.integer(name, 0) == 0)
      continue;
    if (value->rank() < 2)
      return n.refuse("transposes a vector");
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(value->rank()));
    std::swap(order[order.size() - 2], order.back());
    *value = n.e.transpose(*value, order);
  }
  FailureOr<Value> product = matmul(n, lhs, rhs, lhs.type);
  const double alpha = n.real("alpha", 1);
  if (failed(product) || alpha == 1)
    return n.give(product);
  return n.give(n.e.elementwise({&*product}, lhs.type,
                                [&](Scalars &s, ValueRange args) { return s.mul(args[0], s.like(alpha, args[0])); }));
}

// The sum of both inputs and a bias, normalized along the last dimension; the sum is a result, too.
template <bool centers> LogicalResult lowerSkipNorm(NodeLowering &n) {
  Emitter &e = n.e;
  const DataType type = n.in(0).type;
  FailureOr<Value> sum = e.elementwise({&n.in(0), &n.in(1)}, type, add);
  if (failed(sum))
    return failure();
  sum = withAdded(n, *sum, centers ? 4 : 3);
  if (failed(sum))
    return failure();
  const DataType inside = type == DataType::F64 ? type : DataType::F32;
  FailureOr<Normalized> normalized = normalizeRows(e, e.cast(*sum, inside), n.real("epsilon", 1e-12), centers);
  if (failed(normalized))
    return failure();
  Value scale = e.cast(n.in(2), inside), bias;
  if (centers && n.has(3))
    bias = e.cast(n.in(3), inside);
  FailureOr<Value> result = affine(e, normalized->value, scale, centers && n.has(3) ? &bias : nullptr);
  if (failed(result))
    return failure();
  n.results = {e.cast(*result, type), centers ? normalized->mean : normalized->inverse, normalized->inverse, *sum};
  return success();
}

// Whether rows whose number the program decides may be a single one.
bool mayBeOneRow(const Value &value) {
  bool isOpen = false;
  for (OpFoldResult extent : ArrayRef(value.dims).drop_back())
    if (std::optional<int64_t> known = Emitter::known(extent); !known)
      isOpen = true;
    else if (*known != 1)
      return false;
  return isOpen;
}

// A model that writes one word after the other has rows of any number in its first call, and one in each call after it:
// that is another product, of which the weights are taken out where they are multiplied.
FailureOr<Value> multiplyOneRowApart(NodeLowering &n, const Value &rows,
                                     llvm::function_ref<FailureOr<Value>(const Value &)> multiply) {
  Emitter &e = n.e;
  mlir::Value isOne;
  Value row = rows;
  for (OpFoldResult &extent : MutableArrayRef(row.dims).drop_back()) {
    if (Emitter::known(extent))
      continue;
    mlir::Value is = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, e.indexOf(extent),
                                           arith::ConstantIndexOp::create(e.b, e.loc, 1));
    isOne = isOne ? arith::AndIOp::create(e.b, e.loc, isOne, is).getResult() : is;
    extent = e.number(1);
  }
  Region regions[2];
  FailureOr<Value> results[2] = {failure(), failure()};
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.createBlock(&regions[i]);
    if (i == 0)
      row.tensor = castTo(e, e.tensorType(row.type, row.dims), e.tensorOf(rows));
    results[i] = multiply(i == 0 ? row : rows);
    if (failed(results[i]))
      return failure();
    results[i]->tensor = e.tensorOf(*results[i]);
  }
  const auto type = cast<RankedTensorType>(results[1]->tensor.getType());
  for (int i = 0; i < 2; ++i) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToEnd(&regions[i].front());
    scf::YieldOp::create(e.b, e.loc, castTo(e, type, results[i]->tensor));
  }
  auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(type), isOne, /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(regions[0]);
  branch.getElseRegion().takeBody(regions[1]);
  Value product = rows; // whose extents are known outside of the branches
  product.type = results[1]->type;
  product.dims.back() = results[0]->dims.back();
  product.tensor = branch.getResult(0);
  return product;
}

// Weights of few bits, in blocks along k with a scale and a zero point each: [n, blocks, bytes of a block].
LogicalResult lowerMatMulNBits(NodeLowering &n) {
  Emitter &e = n.e;
  const int64_t k = n.integer("K", 0), columns = n.integer("N", 0), bits = n.integer("bits", 4),
                block = n.integer("block_size", 0);
  n.ignore({"accuracy_level"}); // how exact a product has to be at least
  if (k < 1 || columns < 1 || block < 16 || (block & (block - 1)) != 0 || (bits != 2 && bits != 4 && bits != 8))
    return n.refuse("needs K, N and a block_size of 16 or a larger power of two, and 2, 4 or 8 bits");
  if (n.has(4))
    return n.refuse("has the input 'g_idx', which is not supported");
  const DataType type = n.in(0).type;
  const int64_t blocks = llvm::divideCeil(k, block), perByte = 8 / bits, zeroBytes = llvm::divideCeil(blocks, perByte);
  const Dims perBlock = {e.number(columns), e.number(blocks), e.number(1)};
  FailureOr<Value> packed = e.reshape(n.in(1), {e.number(columns), e.number(blocks), e.number(block / perByte)}),
                   scales = e.reshape(n.in(2), perBlock);
  if (failed(packed) || failed(scales))
    return failure();
  SmallVector<Value> others = {*scales};
  const OpFoldResult one = e.number(1), none = e.number(0);
  if (n.has(3)) {
    FailureOr<Value> zeros = n.in(3);
    if (!Emitter::isFloat(n.in(3).type)) {
      zeros = e.reshape(n.in(3), {e.number(columns), e.number(zeroBytes)});
      if (failed(zeros))
        return failure();
      zeros = e.reshape(
          e.unpack(*zeros, bits, DataType::U8, {},
                   [](Scalars &s, ValueRange args) { return s.make<arith::TruncIOp>(s.b.getI8Type(), args[0]); }),
          {e.number(columns), e.number(zeroBytes * perByte)});
      if (succeeded(zeros) && zeroBytes * perByte != blocks)
        zeros = e.slice(*zeros, {none, none}, {e.number(columns), e.number(blocks)}, {one, one});
    }
    if (succeeded(zeros))
      zeros = e.reshape(*zeros, perBlock);
    if (failed(zeros))
      return failure();
    others.push_back(*zeros);
  }
  const auto multiply = [&](const Value &rows) -> FailureOr<Value> {
    FailureOr<Value> weights = e.unpack(*packed, bits, type, others, [&](Scalars &s, ValueRange args) {
      mlir::Value number = args[0], factor = args[1];
      if (args.size() == 3 && isa<FloatType>(args[2].getType()))
        return s.mul(s.sub(s.toFloat(number, factor.getType()), args[2]), factor);
      mlir::Value zero =
          args.size() == 3 ? s.make<arith::ExtUIOp>(number.getType(), args[2]) : s.like(1 << (bits - 1), number);
      return s.mul(s.toFloat(s.sub(number, zero), factor.getType()), factor);
    });
    weights = e.reshape(*weights, {e.number(columns), e.number(blocks * block)});
    if (succeeded(weights) && blocks * block != k)
      weights = e.slice(*weights, {none, none}, {e.number(columns), e.number(k)}, {one, one});
    if (failed(weights))
      return failure();
    return matmul(n, rows, e.transpose(*weights, {1, 0}), type);
  };
  FailureOr<Value> product = mayBeOneRow(n.in(0)) ? multiplyOneRowApart(n, n.in(0), multiply) : multiply(n.in(0));
  if (failed(product))
    return failure();
  return n.give(withAdded(n, *product, 5));
}

// Angles by position: (positions, pairs), at (batch, length) or at a first one that all are counted from.
LogicalResult lowerRotary(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &cosines = n.in(2), &sines = n.in(3);
  if (n.real("scale", 1) != 1 || n.integer("is_packed_batching", 0) != 0)
    return n.refuse("scales, or has batches packed");
  int64_t heads = n.integer("num_heads", 0);
  const int64_t elements = n.integer("rotary_embedding_dim", 0);
  std::optional<int64_t> pairs = cosines.rank() == 2 ? Emitter::known(cosines.dims[1]) : std::nullopt,
                         width = Emitter::known(n.in(0).dims.back());
  if (!pairs || !width || *pairs < 1)
    return n.refuse("needs (positions, pairs) of cosines, and heads of a known size");
  if (heads == 0 && elements == 0)
    heads = *width / (2 * *pairs);
  FailureOr<Value> x = withHeads(n, n.in(0), heads);
  if (failed(x))
    return failure();
  Value places = n.in(1);
  if (places.rank() == 2 && (Emitter::known(places.dims[0]) != Emitter::known(x->dims[0]) ||
                             Emitter::known(places.dims[1]) != Emitter::known(x->dims[2])))
    return n.refuse("has positions for other tokens than there are");
  if (places.rank() > 2 || (places.rank() == 1 && Emitter::known(places.dims[0]) != 1))
    return n.refuse("needs a position for each token, or one that they are counted from");
  if (places.rank() != 2) {
    mlir::Value first = e.tensorOf(places);
    const bool isScalar = places.rank() == 0;
    places = e.generate(DataType::I64, {x->dims[0], x->dims[2]}, [&](Scalars &s, ValueRange at) {
      SmallVector<mlir::Value> from;
      if (!isScalar)
        from.push_back(s.index(0));
      return s.add(Emitter::load(s, first, from), s.make<arith::IndexCastOp>(s.b.getI64Type(), at[1]));
    });
  }
  FailureOr<Value> turned = turn(n, *x, {&cosines, &sines, &places, n.integer("interleaved", 0) != 0, elements});
  if (failed(turned) || n.in(0).rank() != 3)
    return n.give(turned);
  return n.give(withoutHeads(n, *turned));
}

// Keys and values come with what is kept of former calls; how many of each batch there are is an input.
LogicalResult lowerGroupQuery(NodeLowering &n) {
  Emitter &e = n.e;
  const int64_t heads = n.integer("num_heads", 0), keyHeads = n.integer("kv_num_heads", 0),
                window = n.integer("local_window_size", -1);
  if (n.integer("smooth_softmax", 0) > 0 || n.integer("qk_output", 0) != 0)
    return n.refuse("has a smooth softmax, or shows scores");
  if (n.text("k_quant_type", "NONE") != "NONE" || n.text("v_quant_type", "NONE") != "NONE" ||
      n.integer("kv_cache_bit_width", 0) != 0)
    return n.refuse("has keys and values of fewer bits");
  if (n.has(3) != n.has(4))
    return n.refuse("has past keys or values, but not both");
  if (n.has(3) && (n.in(3).type != n.in(0).type || n.in(4).type != n.in(0).type))
    return n.refuse("has past keys and values of another type than queries");
  if (keyHeads > 0 && heads % keyHeads != 0)
    return n.refuse("has " + Twine(heads) + " heads, which are no multiple of " + Twine(keyHeads));
  for (size_t input = 9; input < n.inputs.size(); ++input)
    if (n.has(input))
      return n.refuse("has the input " + Twine(input) + ", which is not supported");
  if (!n.has(5) || !n.has(6))
    return n.refuse("has no counts of tokens");
  if (heads < 1 || keyHeads < 1 || n.in(0).rank() != 3)
    return n.refuse("needs num_heads and kv_num_heads, and three dimensions");
  Value flat[3];
  if (n.has(1) != n.has(2))
    return n.refuse("has keys or values, but not both");
  if (n.has(1)) {
    flat[0] = n.in(0), flat[1] = n.in(1), flat[2] = n.in(2);
  } else { // side by side in one
    std::optional<int64_t> width = Emitter::known(n.in(0).dims[2]);
    if (!width || *width % (heads + 2 * keyHeads) != 0)
      return n.refuse("needs heads of a known size");
    const int64_t size = *width / (heads + 2 * keyHeads), widths[] = {heads * size, keyHeads * size, keyHeads * size};
    for (int64_t i = 0, from = 0; i < 3; from += widths[i++])
      flat[i] =
          e.slice(n.in(0), {e.number(0), e.number(0), e.number(from)},
                  {n.in(0).dims[0], n.in(0).dims[1], e.number(widths[i])}, {e.number(1), e.number(1), e.number(1)});
  }
  FailureOr<Value> query = withHeads(n, flat[0], heads), key = withHeads(n, flat[1], keyHeads),
                   value = withHeads(n, flat[2], keyHeads);
  FailureOr<Dims> total = e.elementsOf(n.in(6));
  if (failed(query) || failed(key) || failed(value) || failed(total))
    return failure();
  const OpFoldResult batch = query->dims[0], length = query->dims[2], kept = n.has(3) ? n.in(3).dims[2] : e.number(0);
  const OpFoldResult present = e.compute(Emitter::Arithmetic::Max, kept, total->front());
  // How many tokens each batch has had before these: none where these are all.
  mlir::Value counts = e.tensorOf(n.in(5)), lengthIndex = e.indexOf(length), totalIndex = e.indexOf(total->front());
  const bool isFlatCount = n.in(5).rank() == 1;
  Value past = e.generate(DataType::I64, {batch}, [&](Scalars &s, ValueRange at) -> mlir::Value {
    SmallVector<mlir::Value> from = {at[0]};
    if (!isFlatCount)
      from.push_back(s.index(0));
    mlir::Value count = s.add(s.toIndex(Emitter::load(s, counts, from)), s.index(1));
    mlir::Value before = s.select(s.equal(lengthIndex, totalIndex), s.index(0), s.sub(count, lengthIndex));
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), before);
  });
  mlir::Value pastTensor = past.tensor;
  if (n.integer("do_rotary", 0) != 0) {
    if (!n.has(7) || !n.has(8))
      return n.refuse("turns positions, and has no cosines and sines");
    Value places = e.generate(DataType::I64, {batch, length}, [&](Scalars &s, ValueRange at) {
      return s.add(Emitter::load(s, pastTensor, at[0]), s.make<arith::IndexCastOp>(s.b.getI64Type(), at[1]));
    });
    // As many elements are turned as there are cosines for.
    std::optional<int64_t> pairs = n.in(7).rank() == 2 ? Emitter::known(n.in(7).dims[1]) : std::nullopt;
    if (!pairs || *pairs < 1)
      return n.refuse("needs (positions, pairs) of cosines");
    Turning turning{&n.in(7), &n.in(8), &places, n.integer("rotary_interleaved", 0) != 0, 2 * *pairs};
    query = turn(n, *query, turning);
    key = turn(n, *key, turning);
    if (failed(query) || failed(key))
      return failure();
  } else {
    n.ignore({"rotary_interleaved"});
  }
  // What was kept, the new ones behind it, and zeros.
  const auto extended = [&](const Value &fresh, size_t input) {
    mlir::Value news = e.tensorOf(fresh), olds = n.has(input) ? e.tensorOf(n.in(input)) : mlir::Value();
    const bool hasOld = n.has(input) && Emitter::known(kept) != 0;
    mlir::Value keptIndex = e.indexOf(kept);
    return e.generate(
        fresh.type, {fresh.dims[0], fresh.dims[1], present, fresh.dims[3]}, [&](Scalars &s, ValueRange at) {
          mlir::Value before = s.toIndex(Emitter::load(s, pastTensor, at[0])), own = s.sub(at[2], before),
                      zero = s.index(0);
          mlir::Value isNew = s.make<arith::AndIOp>(s.lessOrEqual(before, at[2]), s.less(own, lengthIndex));
          mlir::Value fromNew = Emitter::load(s, news, {at[0], at[1], s.select(isNew, own, zero), at[3]});
          mlir::Value otherwise = s.like(0, fromNew);
          if (hasOld) {
            mlir::Value isOld = s.make<arith::AndIOp>(s.less(at[2], before), s.less(at[2], keptIndex));
            otherwise =
                s.select(isOld, Emitter::load(s, olds, {at[0], at[1], s.select(isOld, at[2], zero), at[3]}), otherwise);
          }
          return s.select(isNew, fromNew, otherwise);
        });
  };
  Value keys = extended(*key, 3), values = extended(*value, 4);
  // A token sees itself and those before it.
  Value mask = e.generate(DataType::F32, {batch, e.number(1), length, present}, [&](Scalars &s, ValueRange at) {
    mlir::Value place = s.add(s.toIndex(Emitter::load(s, pastTensor, at[0])), at[2]);
    mlir::Value isSeen = s.lessOrEqual(at[3], place);
    if (window > 0)
      isSeen = s.make<arith::AndIOp>(isSeen, s.less(place, s.add(at[3], s.index(window))));
    mlir::Value none = s.constant(0, s.b.getF32Type());
    return s.select(isSeen, none, s.like(-std::numeric_limits<double>::infinity(), none));
  });
  Masks masks;
  masks.past = e.number(0);
  masks.mask = &mask;
  AttentionOptions options;
  if (const double scale = n.real("scale", 0); scale != 0)
    options.scale = scale;
  options.cap = n.real("softcap", 0);
  FailureOr<Attended> attended = attend(n, *query, keys, values, masks, options);
  if (failed(attended))
    return failure();
  FailureOr<Value> result = withoutHeads(n, attended->result);
  if (failed(result))
    return failure();
  n.results = {*result, keys, values};
  return success();
}

// Queries, keys and values that were made before, of as many heads each.
LogicalResult lowerMultiHead(NodeLowering &n) {
  Emitter &e = n.e;
  const int64_t heads = n.integer("num_heads", 0);
  n.ignore({"mask_filter_value"});
  if (!n.has(1) || !n.has(2) || n.in(1).rank() != 3 || n.in(2).rank() != 3)
    return n.refuse("has keys and values packed, which is not supported");
  for (size_t input : {4, 6, 7, 8, 9})
    if (n.has(input))
      return n.refuse("has the input " + Twine(input) + ", which is not supported");
  Value flat[3] = {n.in(0), n.in(1), n.in(2)};
  if (n.has(3)) { // biases, side by side
    std::optional<int64_t> given = n.in(3).rank() == 1 ? Emitter::known(n.in(3).dims[0]) : std::nullopt;
    if (given != Emitter::known(e.add(e.add(flat[0].dims[2], flat[1].dims[2]), flat[2].dims[2])))
      return n.refuse("has a bias of another length than queries, keys and values have together");
    for (int64_t i = 0; i < 3; ++i) {
      OpFoldResult width = flat[i].dims[2], from = i == 0   ? e.number(0)
                                                   : i == 1 ? flat[0].dims[2]
                                                            : e.mul(flat[0].dims[2], e.number(2));
      Value bias = e.slice(n.in(3), {from}, {width}, {e.number(1)});
      FailureOr<Value> sum = e.elementwise({&flat[i], &bias}, flat[i].type, add);
      if (failed(sum))
        return failure();
      flat[i] = *sum;
    }
  }
  FailureOr<Value> query = withHeads(n, flat[0], heads), key = withHeads(n, flat[1], heads),
                   value = withHeads(n, flat[2], heads);
  if (failed(query) || failed(key) || failed(value))
    return failure();
  Masks masks;
  masks.past = e.number(0);
  masks.isCausal = n.integer("unidirectional", 0) != 0;
  masks.mask = n.has(5) ? &n.in(5) : nullptr;
  if (masks.mask) {
    const OpFoldResult wanted[] = {query->dims[0], query->dims[1], query->dims[2], key->dims[2]};
    for (int64_t dim = 0; dim < masks.mask->rank(); ++dim) {
      std::optional<int64_t> extent = Emitter::known(masks.mask->dims[dim]);
      if (masks.mask->rank() != 4 || (dim == 3 || extent != 1 ? extent != Emitter::known(wanted[dim]) : false))
        return n.refuse("has a bias of scores of another shape than scores have");
    }
  }
  AttentionOptions options;
  if (const double scale = n.real("scale", 0); scale != 0)
    options.scale = scale;
  FailureOr<Attended> attended = attend(n, *query, *key, *value, masks, options);
  if (failed(attended))
    return failure();
  FailureOr<Value> result = withoutHeads(n, attended->result);
  if (failed(result))
    return failure();
  n.results = {*result, *key, *value};
  return success();
}

} // namespace

void registerMicrosoft(Registry &registry) {
  const auto add = [&](const char *name, Operator known) { registry[std::string("com.microsoft.") + name] = known; };
  add("BiasGelu", {lowerGelu<false>, 2});
  add("FastGelu", {lowerGelu<true>});
  add("FusedMatMul", {lowerFusedMatMul, 2});
  add("Gelu", {lowerGelu<false>});
  add("GroupQueryAttention", {lowerGroupQuery, 1});
  add("MatMulNBits", {lowerMatMulNBits, 3});
  add("MultiHeadAttention", {lowerMultiHead, 3});
  add("QuickGelu", {lowerQuickGelu});
  add("RotaryEmbedding", {lowerRotary, 4});
  add("SkipLayerNormalization", {lowerSkipNorm<true>, 3});
  add("SkipSimplifiedLayerNormalization", {lowerSkipNorm<false>, 3});
}

} // namespace kiln::onnx
