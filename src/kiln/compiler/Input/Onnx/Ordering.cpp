// Operators about order and places: prefixes, the largest elements, scattering, einsum.
#include <cctype>

#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Of an axis that the program may compute: each element from all before it, or behind it.
template <bool multiplies> LogicalResult lowerCumulative(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool isExclusive = n.integer("exclusive", 0) != 0, isReverse = n.integer("reverse", 0) != 0;
  FailureOr<Dims> axis = e.elementsOf(n.in(1));
  if (failed(axis) || axis->size() != 1)
    return failure();
  const int64_t rank = value.rank();
  if (std::optional<int64_t> known = Emitter::known(axis->front()); known && failed(n.dimension(*known, rank)))
    return failure();
  Dims flags = e.flags(*axis, rank), window;
  SmallVector<mlir::Value> isAxis;
  MLIRContext *context = e.b.getContext();
  SmallVector<AffineExpr> ofWindow, ofResult;
  for (int64_t dim = 0; dim < rank; ++dim) {
    window.push_back(e.chosen(arith::CmpIPredicate::eq, flags[dim], e.number(1), value.dims[dim], e.number(1)));
    isAxis.push_back(e.indexOf(flags[dim]));
    ofResult.push_back(getAffineDimExpr(dim, context));
    ofWindow.push_back(getAffineDimExpr(rank + dim, context));
  }
  mlir::Value tensor = e.tensorOf(value), shape = e.empty(value.type, window).tensor;
  Value target = e.filled(value.type, value.dims, e.constantScalar(multiplies ? 1 : 0, value.type));
  SmallVector<AffineMap> maps = {AffineMap::get(2 * rank, 0, ofWindow, context),
                                 AffineMap::get(2 * rank, 0, ofResult, context)};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.tensor.getType(), shape, target.tensor, maps, e.loops(rank, rank),
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at);
        SmallVector<mlir::Value> from;
        mlir::Value counts = s.constant(1, inner.getI1Type());
        for (int64_t dim = 0; dim < rank; ++dim) {
          mlir::Value own = linalg::IndexOp::create(inner, at, dim),
                      other = linalg::IndexOp::create(inner, at, rank + dim);
          mlir::Value isHere = s.equal(isAxis[dim], s.index(1));
          mlir::Value before = isReverse ? (isExclusive ? s.less(own, other) : s.lessOrEqual(own, other))
                                         : (isExclusive ? s.less(other, own) : s.lessOrEqual(other, own));
          counts = s.make<arith::AndIOp>(counts, s.make<arith::OrIOp>(before, s.logicalNot(isHere)));
          from.push_back(s.select(isHere, other, own));
        }
        mlir::Value element = Emitter::load(s, tensor, from);
        mlir::Value next = multiplies ? s.mul(args[1], element) : s.add(args[1], element);
        linalg::YieldOp::create(inner, at, s.select(counts, next, args[1]));
      });
  return n.give(e.wrap(generic.getResult(0), value.type, value.dims));
}

// All elements in order; the first ones are taken.
LogicalResult lowerTopK(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", -1), value.rank());
  OpFoldResult count;
  if (n.opset < 10) {
    count = e.number(n.integer("k", 1));
  } else if (!n.has(1)) {
    return n.refuse("has no number of elements");
  } else {
    FailureOr<Dims> k = e.elementsOf(n.in(1));
    if (failed(k) || k->size() != 1)
      return failure();
    count = k->front();
  }
  if (failed(axis))
    return failure();
  const bool isLargest = n.integer("largest", 1) != 0;
  n.ignore({"sorted"}); // they always are
  Value places = e.generate(DataType::I64, value.dims, [&](Scalars &s, ValueRange at) {
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), at[*axis]);
  });
  SmallVector<mlir::Value> tensors = {e.tensorOf(value), places.tensor};
  auto sort =
      LinalgExt::SortOp::create(e.b, e.loc, ValueRange(tensors).getTypes(), e.b.getI64IntegerAttr(*axis), tensors);
  {
    OpBuilder::InsertionGuard guard(e.b);
    Type element = e.elementType(value.type), index = e.b.getI64Type();
    Block *block =
        e.b.createBlock(&sort.getBody(), {}, {element, element, index, index}, SmallVector<Location>(4, e.loc));
    Scalars s(e.b, e.loc, Emitter::isUnsigned(value.type));
    mlir::Value x = block->getArgument(0), y = block->getArgument(1);
    LinalgExt::YieldOp::create(e.b, e.loc, isLargest ? s.less(y, x) : s.less(x, y));
  }
  Dims sizes = value.dims;
  sizes[*axis] = count;
  const DataType types[] = {value.type, DataType::I64};
  for (auto [result, type] : llvm::zip(sort.getResults(), types))
    n.results.push_back(e.slice(e.wrap(result, type, value.dims), Dims(value.rank(), e.number(0)), sizes,
                                Dims(value.rank(), e.number(1))));
  return success();
}

// Slices (places, rest...) put where indices (places, depth) say, one after the other.
FailureOr<Value> scatter(NodeLowering &n, const Value &value, const Value &indices, const Value &updates,
                         int64_t depth) {
  Emitter &e = n.e;
  const std::string_view reduction = n.text("reduction", "none");
  if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
    return n.refuse("has the reduction '" + Twine(StringRef(reduction)) + "'");
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < depth; ++dim)
    dims.push_back(dim);
  mlir::Value target = e.tensorOf(value);
  auto op =
      LinalgExt::ScatterOp::create(e.b, e.loc, target.getType(), e.b.getDenseI64ArrayAttr(dims), e.b.getBoolAttr(false),
                                   ValueRange{e.tensorOf(updates), e.tensorOf(indices)}, target);
  OpBuilder::InsertionGuard guard(e.b);
  Type element = e.elementType(value.type);
  Block *block = e.b.createBlock(&op.getBody(), {}, {element, element}, SmallVector<Location>(2, e.loc));
  Scalars s(e.b, e.loc, Emitter::isUnsigned(value.type));
  mlir::Value fresh = block->getArgument(0), old = block->getArgument(1), result = fresh;
  if (reduction == "add")
    result = value.type == DataType::Bool ? s.make<arith::OrIOp>(old, fresh) : s.add(old, fresh);
  else if (reduction == "mul")
    result = s.mul(old, fresh);
  else if (reduction == "max")
    result = s.max(old, fresh);
  else if (reduction == "min")
    result = s.min(old, fresh);
  LinalgExt::YieldOp::create(e.b, e.loc, result);
  return e.wrap(op.getResult(), value.type, value.dims);
}

LogicalResult lowerScatterND(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0), &indices = n.in(1), &updates = n.in(2);
  std::optional<int64_t> depth = indices.rank() > 0 ? Emitter::known(indices.dims.back()) : std::nullopt;
  if (!depth || *depth > value.rank())
    return n.refuse("has indices of an unknown or wrong number of dimensions");
  OpFoldResult places = e.product(ArrayRef(indices.dims).drop_back());
  Dims flat = {places};
  flat.append(value.dims.begin() + *depth, value.dims.end());
  // Places that are counted from the end.
  SmallVector<mlir::Value> extents;
  for (int64_t dim = 0; dim < *depth; ++dim)
    extents.push_back(e.indexOf(value.dims[dim]));
  FailureOr<Value> rows = e.reshape(indices, {places, e.number(*depth)}), slices = e.reshape(updates, flat);
  if (failed(rows) || failed(slices))
    return failure();
  mlir::Value raw = e.tensorOf(*rows);
  Value wrapped = e.generate(DataType::I64, rows->dims, [&](Scalars &s, ValueRange at) {
    mlir::Value index = s.toIndex(Emitter::load(s, raw, at)), extent = s.index(0);
    for (auto [dim, own] : llvm::enumerate(extents))
      extent = s.select(s.equal(at[1], s.index(static_cast<int64_t>(dim))), own, extent);
    index = s.select(s.less(index, s.index(0)), s.add(index, extent), index);
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), index);
  });
  return n.give(scatter(n, value, wrapped, *slices, *depth));
}

LogicalResult lowerScatterElements(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0), &indices = n.in(1), &updates = n.in(2);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis) || indices.rank() != value.rank())
    return n.refuse("needs an index for each dimension");
  const int64_t rank = value.rank();
  OpFoldResult places = e.product(indices.dims);
  mlir::Value raw = e.tensorOf(indices), extent = e.indexOf(value.dims[*axis]);
  // Where each element goes, in all dimensions: (indices..., rank).
  Dims withRank = indices.dims;
  withRank.push_back(e.number(rank));
  Value all = e.generate(DataType::I64, withRank, [&](Scalars &s, ValueRange at) {
    mlir::Value index = s.toIndex(Emitter::load(s, raw, at.drop_back()));
    index = s.select(s.less(index, s.index(0)), s.add(index, extent), index);
    mlir::Value place = index;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != *axis)
        place = s.select(s.equal(at.back(), s.index(dim)), at[dim], place);
    return s.make<arith::IndexCastOp>(s.b.getI64Type(), place);
  });
  FailureOr<Value> rows = e.reshape(all, {places, e.number(rank)}), elements = e.reshape(updates, {places});
  if (failed(rows) || failed(elements))
    return failure();
  return n.give(scatter(n, value, *rows, *elements, rank));
}

// What MaxPool took, put back to where it was; places are counted over all channels and images.
LogicalResult lowerMaxUnpool(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &image = n.in(0);
  const int64_t space = image.rank() - 2;
  std::optional<ArrayRef<int64_t>> taps = n.integers("kernel_shape");
  if (space < 1 || !taps || static_cast<int64_t>(taps->size()) != space)
    return n.refuse("needs an image of three dimensions at least, and a kernel_shape for its space");
  SmallVector<int64_t> strides = n.integersOr("strides", space, 1), pads = n.integersOr("pads", 2 * space, 0);
  Dims dims = image.dims;
  for (int64_t dim = 0; dim < space; ++dim) {
    OpFoldResult last = e.mul(e.sub(image.dims[2 + dim], e.number(1)), e.number(strides[dim]));
    dims[2 + dim] = e.add(last, e.number((*taps)[dim] - pads[dim] - pads[space + dim]));
  }
  OpFoldResult count = e.product(image.dims), all = e.product(dims);
  FailureOr<Value> places = e.reshape(n.in(1), {count, e.number(1)}), elements = e.reshape(image, {count});
  if (failed(places) || failed(elements))
    return failure();
  mlir::Value zero = e.constantScalar(0, image.type);
  FailureOr<Value> flat = scatter(n, e.filled(image.type, {all}, zero), *places, *elements, 1), result = failure();
  if (succeeded(flat))
    result = e.reshape(*flat, dims);
  if (failed(result) || !n.has(2))
    return n.give(result);
  // A shape that is given has zeros behind those of the windows.
  FailureOr<Dims> given = e.elementsOf(n.in(2));
  if (failed(given) || given->size() != dims.size())
    return n.refuse("has an output_shape of another number of dimensions");
  Dims low(dims.size(), e.number(0)), high;
  for (auto [wanted, own] : llvm::zip(*given, dims))
    high.push_back(e.sub(wanted, own));
  return n.give(e.pad(*result, low, high, zero));
}

LogicalResult lowerReverseSequence(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t batch = n.integer("batch_axis", 1), time = n.integer("time_axis", 0);
  if (value.rank() < 2 || batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    return n.refuse("needs a batch and a time as its first dimensions");
  mlir::Value tensor = e.tensorOf(value), lengths = e.tensorOf(n.in(1));
  return n.give(e.generate(value.type, value.dims, [&](Scalars &s, ValueRange at) {
    mlir::Value length = s.toIndex(Emitter::load(s, lengths, at[batch]));
    SmallVector<mlir::Value> from(at);
    from[time] = s.select(s.less(at[time], length), s.sub(s.sub(length, s.index(1)), at[time]), at[time]);
    return Emitter::load(s, tensor, from);
  }));
}

// Products of elements of all operands, added up over the letters that the result does not have.
LogicalResult lowerEinsum(NodeLowering &n) {
  Emitter &e = n.e;
  std::string equation;
  for (char letter : n.text("equation", ""))
    if (!std::isspace(static_cast<unsigned char>(letter)))
      equation += letter;
  const size_t arrow = equation.find("->");
  SmallVector<StringRef> terms;
  StringRef(equation).take_front(std::min(arrow, equation.size())).split(terms, ',');
  if (terms.size() != n.inputs.size() || llvm::is_contained(n.inputs, nullptr))
    return n.refuse("has " + Twine(terms.size()) + " terms for " + Twine(n.inputs.size()) + " operands");
  // Letters of dimensions; those of an ellipsis are numbers, counted from the last one.
  std::vector<std::vector<int>> letters;
  std::map<int, OpFoldResult> extents;
  std::map<int, int> uses;
  int64_t ellipsis = 0;
  for (auto [term, value] : llvm::zip(terms, n.inputs)) {
    std::vector<int> own;
    const size_t dots = term.find("...");
    const auto named = static_cast<int64_t>(term.size()) - (dots == StringRef::npos ? 0 : 3);
    if (named > value->rank() || (dots == StringRef::npos && named != value->rank()))
      return n.refuse("has a term '" + term + "' for " + Twine(value->rank()) + " dimensions");
    for (size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        for (int64_t dim = value->rank() - named; dim > 0; --dim)
          own.push_back(-static_cast<int>(dim));
        ellipsis = std::max(ellipsis, value->rank() - named);
        i += 2;
      } else {
        own.push_back(term[i]);
      }
    }
    for (auto [letter, extent] : llvm::zip(own, value->dims)) {
      auto [known, isNew] = extents.emplace(letter, extent);
      if (!isNew && Emitter::known(known->second) == 1)
        known->second = extent;
      ++uses[letter];
    }
    letters.push_back(own);
  }
  std::vector<int> result;
  if (arrow != std::string::npos) {
    StringRef right = StringRef(equation).drop_front(arrow + 2);
    for (size_t i = 0; i < right.size(); ++i)
      if (right.substr(i).starts_with("...")) {
        for (int64_t dim = ellipsis; dim > 0; --dim)
          result.push_back(-static_cast<int>(dim));
        i += 2;
      } else {
        result.push_back(right[i]);
      }
  } else {
    for (auto [letter, count] : uses)
      if (letter < 0 || count == 1)
        result.push_back(letter);
  }
  std::map<int, unsigned> loops;
  Dims dims;
  for (int letter : result) {
    if (!extents.contains(letter) || loops.contains(letter))
      return n.refuse("has a result with a letter that is not there, or is there twice");
    loops.emplace(letter, loops.size());
    dims.push_back(extents[letter]);
  }
  const auto parallel = static_cast<int64_t>(loops.size());
  for (auto [letter, extent] : extents)
    loops.emplace(letter, loops.size());
  const auto count = static_cast<int64_t>(loops.size());
  SmallVector<AffineMap> maps;
  SmallVector<mlir::Value> tensors;
  for (auto [own, value] : llvm::zip(letters, n.inputs)) {
    SmallVector<AffineExpr> results;
    for (auto [letter, extent] : llvm::zip(own, value->dims))
      results.push_back(Emitter::known(extent) == 1 && Emitter::known(extents[letter]) != 1
                            ? e.b.getAffineConstantExpr(0)
                            : e.b.getAffineDimExpr(loops[letter]));
    maps.push_back(AffineMap::get(count, 0, results, e.b.getContext()));
    tensors.push_back(e.tensorOf(*value));
  }
  SmallVector<AffineExpr> ofResult;
  for (int64_t loop = 0; loop < parallel; ++loop)
    ofResult.push_back(e.b.getAffineDimExpr(loop));
  maps.push_back(AffineMap::get(count, 0, ofResult, e.b.getContext()));
  const DataType type = n.in(0).type;
  mlir::Value target = e.filled(type, dims, e.constantScalar(0, type)).tensor;
  auto generic = linalg::GenericOp::create(e.b, e.loc, target.getType(), tensors, target, maps,
                                           e.loops(parallel, count - parallel),
                                           [&](OpBuilder &inner, Location at, ValueRange args) {
                                             Scalars s(inner, at);
                                             mlir::Value product = args[0];
                                             for (mlir::Value next : args.drop_front().drop_back())
                                               product = s.mul(product, next);
                                             linalg::YieldOp::create(inner, at, s.add(args.back(), product));
                                           });
  return n.give(e.wrap(generic.getResult(0), type, dims));
}

} // namespace

void registerOrdering(Registry &registry) {
  registry["CumProd"] = {lowerCumulative<true>, 2};
  registry["CumSum"] = {lowerCumulative<false>, 2};
  registry["Einsum"] = {lowerEinsum};
  registry["MaxUnpool"] = {lowerMaxUnpool, 2};
  registry["ReverseSequence"] = {lowerReverseSequence, 2};
  registry["Scatter"] = {lowerScatterElements, 3};
  registry["ScatterElements"] = {lowerScatterElements, 3};
  registry["ScatterND"] = {lowerScatterND, 3};
  registry["TopK"] = {lowerTopK};
}

} // namespace kiln::onnx
