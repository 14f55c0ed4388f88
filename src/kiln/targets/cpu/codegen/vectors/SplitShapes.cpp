// Rules for operations that compute element by element, and for those that only move elements.
#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

//===--- Element by element ---------------------------------------------------------------------------------------===//

static LogicalResult splitConstant(VectorSplitter &splitter, Operation *op, VectorType type) {
  PieceLayout layout = splitter.layout(type);
  SmallVector<Value> pieces;
  if (isa<ub::PoisonOp>(op)) {
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      pieces.push_back(ub::PoisonOp::create(splitter.builder(), op->getLoc(), layout.pieceType(i)));
    splitter.define(op->getResult(0), std::move(pieces));
    return success();
  }
  auto value = dyn_cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  if (!value)
    return op->emitOpError("is a vector constant of a kind that code generation does not read");
  SmallVector<Attribute> elements;
  if (!value.isSplat())
    llvm::append_range(elements, value.getValues<Attribute>());
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    DenseElementsAttr part =
        value.isSplat() ? value.resizeSplat(layout.pieceType(i))
                        : DenseElementsAttr::get(layout.pieceType(i),
                                                 ArrayRef(elements).slice(layout.pieceStart(i), layout.pieceLength(i)));
    pieces.push_back(splitter.constant(part));
  }
  splitter.define(op->getResult(0), std::move(pieces));
  return success();
}

LogicalResult splitElementwise(VectorSplitter &splitter, Operation *op, bool &handled) {
  if (op->getNumResults() == 0)
    return success();
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type)
    return success();
  PieceLayout layout = splitter.layout(type);
  bool native = layout.isNative();
  if (isa<ub::PoisonOp, arith::ConstantOp>(op)) {
    handled = !native;
    return native ? success() : splitConstant(splitter, op, type);
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
    return success();
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (auto other = dyn_cast<VectorType>(value.getType()); other && other.getShape() != type.getShape())
      return success();
  handled = true;

  OpBuilder &b = splitter.builder();
  SmallVector<SmallVector<Value>> results(op->getNumResults());
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<VectorType>(operand.getType()) ? splitter.piece(operand, i) : operand);
    SmallVector<Type> types;
    for (Type resultType : op->getResultTypes())
      types.push_back(splitter.layout(cast<VectorType>(resultType)).pieceType(i));
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
    Operation *part = b.create(state);
    for (auto [parts, value] : llvm::zip(results, part->getResults()))
      parts.push_back(value);
  }
  for (auto [result, parts] : llvm::zip(op->getResults(), results))
    splitter.define(result, std::move(parts));
  return success();
}

//===--- Moving elements ------------------------------------------------------------------------------------------===//

// Defines a vector by the lane that each of its elements is.
static void defineByLanes(VectorSplitter &splitter, Value result,
                          llvm::function_ref<VectorSplitter::Lane(int64_t element)> laneOf) {
  PieceLayout layout = splitter.layout(result);
  Type elementType = cast<VectorType>(result.getType()).getElementType();
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    SmallVector<VectorSplitter::Lane> lanes;
    for (int64_t e = layout.pieceStart(i), end = e + layout.pieceLength(i); e < end; ++e)
      lanes.push_back(laneOf(e));
    pieces.push_back(splitter.assemble(result.getLoc(), elementType, lanes));
  }
  splitter.define(result, std::move(pieces));
}

static void splitBroadcast(VectorSplitter &splitter, vector::BroadcastOp op) {
  Value result = op.getResult(), source = op.getSource();
  PieceLayout layout = splitter.layout(result);
  auto sourceType = dyn_cast<VectorType>(source.getType());
  SmallVector<Value> pieces;
  if (!sourceType || splitter.layout(sourceType).elementCount() == 1) {
    Value scalar = sourceType ? splitter.scalar(source, 0) : source;
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      pieces.push_back(splitter.splat(scalar, layout.pieceLength(i)));
    return splitter.define(result, std::move(pieces));
  }
  ArrayRef<int64_t> shape = op.getResultVectorType().getShape();
  // Element of the source that an element of the result repeats.
  auto sourceElement = [&](int64_t element) {
    SmallVector<int64_t> position = delinearize(element, shape);
    SmallVector<int64_t> at(ArrayRef(position).take_back(sourceType.getRank()));
    for (auto [index, extent] : llvm::zip(at, sourceType.getShape()))
      index = extent == 1 ? 0 : index;
    return linearize(at, sourceType.getShape());
  };
  int64_t last = lastLongDimension(shape) - (static_cast<int64_t>(shape.size()) - sourceType.getRank());
  bool stretchesRows = last < 0 || sourceType.getDimSize(last) == 1;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    int64_t element = sourceElement(layout.pieceStart(i));
    pieces.push_back(stretchesRows ? splitter.splat(splitter.scalar(source, element), layout.pieceLength(i))
                                   : splitter.piece(source, splitter.layout(source).locate(element).first));
  }
  splitter.define(result, std::move(pieces));
}

static void splitTranspose(VectorSplitter &splitter, vector::TransposeOp op) {
  Value source = op.getVector(), result = op.getResult();
  ArrayRef<int64_t> permutation = op.getPermutation();
  ArrayRef<int64_t> sourceShape = op.getSourceVectorType().getShape(), shape = op.getResultVectorType().getShape();
  PieceLayout from = splitter.layout(source), to = splitter.layout(result);
  SmallVector<Value> pieces(to.pieceCount());
  auto sourceElement = [&](ArrayRef<int64_t> position) {
    SmallVector<int64_t> at(position.size());
    for (auto [d, p] : llvm::enumerate(permutation))
      at[p] = position[d];
    return linearize(at, sourceShape);
  };
  int64_t last = lastLongDimension(shape), sourceLast = lastLongDimension(sourceShape);
  if (last < 0 || permutation[last] == sourceLast) {
    for (int64_t i = 0; i < to.pieceCount(); ++i)
      pieces[i] = splitter.piece(source, from.locate(sourceElement(delinearize(to.pieceStart(i), shape))).first);
    return splitter.define(result, std::move(pieces));
  }
  // Rows of the source become columns of the result, block by block: each result piece is a column of the block of
  // source rows that its elements come from.
  int64_t turned = llvm::find(permutation, sourceLast) - permutation.begin(); // the source's rows run along it
  for (int64_t i = 0; i < to.pieceCount(); ++i) {
    SmallVector<int64_t> position = delinearize(to.pieceStart(i), shape);
    if (position[turned] % splitter.limits().lanes != 0)
      continue; // made together with the first of the block
    SmallVector<Value> rows;
    for (int64_t r = 0; r < to.pieceLength(i); ++r) {
      SmallVector<int64_t> at = position;
      at[last] += r;
      rows.push_back(splitter.piece(source, from.locate(sourceElement(at)).first));
    }
    int64_t columns = cast<VectorType>(rows[0].getType()).getDimSize(0);
    SmallVector<Value> block = splitter.transpose(op.getLoc(), rows, columns);
    for (int64_t c = 0; c < columns; ++c) {
      SmallVector<int64_t> at = position;
      at[turned] += c;
      pieces[to.locate(linearize(at, shape)).first] = block[c];
    }
  }
  splitter.define(result, std::move(pieces));
}

// Position of an element of a slice in the vector that it is a slice of; missing leading offsets and sizes count as
// whole.
static int64_t sliceElement(int64_t element, ArrayRef<int64_t> sliceShape, ArrayRef<int64_t> offsets,
                            ArrayRef<int64_t> wholeShape) {
  SmallVector<int64_t> position = delinearize(element, sliceShape);
  SmallVector<int64_t> at(wholeShape.size(), 0);
  size_t missing = wholeShape.size() - sliceShape.size();
  for (size_t d = 0; d < position.size(); ++d)
    at[missing + d] = position[d];
  for (size_t d = 0; d < offsets.size(); ++d)
    at[d] += offsets[d];
  return linearize(at, wholeShape);
}

static void splitInsertion(VectorSplitter &splitter, Value result, Value destination, Value inserted,
                           ArrayRef<int64_t> offsets) {
  auto type = cast<VectorType>(result.getType());
  auto insertedType = dyn_cast<VectorType>(inserted.getType());
  PieceLayout layout = splitter.layout(type);
  // Which element of the inserted one each element of the result is; -1 where it stays.
  SmallVector<int64_t> origin(layout.elementCount(), -1);
  int64_t count = insertedType ? splitter.layout(insertedType).elementCount() : 1;
  for (int64_t e = 0; e < count; ++e)
    origin[sliceElement(e, insertedType ? insertedType.getShape() : ArrayRef<int64_t>(), offsets, type.getShape())] = e;
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    auto part = ArrayRef(origin).slice(layout.pieceStart(i), layout.pieceLength(i));
    if (llvm::all_of(part, [](int64_t e) { return e < 0; })) {
      pieces.push_back(splitter.piece(destination, i));
      continue;
    }
    if (!insertedType) {
      int64_t position = llvm::find_if(part, [](int64_t e) { return e >= 0; }) - part.begin();
      pieces.push_back(vector::InsertOp::create(splitter.builder(), result.getLoc(), inserted,
                                                splitter.piece(destination, i), ArrayRef<int64_t>{position}));
      continue;
    }
    SmallVector<VectorSplitter::Lane> lanes;
    for (auto [offset, element] : llvm::enumerate(part))
      lanes.push_back(element >= 0
                          ? splitter.lane(inserted, element)
                          : VectorSplitter::Lane{splitter.piece(destination, i), static_cast<int64_t>(offset)});
    pieces.push_back(splitter.assemble(result.getLoc(), type.getElementType(), lanes));
  }
  splitter.define(result, std::move(pieces));
}

static bool splitBitCast(VectorSplitter &splitter, vector::BitCastOp op) {
  VectorType from = op.getSourceVectorType(), to = op.getResultVectorType();
  int64_t fromWidth = from.getElementTypeBitWidth(), toWidth = to.getElementTypeBitWidth();
  PieceLayout layout = splitter.layout(to);
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    int64_t firstBit = layout.pieceStart(i) * toWidth, bits = layout.pieceLength(i) * toWidth;
    if (firstBit % fromWidth != 0 || bits % fromWidth != 0)
      return false;
    SmallVector<VectorSplitter::Lane> lanes;
    for (int64_t e = firstBit / fromWidth, end = e + bits / fromWidth; e < end; ++e)
      lanes.push_back(splitter.lane(op.getSource(), e));
    Value part = splitter.assemble(op.getLoc(), from.getElementType(), lanes);
    pieces.push_back(vector::BitCastOp::create(splitter.builder(), op.getLoc(), layout.pieceType(i), part));
  }
  splitter.define(op.getResult(), std::move(pieces));
  return true;
}

static void splitFromElements(VectorSplitter &splitter, vector::FromElementsOp op) {
  PieceLayout layout = splitter.layout(op.getResult());
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i)
    pieces.push_back(
        vector::FromElementsOp::create(splitter.builder(), op.getLoc(), layout.pieceType(i),
                                       op.getElements().slice(layout.pieceStart(i), layout.pieceLength(i))));
  splitter.define(op.getResult(), std::move(pieces));
}

static void splitToElements(VectorSplitter &splitter, vector::ToElementsOp op) {
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(splitter.scalar(op.getSource(), i));
}

static void splitStep(VectorSplitter &splitter, vector::StepOp op) {
  PieceLayout layout = splitter.layout(op.getResult());
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    SmallVector<APInt> values;
    for (int64_t e = 0; e < layout.pieceLength(i); ++e)
      values.push_back(APInt(64, layout.pieceStart(i) + e));
    pieces.push_back(splitter.constant(DenseElementsAttr::get(layout.pieceType(i), values)));
  }
  splitter.define(op.getResult(), std::move(pieces));
}

static void splitShapeCast(VectorSplitter &splitter, vector::ShapeCastOp op) {
  defineByLanes(splitter, op.getResult(), [&](int64_t element) { return splitter.lane(op.getSource(), element); });
}

static bool splitExtract(VectorSplitter &splitter, vector::ExtractOp op) {
  if (op.hasDynamicPosition())
    return false;
  ArrayRef<int64_t> shape = op.getSourceVectorType().getShape();
  SmallVector<int64_t> start(shape.size(), 0);
  llvm::copy(op.getStaticPosition(), start.begin());
  // Poison positions may yield anything.
  for (int64_t &index : start)
    index = std::max<int64_t>(index, 0);
  int64_t first = linearize(start, shape);
  if (isa<VectorType>(op.getType()))
    defineByLanes(splitter, op.getResult(),
                  [&](int64_t element) { return splitter.lane(op.getSource(), first + element); });
  else
    op.getResult().replaceAllUsesWith(splitter.scalar(op.getSource(), first));
  return true;
}

static void splitExtractStridedSlice(VectorSplitter &splitter, vector::ExtractStridedSliceOp op) {
  SmallVector<int64_t> offsets;
  op.getOffsets(offsets);
  defineByLanes(splitter, op.getResult(), [&](int64_t element) {
    return splitter.lane(op.getSource(),
                         sliceElement(element, op.getType().getShape(), offsets, op.getSourceVectorType().getShape()));
  });
}

static bool splitInsert(VectorSplitter &splitter, vector::InsertOp op) {
  if (op.hasDynamicPosition())
    return false;
  splitInsertion(splitter, op.getResult(), op.getDest(), op.getValueToStore(), op.getStaticPosition());
  return true;
}

static void splitInsertStridedSlice(VectorSplitter &splitter, vector::InsertStridedSliceOp op) {
  SmallVector<int64_t> offsets;
  for (Attribute offset : op.getOffsets())
    offsets.push_back(cast<IntegerAttr>(offset).getInt());
  splitInsertion(splitter, op.getResult(), op.getDest(), op.getValueToStore(), offsets);
}

static void splitShuffle(VectorSplitter &splitter, vector::ShuffleOp op) {
  int64_t rowSize = 1;
  for (int64_t extent : op.getResultVectorType().getShape().drop_front())
    rowSize *= extent;
  int64_t firstRows = op.getV1VectorType().getRank() == 0 ? 1 : op.getV1VectorType().getDimSize(0);
  ArrayRef<int64_t> mask = op.getMask();
  defineByLanes(splitter, op.getResult(), [&](int64_t element) -> VectorSplitter::Lane {
    int64_t row = mask[element / rowSize], rest = element % rowSize;
    if (row < 0)
      return {};
    return row < firstRows ? splitter.lane(op.getV1(), row * rowSize + rest)
                           : splitter.lane(op.getV2(), (row - firstRows) * rowSize + rest);
  });
}

static void splitInterleave(VectorSplitter &splitter, vector::InterleaveOp op) {
  defineByLanes(splitter, op.getResult(), [&](int64_t element) {
    return splitter.lane(element % 2 == 0 ? op.getLhs() : op.getRhs(), element / 2);
  });
}

static void splitDeinterleave(VectorSplitter &splitter, vector::DeinterleaveOp op) {
  for (int64_t parity = 0; parity < 2; ++parity)
    defineByLanes(splitter, op->getResult(parity),
                  [&](int64_t element) { return splitter.lane(op.getSource(), element * 2 + parity); });
}

LogicalResult splitShapeOp(VectorSplitter &splitter, Operation *op, bool &handled) {
  handled = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](vector::BroadcastOp op) { splitBroadcast(splitter, op); })
      .Case([&](vector::TransposeOp op) { splitTranspose(splitter, op); })
      .Case([&](vector::ShapeCastOp op) { splitShapeCast(splitter, op); })
      .Case([&](vector::BitCastOp op) { handled = splitBitCast(splitter, op); })
      .Case([&](vector::FromElementsOp op) { splitFromElements(splitter, op); })
      .Case([&](vector::ToElementsOp op) { splitToElements(splitter, op); })
      .Case([&](vector::StepOp op) { splitStep(splitter, op); })
      .Case([&](vector::ExtractOp op) { handled = splitExtract(splitter, op); })
      .Case([&](vector::ExtractStridedSliceOp op) { splitExtractStridedSlice(splitter, op); })
      .Case([&](vector::InsertOp op) { handled = splitInsert(splitter, op); })
      .Case([&](vector::InsertStridedSliceOp op) { splitInsertStridedSlice(splitter, op); })
      .Case([&](vector::ShuffleOp op) { splitShuffle(splitter, op); })
      .Case([&](vector::InterleaveOp op) { splitInterleave(splitter, op); })
      .Case([&](vector::DeinterleaveOp op) { splitDeinterleave(splitter, op); })
      .Default([&](Operation *) { handled = false; });
  return success();
}

} // namespace kiln
