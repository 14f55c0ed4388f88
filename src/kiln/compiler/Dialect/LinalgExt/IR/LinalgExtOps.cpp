#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"

#include "kiln/compiler/Dialect/Util/IR/InlineAll.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace kiln::LinalgExt;

//===--- What the verifiers share
//-----------------------------------------------------------------------------------===//

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static LogicalResult verifyResults(Operation *op, ValueRange outputs) {
  if (op->getResultTypes() != outputs.getTypes())
    return op->emitOpError("needs a result of the type of each output");
  return success();
}

static LogicalResult verifyDimension(Operation *op, int64_t dimension, RankedTensorType type) {
  if (dimension < 0 || dimension >= type.getRank())
    return op->emitOpError() << "has no dimension " << dimension << " in " << type;
  return success();
}

// Equal as far as both are known.
static bool agree(int64_t extent, int64_t other) {
  return extent == other || ShapedType::isDynamic(extent) || ShapedType::isDynamic(other);
}

static LogicalResult verifyShape(Operation *op, RankedTensorType type, ArrayRef<int64_t> shape, StringRef what) {
  bool fits = type.getRank() == static_cast<int64_t>(shape.size()) &&
              llvm::all_of(llvm::zip(type.getShape(), shape), [](auto pair) { return std::apply(agree, pair); });
  if (fits)
    return success();
  std::string extents =
      llvm::join(llvm::map_range(shape,
                                 [](int64_t extent) {
                                   return ShapedType::isDynamic(extent) ? std::string("?") : std::to_string(extent);
                                 }),
                 "x");
  return op->emitOpError() << "needs " << what << " of " << (extents.empty() ? "rank 0" : "shape " + extents)
                           << ", and has " << type;
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t dimension) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + dimension);
  return rest;
}

static LogicalResult verifyBody(Operation *op, ArrayRef<Type> arguments, ArrayRef<Type> yields) {
  Block &body = op->getRegion(0).front();
  if (!llvm::equal(body.getArgumentTypes(), arguments))
    return op->emitOpError() << "needs a body with arguments of " << llvm::interleaved_array(arguments);
  if (!llvm::equal(body.getTerminator()->getOperandTypes(), yields))
    return op->emitOpError() << "needs a body that yields " << llvm::interleaved_array(yields);
  return success();
}

static Type truth(Operation *op) {
  return IntegerType::get(op->getContext(), 1);
}

// Dimensions that indices are of: each once.
static LogicalResult verifyDimensionMap(Operation *op, ArrayRef<int64_t> dimensions, int64_t rank) {
  llvm::SmallBitVector seen(rank);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank || seen.test(dimension))
      return op->emitOpError() << "has a dimension_map that is not of different dimensions of a tensor of rank "
                               << rank;
    seen.set(dimension);
  }
  if (dimensions.empty())
    return op->emitOpError("needs a dimension in its dimension_map");
  return success();
}

// Slices, their indices and the mask: `slices` has the batch, and then what the indices leave of `whole`.
static LogicalResult verifyIndexed(Operation *op, ArrayRef<int64_t> dimensions, RankedTensorType whole,
                                   RankedTensorType slices, ValueRange indicesAndMask) {
  int64_t depth = dimensions.size();
  if (failed(verifyDimensionMap(op, dimensions, whole.getRank())))
    return failure();
  int64_t batchRank = slices.getRank() - (whole.getRank() - depth);
  if (batchRank < 0)
    return op->emitOpError() << "has slices of " << slices << ", which are of less dimensions than those of " << whole;
  SmallVector<int64_t> batch(slices.getShape().take_front(batchRank));
  RankedTensorType indices = tensorType(indicesAndMask[0]);
  if (!indices.getElementType().isIntOrIndex())
    return op->emitOpError("needs integers as indices");
  SmallVector<int64_t> shape(batch);
  if (indices.getRank() > batchRank || depth > 1)
    shape.push_back(depth);
  if (failed(verifyShape(op, indices, shape, "indices")))
    return failure();
  if (indicesAndMask.size() == 1)
    return success();
  if (tensorType(indicesAndMask[1]).getElementType() != truth(op))
    return op->emitOpError("needs a mask of i1");
  return verifyShape(op, tensorType(indicesAndMask[1]), batch, "a mask");
}

//===--- Operations
//-------------------------------------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  RankedTensorType input = tensorType(getInput()), accumulator = tensorType(getAccumulator());
  Type element = input.getElementType();
  if (failed(verifyDimension(*this, getDimension(), input)) ||
      failed(verifyResults(*this, ValueRange{getOutput(), getAccumulator()})) ||
      failed(verifyShape(*this, tensorType(getOutput()), input.getShape(), "an output")) ||
      failed(verifyShape(*this, accumulator, without(input.getShape(), getDimension()), "an accumulator")))
    return failure();
  if (tensorType(getOutput()).getElementType() != element || accumulator.getElementType() != element)
    return emitOpError("needs input, output and accumulator of one element type");
  return verifyBody(*this, {element, element}, {element});
}

LogicalResult SortOp::verify() {
  if (getOutputs().empty())
    return emitOpError("needs a tensor");
  RankedTensorType first = tensorType(getOutputs()[0]);
  SmallVector<Type> pairs;
  for (Value output : getOutputs()) {
    if (failed(verifyShape(*this, tensorType(output), first.getShape(), "tensors")))
      return failure();
    pairs.append(2, tensorType(output).getElementType());
  }
  if (failed(verifyDimension(*this, getDimension(), first)) || failed(verifyResults(*this, getOutputs())))
    return failure();
  return verifyBody(*this, pairs, {truth(*this)});
}

static LogicalResult verifyTopk(Operation *op, int64_t dimension, OperandRange inputs, OperandRange outputs,
                                bool mayLeaveOutIndices) {
  if (inputs.empty() || inputs.size() > 2 || outputs.empty() || outputs.size() > 2 ||
      (outputs.size() == 1 && (!mayLeaveOutIndices || inputs.size() == 2)))
    return op->emitOpError("needs values and perhaps indices as inputs, and values and indices as outputs");
  RankedTensorType values = tensorType(inputs[0]), best = tensorType(outputs[0]);
  if (failed(verifyDimension(op, dimension, values)) || failed(verifyResults(op, outputs)))
    return failure();
  SmallVector<int64_t> shape(values.getShape());
  if (best.getRank() == values.getRank())
    shape[dimension] = best.getDimSize(dimension);
  if (failed(verifyShape(op, best, shape, "an output")) ||
      (inputs.size() == 2 && failed(verifyShape(op, tensorType(inputs[1]), values.getShape(), "indices"))) ||
      (outputs.size() == 2 && failed(verifyShape(op, tensorType(outputs[1]), best.getShape(), "indices"))))
    return failure();
  Type element = values.getElementType();
  if (best.getElementType() != element)
    return op->emitOpError("needs values of one element type");
  if (outputs.size() == 2 &&
      (!tensorType(outputs[1]).getElementType().isIntOrIndex() ||
       (inputs.size() == 2 && tensorType(inputs[1]).getElementType() != tensorType(outputs[1]).getElementType())))
    return op->emitOpError("needs indices of one integer type");
  return verifyBody(op, {element, element}, {truth(op)});
}

LogicalResult TopkOp::verify() {
  return verifyTopk(*this, getDimension(), getInputs(), getOutputs(), /*mayLeaveOutIndices=*/false);
}

LogicalResult TopkV2Op::verify() {
  return verifyTopk(*this, getDimension(), getInputs(), getOutputs(), /*mayLeaveOutIndices=*/true);
}

LogicalResult ArgCompareOp::verify() {
  if (getInputs().empty() || getInputs().size() > 2 || getOutputs().size() != 2)
    return emitOpError("needs values and perhaps indices as inputs, and a value and an index as outputs");
  RankedTensorType values = tensorType(getInputs()[0]);
  RankedTensorType best = tensorType(getOutputs()[0]), place = tensorType(getOutputs()[1]);
  if (failed(verifyDimension(*this, getDimension(), values)) || failed(verifyResults(*this, getOutputs())))
    return failure();
  SmallVector<int64_t> rest = without(values.getShape(), getDimension());
  if (failed(verifyShape(*this, best, rest, "an output")) || failed(verifyShape(*this, place, rest, "an output")) ||
      (getInputs().size() == 2 && failed(verifyShape(*this, tensorType(getInputs()[1]), values.getShape(), "indices"))))
    return failure();
  Type element = values.getElementType();
  if (best.getElementType() != element)
    return emitOpError("needs values of one element type");
  if (!place.getElementType().isIntOrIndex() ||
      (getInputs().size() == 2 && tensorType(getInputs()[1]).getElementType() != place.getElementType()))
    return emitOpError("needs indices of one integer type");
  if (getInputs().size() == 2 && getIndexBase())
    return emitOpError("has both indices and what they count from");
  return verifyBody(*this, {element, element}, {truth(*this)});
}

LogicalResult ScatterOp::verify() {
  if (getInputs().size() < 2 || getInputs().size() > 3)
    return emitOpError("needs slices, indices and perhaps a mask as inputs");
  if (failed(verifyResults(*this, getOriginal())) ||
      failed(verifyIndexed(*this, getDimensionMap(), tensorType(getOriginal()), tensorType(getInputs()[0]),
                           getInputs().drop_front())))
    return failure();
  Type element = tensorType(getOriginal()).getElementType();
  return verifyBody(*this, {tensorType(getInputs()[0]).getElementType(), element}, {element});
}

LogicalResult GatherOp::verify() {
  if (getInputs().size() < 2 || getInputs().size() > 3)
    return emitOpError("needs a tensor, indices and perhaps a mask as inputs");
  if (tensorType(getInputs()[0]).getElementType() != tensorType(getOutput()).getElementType())
    return emitOpError("needs tensors of one element type");
  if (failed(verifyResults(*this, getOutput())))
    return failure();
  return verifyIndexed(*this, getDimensionMap(), tensorType(getInputs()[0]), tensorType(getOutput()),
                       getInputs().drop_front());
}

// A body that is given indices of `from` and yields those of `to` and a value of `last`.
static LogicalResult verifyMapping(Operation *op, RankedTensorType from, RankedTensorType to, Value output, Type last) {
  if (from.getElementType() != to.getElementType())
    return op->emitOpError("needs tensors of one element type");
  Type index = IndexType::get(op->getContext());
  SmallVector<Type> arguments(from.getRank(), index), yields(to.getRank(), index);
  yields.push_back(last);
  return failed(verifyResults(op, output)) ? failure() : verifyBody(op, arguments, yields);
}

LogicalResult MapLoadOp::verify() {
  RankedTensorType source = tensorType(getSource());
  return verifyMapping(*this, tensorType(getOutput()), source, getOutput(), source.getElementType());
}

LogicalResult MapStoreOp::verify() {
  return verifyMapping(*this, tensorType(getSource()), tensorType(getOutput()), getOutput(), truth(*this));
}

// The operands that have an indexing map, and the forms that all attentions share.
static LogicalResult verifyAttention(Operation *op, ArrayAttr maps, OperandRange inputs, OperandRange outputs,
                                     size_t outputCount) {
  if (inputs.size() < 4 || inputs.size() > 5 || outputs.size() != outputCount)
    return op->emitOpError() << "needs query, key, value, a scale and perhaps a mask as inputs, and " << outputCount
                             << (outputCount == 1 ? " output" : " outputs");
  if (failed(verifyResults(op, outputs)))
    return failure();
  if (maps.size() != inputs.size() + outputs.size())
    return op->emitOpError("needs an indexing map for each input and output");
  int64_t loops = cast<AffineMapAttr>(maps[0]).getValue().getNumDims();
  SmallVector<int64_t> extents(loops, ShapedType::kDynamic);
  for (auto [attribute, operand] : llvm::zip(maps.getAsValueRange<AffineMapAttr>(), op->getOperands())) {
    AffineMap map = attribute;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (map.getNumDims() != loops || map.getNumSymbols() != 0 || !map.isProjectedPermutation() ||
        map.getNumResults() != (type ? type.getRank() : 0))
      return op->emitOpError() << "has an indexing map that does not choose a loop for each dimension of "
                               << operand.getType();
    for (auto [result, extent] : llvm::zip(map.getResults(), type ? type.getShape() : ArrayRef<int64_t>())) {
      int64_t &known = extents[cast<AffineDimExpr>(result).getPosition()];
      if (!agree(known, extent))
        return op->emitOpError() << "has loops of " << known << " and of " << extent
                                 << " elements that are the same loop";
      known = ShapedType::isDynamic(known) ? extent : known;
    }
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    Type element = tensor ? tensor.getElementType() : operand.getType();
    if ((!tensor && i != 3) || !(isa<FloatType>(element) || (i == 4 && inputs.size() == 5 && element == truth(op))))
      return op->emitOpError() << "cannot have " << operand.getType() << " as operand " << i;
  }
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 1 || !isa<FloatType>(body.getArgument(0).getType()))
    return op->emitOpError("needs a body with one argument, a float");
  Type score = body.getArgument(0).getType();
  return verifyBody(op, {score}, {score});
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(*this, getIndexingMaps(), getInputs(), getOutputs(), 1);
}

LogicalResult OnlineAttentionOp::verify() {
  return verifyAttention(*this, getIndexingMaps(), getInputs(), getOutputs(), 3);
}

template <typename Op> static LogicalResult verifyWinograd(Op op, Value images, Value tiles, bool isOutput) {
  if (op.getOutputTileSize() != 6 || op.getKernelSize() != 3)
    return op.emitOpError("is supported for output_tile_size(6) and kernel_size(3)");
  ArrayRef<int64_t> dimensions = op.getImageDimensions();
  if (dimensions != ArrayRef<int64_t>{1, 2} && dimensions != ArrayRef<int64_t>{2, 3})
    return op.emitOpError("needs image_dimensions([1, 2]) or image_dimensions([2, 3])");
  RankedTensorType image = tensorType(images), tile = tensorType(tiles);
  if (image.getRank() != 4 || tile.getRank() != 6 || image.getElementType() != tile.getElementType() ||
      !isa<FloatType>(image.getElementType()))
    return op.emitOpError("needs images of rank 4 and tiles of rank 6, of one type of floats");
  SmallVector<int64_t> shape{8, 8, image.getDimSize(0), tile.getDimSize(3), tile.getDimSize(4)};
  for (int64_t i : {0, 1}) {
    int64_t extent = image.getDimSize(dimensions[i]), count = tile.getDimSize(3 + i);
    if (isOutput && !ShapedType::isDynamic(extent) && !ShapedType::isDynamic(count) && count * 6 < extent)
      return op.emitOpError() << "needs tiles of 6 for each of " << extent << " elements, and has " << count;
  }
  shape.push_back(image.getDimSize(dimensions[0] == 1 ? 3 : 1));
  return failed(verifyResults(op, op.getOutput())) ? failure() : verifyShape(op, tile, shape, "tiles");
}

LogicalResult WinogradInputTransformOp::verify() {
  return verifyWinograd(*this, getInput(), getOutput(), /*isOutput=*/false);
}

LogicalResult WinogradOutputTransformOp::verify() {
  return verifyWinograd(*this, getOutput(), getInput(), /*isOutput=*/true);
}

#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtDialect.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.cpp.inc"

void LinalgExtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.cpp.inc"
      >();
  addInterface<kiln::Util::InlineAll>();
}
