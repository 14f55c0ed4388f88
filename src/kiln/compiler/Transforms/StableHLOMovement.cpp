// Of StableHLO what moves elements.
#include "kiln/compiler/Transforms/LinalgExtLowering.h"
#include "kiln/compiler/Transforms/StableHLOLowering.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::StableHLO {

using LinalgExt::constantIndex;
using LinalgExt::extentOf;

FailureOr<Values> Lowering::lowerIota(IotaOp iota) {
  Type element = resultType().getElementType();
  int64_t dimension = iota.getIotaDimension();
  if (!resultType().hasStaticShape() || dimension < 0 || dimension >= resultType().getRank() ||
      !element.isSignlessIntOrFloat())
    return refuse("needs a dimension of a known shape");
  return one(generate(staticSizes(), element, [&](OpBuilder &inner, ValueRange at) -> Value {
    auto integer = dyn_cast<IntegerType>(element);
    Value place = arith::IndexCastOp::create(inner, loc, integer ? integer : inner.getI64Type(), at[dimension]);
    return integer ? place : arith::SIToFPOp::create(inner, loc, element, place).getResult();
  }));
}

FailureOr<Values> Lowering::lowerReshape(ReshapeOp reshape) {
  RankedTensorType from = tensorType(reshape.getOperand()), to = resultType();
  if (from == to)
    return one(reshape.getOperand());
  if (!from.hasStaticShape() || !to.hasStaticShape() || from.getNumElements() != to.getNumElements() ||
      from.getElementType() != to.getElementType())
    return refuse("needs known shapes with as many elements");
  return one(Flow::TensorReshapeOp::create(b, loc, to, reshape.getOperand(), ValueRange()));
}

FailureOr<Values> Lowering::lowerBitcast(BitcastConvertOp cast) {
  Value source = cast.getOperand();
  Values dims, sourceDims;
  for (int64_t dim = 0; dim < resultType().getRank(); ++dim) {
    if (!resultType().isDynamicDim(dim))
      continue;
    if (dim >= rankOf(source))
      return refuse("needs a known extent for a dimension that its operand does not have");
    dims.push_back(extentOf(b, loc, source, dim));
  }
  for (int64_t dim = 0; dim < rankOf(source); ++dim)
    if (tensorType(source).isDynamicDim(dim))
      sourceDims.push_back(extentOf(b, loc, source, dim));
  return one(Flow::TensorBitcastOp::create(b, loc, cast.getType(), source, sourceDims, dims));
}

FailureOr<Values> Lowering::broadcastTo(Value tensor, Numbers dimensions) {
  RankedTensorType from = tensorType(tensor), to = resultType();
  if (!to.hasStaticShape() || static_cast<int64_t>(dimensions.size()) != from.getRank() ||
      !areDimensions(dimensions, to.getRank()))
    return refuse("needs a dimension of a known shape for each of its operand");
  SmallVector<AffineExpr> places;
  for (auto [extent, dimension] : llvm::zip(from.getShape(), dimensions)) {
    bool repeats = extent == 1 && to.getDimSize(dimension) != 1;
    if (!repeats && extent != to.getDimSize(dimension) && !ShapedType::isDynamic(extent))
      return refuse("repeats dimensions of 1 only");
    places.push_back(repeats ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(dimension));
  }
  AffineMap maps[] = {AffineMap::get(to.getRank(), 0, places, b.getContext()), b.getMultiDimIdentityMap(to.getRank())};
  auto made = linalg::GenericOp::create(
      b, loc, TypeRange(to), tensor, empty(staticSizes(), to.getElementType()), maps, parallelLoops(to.getRank()),
      [&](OpBuilder &inner, Location at, ValueRange elements) { linalg::YieldOp::create(inner, at, elements[0]); });
  return one(made.getResult(0));
}

FailureOr<Values> Lowering::lowerTranspose(TransposeOp transpose) {
  Numbers order = transpose.getPermutation();
  if (static_cast<int64_t>(order.size()) != rankOf(transpose.getOperand()) || !areDimensions(order, order.size()))
    return refuse("needs each dimension once");
  Sizes from = sizesOf(transpose.getOperand());
  Sizes sizes = llvm::map_to_vector(order, [&](int64_t dimension) { return from[dimension]; });
  Value init = empty(sizes, resultType().getElementType());
  return one(linalg::TransposeOp::create(b, loc, transpose.getOperand(), init, order)->getResult(0));
}

FailureOr<Values> Lowering::lowerReverse(ReverseOp reverse) {
  if (!areDimensions(reverse.getDimensions(), rankOf(reverse.getOperand())))
    return refuse("needs dimensions of its operand");
  return one(reversed(reverse.getOperand(), reverse.getDimensions()));
}

Value Lowering::reversed(Value tensor, Numbers dimensions) {
  SmallVector<Value> last(rankOf(tensor));
  for (int64_t dimension : dimensions)
    last[dimension] = arith::SubIOp::create(b, loc, extentOf(b, loc, tensor, dimension), constantIndex(b, loc, 1));
  return generate(sizesOf(tensor), tensorType(tensor).getElementType(), [&](OpBuilder &inner, ValueRange at) -> Value {
    Values from(at);
    for (auto [place, end] : llvm::zip(from, last))
      if (end)
        place = arith::SubIOp::create(inner, loc, end, place);
    return tensor::ExtractOp::create(inner, loc, tensor, from);
  });
}

FailureOr<Values> Lowering::lowerSlice(SliceOp slice) {
  Numbers starts = slice.getStartIndices(), limits = slice.getLimitIndices(), strides = slice.getStrides();
  RankedTensorType from = tensorType(slice.getOperand());
  size_t rank = from.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return refuse("needs a range for each dimension");
  Sizes sizes;
  for (auto [start, limit, stride, extent] : llvm::zip(starts, limits, strides, from.getShape())) {
    if (start < 0 || limit < start || stride < 1 || (!ShapedType::isDynamic(extent) && limit > extent))
      return refuse("needs ranges within its operand");
    sizes.push_back(b.getIndexAttr(llvm::divideCeil(limit - start, stride)));
  }
  return one(tensor::ExtractSliceOp::create(b, loc, slice.getOperand(), getAsIndexOpFoldResult(b.getContext(), starts),
                                            sizes, getAsIndexOpFoldResult(b.getContext(), strides)));
}

FailureOr<Value> Lowering::pad(Value tensor, Value scalar, Numbers low, Numbers high, Numbers interior) {
  int64_t rank = rankOf(tensor);
  Type element = tensorType(tensor).getElementType();
  Sizes ones(rank, b.getIndexAttr(1)), none(rank, b.getIndexAttr(0));
  if (llvm::any_of(interior, [](int64_t count) { return count != 0; })) {
    if (!tensorType(tensor).hasStaticShape())
      return (void)refuse("needs a known shape to put something between elements"), failure();
    Sizes sizes, strides;
    for (auto [extent, count] : llvm::zip(tensorType(tensor).getShape(), interior)) {
      sizes.push_back(b.getIndexAttr(extent == 0 ? 0 : extent + (extent - 1) * count));
      strides.push_back(b.getIndexAttr(count + 1));
    }
    Value filled = generate(sizes, element, [&](OpBuilder &inner, ValueRange) { return read(inner, scalar); });
    tensor = tensor::InsertSliceOp::create(b, loc, tensor, filled, none, sizesOf(tensor), strides);
  }
  if (llvm::any_of(llvm::concat<const int64_t>(low, high), [](int64_t count) { return count < 0; })) {
    if (!tensorType(tensor).hasStaticShape())
      return (void)refuse("needs a known shape to take elements away"), failure();
    Sizes starts, sizes;
    for (auto [extent, first, last] : llvm::zip(tensorType(tensor).getShape(), low, high)) {
      int64_t before = std::max<int64_t>(-first, 0), after = std::max<int64_t>(-last, 0);
      if (before + after > extent)
        return (void)refuse("takes more elements away than there are"), failure();
      starts.push_back(b.getIndexAttr(before));
      sizes.push_back(b.getIndexAttr(extent - before - after));
    }
    tensor = tensor::ExtractSliceOp::create(b, loc, tensor, starts, sizes, ones);
  }
  if (llvm::all_of(llvm::concat<const int64_t>(low, high), [](int64_t count) { return count <= 0; }))
    return tensor;
  SmallVector<int64_t> before = llvm::map_to_vector(low, [](int64_t count) { return std::max<int64_t>(count, 0); });
  SmallVector<int64_t> after = llvm::map_to_vector(high, [](int64_t count) { return std::max<int64_t>(count, 0); });
  auto padded = tensor::PadOp::create(b, loc, Type(), tensor, before, after, ValueRange(), ValueRange());
  b.createBlock(&padded.getRegion(), {}, SmallVector<Type>(rank, b.getIndexType()), SmallVector<Location>(rank, loc));
  tensor::YieldOp::create(b, loc, read(b, scalar));
  b.setInsertionPointAfter(padded);
  return padded.getResult();
}

Value Lowering::read(OpBuilder &inner, Value scalar) {
  if (Attribute known = knownScalar(scalar))
    return arith::ConstantOp::create(inner, loc, cast<TypedAttr>(known));
  return tensor::ExtractOp::create(inner, loc, scalar, ValueRange());
}

Attribute Lowering::knownScalar(Value scalar) {
  DenseElementsAttr known;
  return matchPattern(scalar, m_Constant(&known)) && known.isSplat() ? known.getSplatValue<Attribute>() : Attribute();
}

FailureOr<Values> Lowering::lowerPad(PadOp op) {
  size_t rank = rankOf(op.getOperand());
  if (rankOf(op.getPaddingValue()) != 0 || op.getEdgePaddingLow().size() != rank ||
      op.getEdgePaddingHigh().size() != rank || op.getInteriorPadding().size() != rank ||
      llvm::any_of(op.getInteriorPadding(), [](int64_t count) { return count < 0; }))
    return refuse("needs a value of rank 0 and numbers for each dimension");
  FailureOr<Value> padded = pad(op.getOperand(), op.getPaddingValue(), op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
                                op.getInteriorPadding());
  return failed(padded) ? FailureOr<Values>(failure()) : one(*padded);
}

FailureOr<Values> Lowering::lowerConcatenate(ConcatenateOp concatenate) {
  if (concatenate.getInputs().empty())
    return refuse("needs an operand");
  auto dimension = static_cast<int64_t>(concatenate.getDimension());
  if (dimension < 0 || dimension >= resultType().getRank())
    return refuse("needs a dimension of its operands");
  for (Value part : concatenate.getInputs()) {
    bool fits = rankOf(part) == resultType().getRank();
    for (int64_t i = 0; fits && i < rankOf(part); ++i)
      fits = i == dimension || ShapedType::isDynamic(tensorType(part).getDimSize(i)) ||
             ShapedType::isDynamic(resultType().getDimSize(i)) ||
             tensorType(part).getDimSize(i) == resultType().getDimSize(i);
    if (!fits)
      return refuse("needs operands that differ in this dimension alone");
  }
  return one(tensor::ConcatOp::create(b, loc, dimension, concatenate.getInputs()));
}

FailureOr<Sizes> Lowering::startsOf(Value tensor, ValueRange starts, const Sizes &sizes) {
  if (static_cast<int64_t>(starts.size()) != rankOf(tensor) || llvm::any_of(starts, [](Value start) {
        return rankOf(start) != 0 || !tensorType(start).getElementType().isSignlessInteger();
      }))
    return (void)refuse("needs a scalar for each dimension"), failure();
  Sizes held;
  for (auto [i, start] : llvm::enumerate(starts))
    held.push_back(heldInside(b, tensor::ExtractOp::create(b, loc, start, ValueRange()), extentOf(b, loc, tensor, i),
                              getValueOrCreateConstantIndexOp(b, loc, sizes[i])));
  return held;
}

FailureOr<Values> Lowering::lowerDynamicSlice(DynamicSliceOp slice) {
  Value tensor = slice.getOperand();
  if (static_cast<int64_t>(slice.getSliceSizes().size()) != rankOf(tensor) || !areWithin(slice.getSliceSizes(), tensor))
    return refuse("needs sizes that fit into its operand");
  Sizes sizes = getAsIndexOpFoldResult(b.getContext(), slice.getSliceSizes());
  FailureOr<Sizes> starts = startsOf(tensor, slice.getStartIndices(), sizes);
  if (failed(starts))
    return failure();
  return one(tensor::ExtractSliceOp::create(b, loc, tensor, *starts, sizes, Sizes(sizes.size(), b.getIndexAttr(1))));
}

bool Lowering::areWithin(Numbers sizes, Value tensor) {
  return llvm::all_of(llvm::zip(sizes, tensorType(tensor).getShape()), [](auto pair) {
    auto [size, extent] = pair;
    return size >= 0 && (ShapedType::isDynamic(extent) || size <= extent);
  });
}

FailureOr<Values> Lowering::lowerDynamicUpdateSlice(DynamicUpdateSliceOp update) {
  Value tensor = update.getOperand(), part = update.getUpdate();
  if (rankOf(part) != rankOf(tensor) || !areWithin(known(tensorType(part).getShape()), tensor))
    return refuse("needs a part that fits into its operand");
  Sizes sizes = sizesOf(part);
  FailureOr<Sizes> starts = startsOf(tensor, update.getStartIndices(), sizes);
  if (failed(starts))
    return failure();
  return one(
      tensor::InsertSliceOp::create(b, loc, part, tensor, *starts, sizes, Sizes(sizes.size(), b.getIndexAttr(1))));
}

SmallVector<int64_t> Lowering::known(Numbers shape) {
  return llvm::map_to_vector(shape, [](int64_t extent) { return ShapedType::isDynamic(extent) ? 0 : extent; });
}

static bool isSameExtent(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

// The extents of the indices in their order, and those of what is kept of a slice where the offsets say.
static SmallVector<int64_t> shapeOfGather(GatherOp gather, Numbers dropped) {
  GatherDimensionsAttr dims = gather.getDimensionNumbers();
  SmallVector<int64_t> batch(cast<RankedTensorType>(gather.getStartIndices().getType()).getShape()), shape;
  if (dims.getIndexVectorDim() < static_cast<int64_t>(batch.size()))
    batch.erase(batch.begin() + dims.getIndexVectorDim());
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(gather.getSliceSizes()))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      kept.push_back(size);
  const int64_t *next = batch.begin(), *part = kept.begin();
  for (size_t dim = 0; dim < batch.size() + kept.size(); ++dim)
    shape.push_back(llvm::is_contained(dims.getOffsetDims(), static_cast<int64_t>(dim)) ? *part++ : *next++);
  return shape;
}

FailureOr<Values> Lowering::lowerGather(GatherOp gather) {
  GatherDimensionsAttr dims = gather.getDimensionNumbers();
  Value tensor = gather.getOperand(), indices = gather.getStartIndices();
  int64_t rank = rankOf(tensor), indexRank = rankOf(indices), vector = dims.getIndexVectorDim();
  Numbers sizes = gather.getSliceSizes(), offsets = dims.getOffsetDims();
  SmallVector<int64_t> dropped(dims.getCollapsedSliceDims());
  dropped.append(dims.getOperandBatchingDims().begin(), dims.getOperandBatchingDims().end());
  int64_t batchRank = resultType().getRank() - offsets.size();
  bool fits = resultType().hasStaticShape() && tensorType(indices).getElementType().isSignlessInteger() &&
              areDimensions(dropped, rank) && areDimensions(dims.getStartIndexMap(), rank) &&
              areDimensions(offsets, resultType().getRank()) && static_cast<int64_t>(sizes.size()) == rank &&
              static_cast<int64_t>(dropped.size() + offsets.size()) == rank && vector >= 0 && vector <= indexRank &&
              batchRank == indexRank - (vector < indexRank ? 1 : 0) && areWithin(sizes, tensor) &&
              dims.getStartIndicesBatchingDims().size() == dims.getOperandBatchingDims().size() &&
              areDimensions(dims.getStartIndicesBatchingDims(), indexRank) &&
              !llvm::is_contained(dims.getStartIndicesBatchingDims(), vector) &&
              llvm::none_of(dims.getStartIndexMap(),
                            [&](int64_t dim) { return llvm::is_contained(dims.getOperandBatchingDims(), dim); });
  int64_t depth = fits && vector < indexRank ? tensorType(indices).getDimSize(vector) : 1;
  if (!fits || depth != static_cast<int64_t>(dims.getStartIndexMap().size()) ||
      llvm::any_of(dropped, [&](int64_t dim) { return sizes[dim] > 1; }) ||
      !llvm::equal(resultType().getShape(), shapeOfGather(gather, dropped), isSameExtent) ||
      !llvm::all_of_zip(
          dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims(), [&](int64_t dim, int64_t place) {
            return isSameExtent(tensorType(tensor).getDimSize(dim), tensorType(indices).getDimSize(place));
          }))
    return refuse("needs dimensions that fit its operands and a known result");
  Values extents;
  for (int64_t dim = 0; dim < rank; ++dim)
    extents.push_back(extentOf(b, loc, tensor, dim));
  return one(generate(staticSizes(), resultType().getElementType(), [&](OpBuilder &inner, ValueRange at) -> Value {
    Values batch, from(rank);
    for (int64_t dim = 0; dim < resultType().getRank(); ++dim)
      if (!llvm::is_contained(offsets, dim))
        batch.push_back(at[dim]);
    for (auto [i, dim] : llvm::enumerate(dims.getStartIndexMap())) {
      Values where(batch);
      if (vector < indexRank)
        where.insert(where.begin() + vector, constantIndex(inner, loc, i));
      Value start = tensor::ExtractOp::create(inner, loc, indices, where);
      from[dim] = heldInside(inner, start, extents[dim], constantIndex(inner, loc, sizes[dim]));
    }
    for (auto [dim, place] : llvm::zip(dims.getOperandBatchingDims(), dims.getStartIndicesBatchingDims()))
      from[dim] = batch[place - (place > vector ? 1 : 0)];
    const int64_t *offset = offsets.begin();
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value within = llvm::is_contained(dropped, dim) ? Value() : at[*offset++];
      if (!from[dim])
        from[dim] = within ? within : constantIndex(inner, loc, 0);
      else if (within)
        from[dim] = arith::AddIOp::create(inner, loc, from[dim], within);
    }
    return tensor::ExtractOp::create(inner, loc, tensor, from);
  }));
}

FailureOr<Values> Lowering::lowerIndexSelect(TorchIndexSelectOp select) {
  Value tensor = select.getOperand(), indices = select.getIndex();
  int64_t rank = rankOf(tensor), indexRank = rankOf(indices);
  int64_t dim = select.getDim(), batch = select.getBatchDims();
  dim += dim < 0 ? rank : 0;
  batch += batch < 0 ? indexRank : 0;
  if (dim < 0 || dim >= rank || batch < 0 || batch > std::min(dim, indexRank) ||
      !tensorType(indices).getElementType().isSignlessInteger())
    return refuse("needs integers, and dimensions of its operands");
  Sizes sizes = sizesOf(tensor), chosen = sizesOf(indices);
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, chosen.begin() + batch, chosen.end());
  return one(generate(sizes, resultType().getElementType(), [&](OpBuilder &inner, ValueRange at) -> Value {
    Values where(at.take_front(batch)), from(at.take_front(dim));
    llvm::append_range(where, at.slice(dim, indexRank - batch));
    from.push_back(toIndex(inner, tensor::ExtractOp::create(inner, loc, indices, where)));
    llvm::append_range(from, at.drop_front(dim + indexRank - batch));
    return tensor::ExtractOp::create(inner, loc, tensor, from);
  }));
}

} // namespace kiln::StableHLO
