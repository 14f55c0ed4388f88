#include "kiln/compiler/Transforms/LinalgExtLowering.h"
#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/StableHLOElements.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERSTABLEHLOPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace StableHLO {

using LinalgExt::constantIndex;
using LinalgExt::extentOf;
using Values = SmallVector<Value>;
using Numbers = ArrayRef<int64_t>;
using Sizes = SmallVector<OpFoldResult>;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static int64_t rankOf(Value value) {
  return tensorType(value).getRank();
}

// Each within the rank, and none twice.
static bool areDimensions(Numbers dimensions, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank || seen.test(dimension))
      return false;
    seen.set(dimension);
  }
  return true;
}

namespace {
// One operation; the builder is in front of it.
class Lowering {
public:
  Lowering(OpBuilder &b, Operation *op) : b(b), op(op), loc(op->getLoc()) {}

  // What stands for its results.
  FailureOr<Values> lower() {
    if (isElementwise(op))
      return one(elementwise());
    return llvm::TypeSwitch<Operation *, FailureOr<Values>>(op)
        .Case([&](ConstantOp constant) -> FailureOr<Values> {
          auto value = dyn_cast<TypedAttr>(constant.getValue());
          return value ? one(arith::ConstantOp::create(b, loc, value)) : refuse("needs a value with a type");
        })
        .Case([&](IotaOp iota) { return lowerIota(iota); })
        .Case([&](ReshapeOp reshape) { return lowerReshape(reshape); })
        .Case([&](BitcastConvertOp cast) {
          return one(
              Flow::TensorBitcastOp::create(b, loc, cast.getType(), cast.getOperand(), ValueRange(), ValueRange()));
        })
        .Case([&](BroadcastOp broadcast) {
          int64_t first = broadcast.getBroadcastSizes().size();
          return broadcastTo(broadcast.getOperand(),
                             llvm::to_vector(llvm::seq(first, first + rankOf(broadcast.getOperand()))));
        })
        .Case([&](BroadcastInDimOp broadcast) {
          return broadcastTo(broadcast.getOperand(), broadcast.getBroadcastDimensions());
        })
        .Case([&](TransposeOp transpose) { return lowerTranspose(transpose); })
        .Case([&](ReverseOp reverse) { return lowerReverse(reverse); })
        .Case([&](SliceOp slice) { return lowerSlice(slice); })
        .Case([&](PadOp pad) { return lowerPad(pad); })
        .Case([&](ConcatenateOp concatenate) { return lowerConcatenate(concatenate); })
        .Case([&](DynamicSliceOp slice) { return lowerDynamicSlice(slice); })
        .Case([&](DynamicUpdateSliceOp update) { return lowerDynamicUpdateSlice(update); })
        .Case([&](GatherOp gather) { return lowerGather(gather); })
        .Case([&](TorchIndexSelectOp select) { return lowerIndexSelect(select); })
        .Case([&](DotOp dot) {
          int64_t left = rankOf(dot.getLhs());
          if (left < 1 || left > 2 || rankOf(dot.getRhs()) < 1 || rankOf(dot.getRhs()) > 2)
            return refuse("needs vectors or matrices");
          return contract(dot.getLhs(), dot.getRhs(), {}, {}, {left - 1}, {0});
        })
        .Case([&](DotGeneralOp dot) {
          DotDimensionsAttr dims = dot.getDotDimensionNumbers();
          return contract(dot.getLhs(), dot.getRhs(), dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
                          dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
        })
        .Case([&](ConvolutionOp convolution) { return lowerConvolution(convolution); })
        .Case([&](ReduceOp reduce) { return lowerReduce(reduce); })
        .Case([&](ReduceWindowOp reduce) { return lowerReduceWindow(reduce); })
        .Case([&](SortOp sort) { return lowerSort(sort); })
        .Case([&](WhileOp loop) { return lowerWhile(loop); })
        .Default([&](Operation *) { return refuse("is not supported"); });
  }

private:
  OpBuilder &b;
  Operation *op;
  Location loc;

  FailureOr<Values> refuse(const Twine &why) {
    op->emitError() << "'" << op->getName() << "' " << why;
    return failure();
  }
  static FailureOr<Values> one(Value value) {
    if (!value)
      return failure();
    return Values{value};
  }

  RankedTensorType resultType(unsigned number = 0) { return tensorType(op->getResult(number)); }

  Value empty(const Sizes &sizes, Type element) { return tensor::EmptyOp::create(b, loc, sizes, element); }
  Value zeros(const Sizes &sizes, Type element) {
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
    return linalg::FillOp::create(b, loc, zero, empty(sizes, element)).getResult(0);
  }
  Sizes sizesOf(Value tensor) { return tensor::getMixedSizes(b, loc, tensor); }
  Sizes staticSizes() { return getAsIndexOpFoldResult(b.getContext(), resultType().getShape()); }
  static SmallVector<utils::IteratorType> parallelLoops(int64_t count) {
    return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
  }

  // Each element from its indices.
  Value generate(const Sizes &sizes, Type element, function_ref<Value(OpBuilder &, ValueRange)> compute) {
    return LinalgExt::generate(b, loc, empty(sizes, element), [&](OpBuilder &inner, ValueRange at, ValueRange) {
      return Values{compute(inner, at)};
    })[0];
  }

  Value toIndex(OpBuilder &inner, Value number) {
    return number.getType().isIndex()
               ? number
               : arith::IndexCastOp::create(inner, loc, inner.getIndexType(), number).getResult();
  }
  // A start of a slice, moved into the tensor.
  Value heldInside(OpBuilder &inner, Value start, Value extent, Value size) {
    Value most = arith::SubIOp::create(inner, loc, extent, size);
    Value low = arith::MaxSIOp::create(inner, loc, toIndex(inner, start), constantIndex(inner, loc, 0));
    return arith::MinSIOp::create(inner, loc, low, most);
  }

  //===--- Elementwise and movement
  //---------------------------------------------------------------------------------===//

  Value elementwise() {
    Values operands(op->getOperands());
    // A condition, or limits, of rank 0 are for all elements.
    if (isa<SelectOp, ClampOp>(op))
      for (Value &operand : operands)
        if (rankOf(operand) == 0 && resultType().getRank() != 0) {
          Value scalar = operand;
          operand = generate(sizesOf(op->getOperand(1)), tensorType(operand).getElementType(),
                             [&](OpBuilder &inner, ValueRange) {
                               return tensor::ExtractOp::create(inner, loc, scalar, ValueRange()).getResult();
                             });
        }
    for (Value operand : operands)
      if (rankOf(operand) != resultType().getRank()) {
        (void)refuse("needs operands of the result's shape");
        return {};
      }
    return lowerElementwise(b, op, operands, resultType());
  }

  FailureOr<Values> lowerIota(IotaOp iota) {
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

  FailureOr<Values> lowerReshape(ReshapeOp reshape) {
    RankedTensorType from = tensorType(reshape.getOperand()), to = resultType();
    if (from == to)
      return one(reshape.getOperand());
    if (!from.hasStaticShape() || !to.hasStaticShape() || from.getNumElements() != to.getNumElements() ||
        from.getElementType() != to.getElementType())
      return refuse("needs known shapes with as many elements");
    return one(Flow::TensorReshapeOp::create(b, loc, to, reshape.getOperand(), ValueRange()));
  }

  // `dimensions` says for each of the tensor's which one of the result it is.
  FailureOr<Values> broadcastTo(Value tensor, Numbers dimensions) {
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
    AffineMap maps[] = {AffineMap::get(to.getRank(), 0, places, b.getContext()),
                        b.getMultiDimIdentityMap(to.getRank())};
    auto made = linalg::GenericOp::create(
        b, loc, TypeRange(to), tensor, empty(staticSizes(), to.getElementType()), maps, parallelLoops(to.getRank()),
        [&](OpBuilder &inner, Location at, ValueRange elements) { linalg::YieldOp::create(inner, at, elements[0]); });
    return one(made.getResult(0));
  }

  FailureOr<Values> lowerTranspose(TransposeOp transpose) {
    Numbers order = transpose.getPermutation();
    if (static_cast<int64_t>(order.size()) != rankOf(transpose.getOperand()) || !areDimensions(order, order.size()))
      return refuse("needs each dimension once");
    Sizes from = sizesOf(transpose.getOperand());
    Sizes sizes = llvm::map_to_vector(order, [&](int64_t dimension) { return from[dimension]; });
    Value init = empty(sizes, resultType().getElementType());
    return one(linalg::TransposeOp::create(b, loc, transpose.getOperand(), init, order)->getResult(0));
  }

  FailureOr<Values> lowerReverse(ReverseOp reverse) {
    if (!areDimensions(reverse.getDimensions(), rankOf(reverse.getOperand())))
      return refuse("needs dimensions of its operand");
    return one(reversed(reverse.getOperand(), reverse.getDimensions()));
  }
  Value reversed(Value tensor, Numbers dimensions) {
    SmallVector<Value> last(rankOf(tensor));
    for (int64_t dimension : dimensions)
      last[dimension] = arith::SubIOp::create(b, loc, extentOf(b, loc, tensor, dimension), constantIndex(b, loc, 1));
    return generate(sizesOf(tensor), tensorType(tensor).getElementType(),
                    [&](OpBuilder &inner, ValueRange at) -> Value {
                      Values from(at);
                      for (auto [place, end] : llvm::zip(from, last))
                        if (end)
                          place = arith::SubIOp::create(inner, loc, end, place);
                      return tensor::ExtractOp::create(inner, loc, tensor, from);
                    });
  }

  FailureOr<Values> lowerSlice(SliceOp slice) {
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
    return one(tensor::ExtractSliceOp::create(b, loc, slice.getOperand(),
                                              getAsIndexOpFoldResult(b.getContext(), starts), sizes,
                                              getAsIndexOpFoldResult(b.getContext(), strides)));
  }

  // The tensor with a scalar between its elements and around them; less than none takes elements away.
  FailureOr<Value> pad(Value tensor, Value scalar, Numbers low, Numbers high, Numbers interior) {
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
  // Of a tensor of rank 0.
  Value read(OpBuilder &inner, Value scalar) {
    if (Attribute known = knownScalar(scalar))
      return arith::ConstantOp::create(inner, loc, cast<TypedAttr>(known));
    return tensor::ExtractOp::create(inner, loc, scalar, ValueRange());
  }
  static Attribute knownScalar(Value scalar) {
    DenseElementsAttr known;
    return matchPattern(scalar, m_Constant(&known)) && known.isSplat() ? known.getSplatValue<Attribute>() : Attribute();
  }

  FailureOr<Values> lowerPad(PadOp op) {
    size_t rank = rankOf(op.getOperand());
    if (rankOf(op.getPaddingValue()) != 0 || op.getEdgePaddingLow().size() != rank ||
        op.getEdgePaddingHigh().size() != rank || op.getInteriorPadding().size() != rank ||
        llvm::any_of(op.getInteriorPadding(), [](int64_t count) { return count < 0; }))
      return refuse("needs a value of rank 0 and numbers for each dimension");
    FailureOr<Value> padded = pad(op.getOperand(), op.getPaddingValue(), op.getEdgePaddingLow(),
                                  op.getEdgePaddingHigh(), op.getInteriorPadding());
    return failed(padded) ? FailureOr<Values>(failure()) : one(*padded);
  }

  FailureOr<Values> lowerConcatenate(ConcatenateOp concatenate) {
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

  // The starts of a slice of these sizes, moved into the tensor. Null where they are not scalars.
  FailureOr<Sizes> startsOf(Value tensor, ValueRange starts, const Sizes &sizes) {
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

  FailureOr<Values> lowerDynamicSlice(DynamicSliceOp slice) {
    Value tensor = slice.getOperand();
    if (static_cast<int64_t>(slice.getSliceSizes().size()) != rankOf(tensor) ||
        !areWithin(slice.getSliceSizes(), tensor))
      return refuse("needs sizes that fit into its operand");
    Sizes sizes = getAsIndexOpFoldResult(b.getContext(), slice.getSliceSizes());
    FailureOr<Sizes> starts = startsOf(tensor, slice.getStartIndices(), sizes);
    if (failed(starts))
      return failure();
    return one(tensor::ExtractSliceOp::create(b, loc, tensor, *starts, sizes, Sizes(sizes.size(), b.getIndexAttr(1))));
  }
  static bool areWithin(Numbers sizes, Value tensor) {
    return llvm::all_of(llvm::zip(sizes, tensorType(tensor).getShape()), [](auto pair) {
      auto [size, extent] = pair;
      return size >= 0 && (ShapedType::isDynamic(extent) || size <= extent);
    });
  }

  FailureOr<Values> lowerDynamicUpdateSlice(DynamicUpdateSliceOp update) {
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
  static SmallVector<int64_t> known(Numbers shape) {
    return llvm::map_to_vector(shape, [](int64_t extent) { return ShapedType::isDynamic(extent) ? 0 : extent; });
  }

  FailureOr<Values> lowerGather(GatherOp gather) {
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
                !llvm::is_contained(dims.getStartIndicesBatchingDims(), vector);
    int64_t depth = fits && vector < indexRank ? tensorType(indices).getDimSize(vector) : 1;
    if (!fits || depth != static_cast<int64_t>(dims.getStartIndexMap().size()))
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

  FailureOr<Values> lowerIndexSelect(TorchIndexSelectOp select) {
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

  //===--- Products
  //-------------------------------------------------------------------------------------------------===//

  // A sum of products, in the result's type.
  Value multiplyAdd(OpBuilder &inner, ValueRange elements) {
    Type type = elements[2].getType();
    Value x = convertScalarToDtype(inner, loc, elements[0], type, /*isUnsignedCast=*/false);
    Value y = convertScalarToDtype(inner, loc, elements[1], type, /*isUnsignedCast=*/false);
    if (isa<FloatType>(type))
      return arith::AddFOp::create(inner, loc, elements[2], arith::MulFOp::create(inner, loc, x, y));
    return arith::AddIOp::create(inner, loc, elements[2], arith::MulIOp::create(inner, loc, x, y));
  }
  Value sumOfProducts(ValueRange operands, Value start, ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> loops) {
    return linalg::GenericOp::create(b, loc, start.getType(), operands, start, maps, loops,
                                     [&](OpBuilder &inner, Location at, ValueRange elements) {
                                       linalg::YieldOp::create(inner, at, multiplyAdd(inner, elements));
                                     })
        .getResult(0);
  }
  bool areNumbers(ValueRange tensors) {
    return llvm::all_of(tensors, [](Value tensor) {
      Type element = tensorType(tensor).getElementType();
      return element.isSignlessIntOrFloat() && !element.isInteger(1);
    });
  }

  FailureOr<Values> contract(Value lhs, Value rhs, Numbers lhsBatch, Numbers rhsBatch, Numbers lhsSummed,
                             Numbers rhsSummed) {
    SmallVector<int64_t> left(lhsBatch), right(rhsBatch);
    llvm::append_range(left, lhsSummed);
    llvm::append_range(right, rhsSummed);
    if (lhsBatch.size() != rhsBatch.size() || lhsSummed.size() != rhsSummed.size() ||
        !areDimensions(left, rankOf(lhs)) || !areDimensions(right, rankOf(rhs)) ||
        !areNumbers({lhs, rhs, op->getResult(0)}))
      return refuse("needs pairs of dimensions of its operands, and numbers");
    for (auto [x, y] : llvm::zip(left, right)) {
      int64_t extent = tensorType(lhs).getDimSize(x), other = tensorType(rhs).getDimSize(y);
      if (extent != other && !ShapedType::isDynamic(extent) && !ShapedType::isDynamic(other))
        return refuse("sums over " + Twine(extent) + " and over " + Twine(other) + " elements");
    }
    Sizes lhsSizes = sizesOf(lhs), rhsSizes = sizesOf(rhs), sizes;
    SmallVector<AffineExpr> ofLhs(rankOf(lhs)), ofRhs(rankOf(rhs)), ofResult;
    unsigned count = 0;
    auto addLoop = [&](AffineExpr *x, AffineExpr *y, OpFoldResult size, bool isSummed) {
      AffineExpr loop = b.getAffineDimExpr(count++);
      if (x)
        *x = loop;
      if (y)
        *y = loop;
      if (isSummed)
        return;
      ofResult.push_back(loop);
      sizes.push_back(size);
    };
    for (auto [x, y] : llvm::zip(lhsBatch, rhsBatch))
      addLoop(&ofLhs[x], &ofRhs[y], lhsSizes[x], false);
    for (int64_t x = 0; x < rankOf(lhs); ++x)
      if (!llvm::is_contained(left, x))
        addLoop(&ofLhs[x], nullptr, lhsSizes[x], false);
    for (int64_t y = 0; y < rankOf(rhs); ++y)
      if (!llvm::is_contained(right, y))
        addLoop(nullptr, &ofRhs[y], rhsSizes[y], false);
    SmallVector<utils::IteratorType> loops = parallelLoops(count);
    for (auto [x, y] : llvm::zip(lhsSummed, rhsSummed))
      addLoop(&ofLhs[x], &ofRhs[y], {}, true);
    loops.resize(count, utils::IteratorType::reduction);
    Value start = zeros(sizes, resultType().getElementType());
    auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(count, 0, results, b.getContext()); };
    return one(sumOfProducts({lhs, rhs}, start, {mapOf(ofLhs), mapOf(ofRhs), mapOf(ofResult)}, loops));
  }

  static SmallVector<int64_t> numbersOr(std::optional<ArrayRef<int64_t>> numbers, size_t count, int64_t otherwise) {
    return numbers ? SmallVector<int64_t>(*numbers) : SmallVector<int64_t>(count, otherwise);
  }
  // What is added before and after each of `count` dimensions.
  static bool readPadding(std::optional<DenseIntElementsAttr> padding, size_t count, SmallVectorImpl<int64_t> &low,
                          SmallVectorImpl<int64_t> &high) {
    low.assign(count, 0);
    high.assign(count, 0);
    if (!padding)
      return true;
    if (padding->getNumElements() != static_cast<int64_t>(2 * count))
      return false;
    for (auto [i, number] : llvm::enumerate(padding->getValues<int64_t>()))
      (i % 2 ? high : low)[i / 2] = number;
    return true;
  }

  // Loops: the batch, the places of the result, groups of features and the features of a group, then what is summed:
  // the places of the kernel and its input features. Features of a result that has groups are in two dimensions at
  // first.
  FailureOr<Values> lowerConvolution(ConvolutionOp convolution) {
    ConvDimensionsAttr dims = convolution.getDimensionNumbers();
    Value input = convolution.getLhs(), kernel = convolution.getRhs();
    size_t space = dims.getInputSpatialDimensions().size();
    auto all = [](int64_t first, int64_t second, Numbers rest) {
      SmallVector<int64_t> list{first, second};
      llvm::append_range(list, rest);
      return list;
    };
    auto covers = [&](Value tensor, ArrayRef<int64_t> list) {
      return rankOf(tensor) == static_cast<int64_t>(space) + 2 && list.size() == space + 2 &&
             areDimensions(list, space + 2);
    };
    if (!covers(input, all(dims.getInputBatchDimension(), dims.getInputFeatureDimension(),
                           dims.getInputSpatialDimensions())) ||
        !covers(kernel, all(dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension(),
                            dims.getKernelSpatialDimensions())) ||
        !covers(op->getResult(0), all(dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(),
                                      dims.getOutputSpatialDimensions())))
      return refuse("needs each dimension of input, kernel and result once");
    SmallVector<int64_t> strides = numbersOr(convolution.getWindowStrides(), space, 1);
    SmallVector<int64_t> baseDilation = numbersOr(convolution.getLhsDilation(), space, 1);
    SmallVector<int64_t> dilation = numbersOr(convolution.getRhsDilation(), space, 1), low, high;
    auto groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
    RankedTensorType kernelType = tensorType(kernel);
    if (!kernelType.hasStaticShape() || !resultType().hasStaticShape() ||
        !areNumbers({input, kernel, op->getResult(0)}))
      return refuse("needs numbers, and a kernel and a result of known shapes");
    auto arePositive = [&](Numbers numbers) {
      return numbers.size() == space && llvm::all_of(numbers, [](int64_t number) { return number > 0; });
    };
    if (!readPadding(convolution.getPadding(), space, low, high) || !arePositive(strides) ||
        !arePositive(baseDilation) || !arePositive(dilation))
      return refuse("needs strides, dilations and paddings for each dimension of space");
    if (convolution.getBatchGroupCount() != 1)
      return refuse("with groups of the batch is not supported");
    int64_t outputs = kernelType.getDimSize(dims.getKernelOutputFeatureDimension());
    int64_t inputs = kernelType.getDimSize(dims.getKernelInputFeatureDimension());
    int64_t features = tensorType(input).getDimSize(dims.getInputFeatureDimension());
    if (groups < 1 || outputs % groups != 0 || (!ShapedType::isDynamic(features) && features != inputs * groups) ||
        resultType().getDimSize(dims.getOutputFeatureDimension()) != outputs)
      return refuse("needs as many features as its groups have");
    if (std::optional<ArrayRef<bool>> reversal = convolution.getWindowReversal()) {
      SmallVector<int64_t> turned;
      for (auto [dimension, isTurned] : llvm::zip(dims.getKernelSpatialDimensions(), *reversal))
        if (isTurned)
          turned.push_back(dimension);
      if (!turned.empty())
        kernel = reversed(kernel, turned);
    }

    // Images with what is around them, and between their elements.
    size_t rank = space + 2;
    SmallVector<int64_t> lows(rank, 0), highs(rank, 0), interiors(rank, 0);
    for (auto [i, dimension] : llvm::enumerate(dims.getInputSpatialDimensions())) {
      lows[dimension] = low[i];
      highs[dimension] = high[i];
      interiors[dimension] = baseDilation[i] - 1;
      int64_t extent = tensorType(input).getDimSize(dimension);
      int64_t window = (kernelType.getDimSize(dims.getKernelSpatialDimensions()[i]) - 1) * dilation[i] + 1;
      int64_t wide = extent + (extent - 1) * interiors[dimension] + low[i] + high[i];
      if (!ShapedType::isDynamic(extent) && resultType().getDimSize(dims.getOutputSpatialDimensions()[i]) !=
                                                std::max<int64_t>(0, wide - window + strides[i]) / strides[i])
        return refuse("has a result of other extents than its windows give");
    }
    auto zeroType = RankedTensorType::get({}, tensorType(input).getElementType());
    Value zero = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(zeroType, Attribute(b.getZeroAttr(zeroType.getElementType()))));
    FailureOr<Value> images = pad(input, zero, lows, highs, interiors);
    if (failed(images))
      return failure();

    unsigned count = 0;
    auto loop = [&] { return b.getAffineDimExpr(count++); };
    SmallVector<AffineExpr> ofInput(rank), ofKernel(rank), ofResult(rank);
    AffineExpr batch = loop();
    ofInput[dims.getInputBatchDimension()] = ofResult[dims.getOutputBatchDimension()] = batch;
    SmallVector<AffineExpr> places;
    for (int64_t dimension : dims.getOutputSpatialDimensions())
      ofResult[dimension] = places.emplace_back(loop());
    AffineExpr group = groups > 1 ? loop() : b.getAffineConstantExpr(0), feature = loop();
    SmallVector<utils::IteratorType> loops = parallelLoops(count);
    for (size_t i = 0; i < space; ++i) {
      AffineExpr tap = loop();
      ofKernel[dims.getKernelSpatialDimensions()[i]] = tap;
      ofInput[dims.getInputSpatialDimensions()[i]] = places[i] * strides[i] + tap * dilation[i];
    }
    AffineExpr summed = loop();
    loops.resize(count, utils::IteratorType::reduction);
    ofKernel[dims.getKernelInputFeatureDimension()] = summed;
    ofInput[dims.getInputFeatureDimension()] = group * inputs + summed;
    ofKernel[dims.getKernelOutputFeatureDimension()] = group * (outputs / groups) + feature;
    ofResult[dims.getOutputFeatureDimension()] = feature;
    SmallVector<int64_t> shape(resultType().getShape());
    if (groups > 1) {
      int64_t place = dims.getOutputFeatureDimension();
      ofResult.insert(ofResult.begin() + place, group);
      shape[place] = outputs / groups;
      shape.insert(shape.begin() + place, groups);
    }
    Value start = zeros(getAsIndexOpFoldResult(b.getContext(), shape), resultType().getElementType());
    auto mapOf = [&](ArrayRef<AffineExpr> results) { return AffineMap::get(count, 0, results, b.getContext()); };
    Value result = sumOfProducts({*images, kernel}, start, {mapOf(ofInput), mapOf(ofKernel), mapOf(ofResult)}, loops);
    if (groups > 1)
      result = Flow::TensorReshapeOp::create(b, loc, resultType(), result, ValueRange());
    return one(result);
  }

  //===--- Bodies
  //---------------------------------------------------------------------------------------------------===//

  // Results that start with the initial values.
  FailureOr<Values> starts(ValueRange initial, const Sizes &sizes) {
    Values made;
    for (Value value : initial) {
      if (rankOf(value) != 0)
        return refuse("needs initial values of rank 0");
      Type element = tensorType(value).getElementType();
      if (Attribute known = knownScalar(value)) {
        Value scalar = arith::ConstantOp::create(b, loc, cast<TypedAttr>(known));
        made.push_back(linalg::FillOp::create(b, loc, scalar, empty(sizes, element)).getResult(0));
      } else {
        made.push_back(generate(sizes, element, [&](OpBuilder &inner, ValueRange) { return read(inner, value); }));
      }
    }
    return made;
  }

  // `extra` inputs come behind the reduced ones, and have no part in the body.
  FailureOr<Values> reduce(ValueRange inputs, ValueRange extra, ValueRange starts, ArrayRef<AffineMap> maps,
                           ArrayRef<utils::IteratorType> loops, Block &body) {
    size_t count = starts.size();
    if (body.getNumArguments() != 2 * count || body.getTerminator()->getNumOperands() != count)
      return refuse("needs a body that combines two values of each input");
    Values operands(inputs);
    llvm::append_range(operands, extra);
    LogicalResult lowered = success();
    auto made = linalg::GenericOp::create(
        b, loc, TypeRange(starts), operands, starts, maps, loops,
        [&](OpBuilder &inner, Location at, ValueRange elements) {
          Values arguments(elements.take_back(count));
          llvm::append_range(arguments, elements.take_front(count));
          FailureOr<Values> combined = lowerScalarBody(inner, body, arguments);
          if (failed(combined))
            lowered = failure();
          linalg::YieldOp::create(inner, at, succeeded(combined) ? ValueRange(*combined) : elements.take_back(count));
        });
    return failed(lowered) ? FailureOr<Values>(failure()) : Values(made.getResults());
  }

  FailureOr<Values> lowerReduce(ReduceOp op) {
    if (op.getInputs().empty())
      return refuse("needs an input");
    int64_t rank = rankOf(op.getInputs()[0]);
    Numbers dimensions = op.getDimensions();
    if (!areDimensions(dimensions, rank) ||
        llvm::any_of(op.getInputs(), [&](Value input) { return rankOf(input) != rank; }))
      return refuse("needs inputs of one shape, and dimensions of them");
    Sizes all = sizesOf(op.getInputs()[0]), sizes;
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> loops = parallelLoops(rank);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (llvm::is_contained(dimensions, dim)) {
        loops[dim] = utils::IteratorType::reduction;
        continue;
      }
      kept.push_back(b.getAffineDimExpr(dim));
      sizes.push_back(all[dim]);
    }
    FailureOr<Values> from = starts(op.getInitValues(), sizes);
    if (failed(from))
      return failure();
    SmallVector<AffineMap> maps(op.getInputs().size(), b.getMultiDimIdentityMap(rank));
    maps.append(from->size(), AffineMap::get(rank, 0, kept, b.getContext()));
    return reduce(op.getInputs(), {}, *from, maps, loops, op.getBody().front());
  }

  FailureOr<Values> lowerReduceWindow(ReduceWindowOp op) {
    size_t rank = resultType().getRank();
    SmallVector<int64_t> strides = numbersOr(op.getWindowStrides(), rank, 1), low, high;
    SmallVector<int64_t> baseDilation = numbersOr(op.getBaseDilations(), rank, 1);
    SmallVector<int64_t> dilation = numbersOr(op.getWindowDilations(), rank, 1);
    Numbers window = op.getWindowDimensions();
    auto arePositive = [&](Numbers numbers) {
      return numbers.size() == rank && llvm::all_of(numbers, [](int64_t number) { return number > 0; });
    };
    if (!resultType().hasStaticShape() || !arePositive(window) || !arePositive(strides) || !arePositive(baseDilation) ||
        !arePositive(dilation) || !readPadding(op.getPadding(), rank, low, high) ||
        llvm::any_of(op.getInputs(), [&](Value input) { return rankOf(input) != static_cast<int64_t>(rank); }))
      return refuse("needs numbers for each dimension, and a known result");
    SmallVector<int64_t> interior = llvm::map_to_vector(baseDilation, [](int64_t step) { return step - 1; });
    Values inputs;
    for (auto [input, value] : llvm::zip(op.getInputs(), op.getInitValues())) {
      if (rankOf(value) != 0)
        return refuse("needs initial values of rank 0");
      FailureOr<Value> padded = pad(input, value, low, high, interior);
      if (failed(padded))
        return failure();
      inputs.push_back(*padded);
      for (size_t dim = 0; dim < rank; ++dim) {
        int64_t extent = tensorType(*padded).getDimSize(dim), reach = (window[dim] - 1) * dilation[dim] + 1;
        if (!ShapedType::isDynamic(extent) &&
            resultType().getDimSize(dim) != std::max<int64_t>(0, extent - reach + strides[dim]) / strides[dim])
          return refuse("has a result of other extents than its windows give");
      }
    }
    FailureOr<Values> from = starts(op.getInitValues(), staticSizes());
    if (failed(from))
      return failure();
    SmallVector<AffineExpr> places, within;
    for (size_t dim = 0; dim < rank; ++dim) {
      within.push_back(b.getAffineDimExpr(rank + dim));
      places.push_back(b.getAffineDimExpr(dim) * strides[dim] + within.back() * dilation[dim]);
    }
    AffineMap all = b.getMultiDimIdentityMap(2 * rank);
    SmallVector<AffineMap> maps(inputs.size(), AffineMap::get(2 * rank, 0, places, b.getContext()));
    maps.push_back(AffineMap::get(2 * rank, 0, within, b.getContext()));
    maps.append(from->size(), all.getMajorSubMap(rank));
    SmallVector<utils::IteratorType> loops = parallelLoops(rank);
    loops.resize(2 * rank, utils::IteratorType::reduction);
    // Nothing is read of it: it has the extents of a window.
    Value shape = empty(getAsIndexOpFoldResult(b.getContext(), window), tensorType(inputs[0]).getElementType());
    return reduce(inputs, shape, *from, maps, loops, op.getBody().front());
  }

  FailureOr<Values> lowerSort(SortOp sort) {
    if (sort.getInputs().empty())
      return refuse("needs an input");
    auto dimension = static_cast<int64_t>(sort.getDimension());
    dimension += dimension < 0 ? rankOf(sort.getInputs()[0]) : 0;
    auto made = LinalgExt::SortOp::create(b, loc, op->getResultTypes(), dimension, sort.getInputs());
    SmallVector<Type> types;
    for (Value input : sort.getInputs())
      types.append(2, tensorType(input).getElementType());
    Block &comparator = sort.getComparator().front();
    if (comparator.getNumArguments() != types.size())
      return refuse("needs a body that compares two elements of each input");
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&made.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    FailureOr<Values> order = lowerScalarBody(b, comparator, body->getArguments());
    if (failed(order))
      return failure();
    LinalgExt::YieldOp::create(b, loc, *order);
    // Its own verifier knows what it needs.
    return failed(made.verify()) ? FailureOr<Values>(failure()) : Values(made.getResults());
  }

  // What the regions hold has been lowered.
  FailureOr<Values> lowerWhile(WhileOp loop) {
    Block &condition = loop.getCond().front(), &body = loop.getBody().front();
    TypeRange types = op->getOperandTypes();
    if (condition.getArgumentTypes() != types || body.getArgumentTypes() != types || op->getResultTypes() != types ||
        body.getTerminator()->getOperandTypes() != types || condition.getTerminator()->getNumOperands() != 1)
      return refuse("needs a condition and a body of its operands' types");
    auto question = dyn_cast<RankedTensorType>(condition.getTerminator()->getOperand(0).getType());
    if (!question || question.getRank() != 0 || !question.getElementType().isInteger(1))
      return refuse("needs a condition that is a tensor<i1>");
    auto made = scf::WhileOp::create(b, loc, op->getResultTypes(), op->getOperands());
    made.getBefore().takeBody(loop.getCond());
    made.getAfter().takeBody(loop.getBody());
    OpBuilder::InsertionGuard guard(b);
    auto replaceEnd = [&](Block &block, function_ref<void(ValueRange)> emit) {
      Operation *end = block.getTerminator();
      b.setInsertionPoint(end);
      emit(end->getOperands());
      end->erase();
    };
    replaceEnd(made.getBefore().front(), [&](ValueRange ends) {
      Value goesOn = tensor::ExtractOp::create(b, loc, ends[0], ValueRange());
      scf::ConditionOp::create(b, loc, goesOn, made.getBefore().front().getArguments());
    });
    replaceEnd(made.getAfter().front(), [&](ValueRange ends) { scf::YieldOp::create(b, loc, ends); });
    return Values(made.getResults());
  }
};
} // namespace
} // namespace StableHLO

namespace {
class LowerStableHLOPass : public impl::LowerStableHLOPassBase<LowerStableHLOPass> {
public:
  void runOnOperation() override {
    if (failed(lowerRegions(getOperation())))
      signalPassFailure();
  }

private:
  static LogicalResult lowerRegions(Operation *parent) {
    for (Region &region : parent->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(block))
          if (failed(lower(&op)))
            return failure();
    return success();
  }

  static LogicalResult lower(Operation *op) {
    bool isOurs = isa_and_nonnull<StableHLO::StableHLODialect>(op->getDialect());
    // Bodies of others are computed for single elements, and lowered with them.
    if ((!isOurs || isa<StableHLO::WhileOp>(op)) && failed(lowerRegions(op)))
      return failure();
    if (!isOurs || isa<StableHLO::ReturnOp>(op))
      return success();
    OpBuilder b(op);
    FailureOr<SmallVector<Value>> values = StableHLO::Lowering(b, op).lower();
    if (failed(values))
      return failure();
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      if (value.getType() != result.getType()) {
        if (!tensor::CastOp::areCastCompatible(TypeRange(value.getType()), TypeRange(result.getType())))
          return op->emitError() << "'" << op->getName() << "' gives " << value.getType() << ", and not "
                                 << result.getType();
        b.setInsertionPoint(op);
        value = tensor::CastOp::create(b, op->getLoc(), result.getType(), value);
      }
      result.replaceAllUsesWith(value);
    }
    op->erase();
    return success();
  }
};
} // namespace
} // namespace kiln
