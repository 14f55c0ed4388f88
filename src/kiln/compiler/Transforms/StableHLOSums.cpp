// Of StableHLO products, convolutions, and what has a body.
#include "kiln/compiler/Transforms/LinalgExtLowering.h"
#include "kiln/compiler/Transforms/StableHLOElements.h"
#include "kiln/compiler/Transforms/StableHLOLowering.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::StableHLO {

Value Lowering::multiplyAdd(OpBuilder &inner, ValueRange elements) {
  Type type = elements[2].getType();
  Value x = convertScalarToDtype(inner, loc, elements[0], type, /*isUnsignedCast=*/false);
  Value y = convertScalarToDtype(inner, loc, elements[1], type, /*isUnsignedCast=*/false);
  if (isa<FloatType>(type))
    return arith::AddFOp::create(inner, loc, elements[2], arith::MulFOp::create(inner, loc, x, y));
  return arith::AddIOp::create(inner, loc, elements[2], arith::MulIOp::create(inner, loc, x, y));
}

Value Lowering::sumOfProducts(ValueRange operands, Value start, ArrayRef<AffineMap> maps,
                              ArrayRef<utils::IteratorType> loops) {
  return linalg::GenericOp::create(b, loc, start.getType(), operands, start, maps, loops,
                                   [&](OpBuilder &inner, Location at, ValueRange elements) {
                                     linalg::YieldOp::create(inner, at, multiplyAdd(inner, elements));
                                   })
      .getResult(0);
}

bool Lowering::areNumbers(ValueRange tensors) {
  return llvm::all_of(tensors, [](Value tensor) {
    Type element = tensorType(tensor).getElementType();
    return element.isSignlessIntOrFloat() && !element.isInteger(1);
  });
}

FailureOr<Values> Lowering::contract(Value lhs, Value rhs, Numbers lhsBatch, Numbers rhsBatch, Numbers lhsSummed,
                                     Numbers rhsSummed) {
  SmallVector<int64_t> left(lhsBatch), right(rhsBatch);
  llvm::append_range(left, lhsSummed);
  llvm::append_range(right, rhsSummed);
  if (lhsBatch.size() != rhsBatch.size() || lhsSummed.size() != rhsSummed.size() || !areDimensions(left, rankOf(lhs)) ||
      !areDimensions(right, rankOf(rhs)) || !areNumbers({lhs, rhs, op->getResult(0)}))
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

SmallVector<int64_t> Lowering::numbersOr(std::optional<ArrayRef<int64_t>> numbers, size_t count, int64_t otherwise) {
  return numbers ? SmallVector<int64_t>(*numbers) : SmallVector<int64_t>(count, otherwise);
}

bool Lowering::readPadding(std::optional<DenseIntElementsAttr> padding, size_t count, SmallVectorImpl<int64_t> &low,
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

FailureOr<Values> Lowering::lowerConvolution(ConvolutionOp convolution) {
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
  if (!covers(input,
              all(dims.getInputBatchDimension(), dims.getInputFeatureDimension(), dims.getInputSpatialDimensions())) ||
      !covers(kernel, all(dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension(),
                          dims.getKernelSpatialDimensions())) ||
      !covers(op->getResult(0),
              all(dims.getOutputBatchDimension(), dims.getOutputFeatureDimension(), dims.getOutputSpatialDimensions())))
    return refuse("needs each dimension of input, kernel and result once");
  SmallVector<int64_t> strides = numbersOr(convolution.getWindowStrides(), space, 1);
  SmallVector<int64_t> baseDilation = numbersOr(convolution.getLhsDilation(), space, 1);
  SmallVector<int64_t> dilation = numbersOr(convolution.getRhsDilation(), space, 1), low, high;
  auto groups = static_cast<int64_t>(convolution.getFeatureGroupCount());
  RankedTensorType kernelType = tensorType(kernel);
  if (!kernelType.hasStaticShape() || !resultType().hasStaticShape() || !areNumbers({input, kernel, op->getResult(0)}))
    return refuse("needs numbers, and a kernel and a result of known shapes");
  auto arePositive = [&](Numbers numbers) {
    return numbers.size() == space && llvm::all_of(numbers, [](int64_t number) { return number > 0; });
  };
  if (!readPadding(convolution.getPadding(), space, low, high) || !arePositive(strides) || !arePositive(baseDilation) ||
      !arePositive(dilation))
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

FailureOr<Values> Lowering::starts(ValueRange initial, const Sizes &sizes) {
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

FailureOr<Values> Lowering::reduce(ValueRange inputs, ValueRange extra, ValueRange starts, ArrayRef<AffineMap> maps,
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

bool Lowering::areReduced(ValueRange inputs, ValueRange initial) {
  return !inputs.empty() && initial.size() == inputs.size() && op->getNumResults() == inputs.size();
}

FailureOr<Values> Lowering::lowerReduce(ReduceOp op) {
  if (!areReduced(op.getInputs(), op.getInitValues()))
    return refuse("needs inputs, and an initial value and a result for each");
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

FailureOr<Values> Lowering::lowerReduceWindow(ReduceWindowOp op) {
  if (!areReduced(op.getInputs(), op.getInitValues()))
    return refuse("needs inputs, and an initial value and a result for each");
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

FailureOr<Values> Lowering::lowerSort(SortOp sort) {
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

FailureOr<Values> Lowering::lowerWhile(WhileOp loop) {
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

} // namespace kiln::StableHLO
