// Rules for what reads and writes memory, and for masks.
#include "kiln/targets/cpu/codegen/vectors/VectorAccess.h"
#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

// The order in which a transfer's vector dimensions walk increasing dimensions of the memref, where they do not yet.
// Dimensions that walk none come first.
static std::optional<SmallVector<int64_t>> sortedDimensions(AffineMap map) {
  auto walks = [&](int64_t d) -> int64_t {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    return dim ? static_cast<int64_t>(dim.getPosition()) : -1;
  };
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, map.getNumResults()));
  int64_t previous = -1;
  bool sorted = true;
  for (int64_t d : order) {
    if (walks(d) < 0)
      continue;
    sorted &= walks(d) > previous;
    previous = walks(d);
  }
  if (sorted)
    return std::nullopt;
  llvm::sort(order, [&](int64_t a, int64_t b) { return std::pair(walks(a), a) < std::pair(walks(b), b); });
  return order;
}

static ArrayAttr permuteInBounds(Builder &b, ArrayAttr inBounds, ArrayRef<int64_t> order) {
  SmallVector<Attribute> result;
  for (int64_t d : order)
    result.push_back(inBounds[d]);
  return b.getArrayAttr(result);
}

static AffineMap permuteResults(AffineMap map, ArrayRef<int64_t> order) {
  SmallVector<AffineExpr> results;
  for (int64_t d : order)
    results.push_back(map.getResult(d));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

// The read in the order of memory, and a transpose of it.
static LogicalResult splitPermutedRead(VectorSplitter &splitter, vector::TransferReadOp op, ArrayRef<int64_t> order) {
  OpBuilder &b = splitter.builder();
  auto type =
      VectorType::get(applyPermutation(op.getVectorType().getShape(), order), op.getVectorType().getElementType());
  auto read =
      vector::TransferReadOp::create(b, op.getLoc(), type, op.getBase(), op.getIndices(),
                                     AffineMapAttr::get(permuteResults(op.getPermutationMap(), order)), op.getPadding(),
                                     op.getMask(), permuteInBounds(b, op.getInBounds(), order));
  auto transpose = vector::TransposeOp::create(b, op.getLoc(), read, invertPermutationVector(order));
  if (failed(splitter.process(read)) || failed(splitter.process(transpose)))
    return failure();
  splitter.alias(op.getResult(), transpose.getResult());
  return success();
}

static LogicalResult splitPermutedWrite(VectorSplitter &splitter, vector::TransferWriteOp op, ArrayRef<int64_t> order) {
  OpBuilder &b = splitter.builder();
  auto transpose = vector::TransposeOp::create(b, op.getLoc(), op.getVector(), order);
  auto write =
      vector::TransferWriteOp::create(b, op.getLoc(), /*result=*/Type(), transpose, op.getBase(), op.getIndices(),
                                      AffineMapAttr::get(permuteResults(op.getPermutationMap(), order)), op.getMask(),
                                      permuteInBounds(b, op.getInBounds(), order));
  return success(succeeded(splitter.process(transpose)) && succeeded(splitter.process(write)));
}

static void splitWrite(VectorSplitter &splitter, Operation *op, Value vector) {
  VectorAccess access(op);
  PieceLayout layout = splitter.layout(vector);
  // All of it is read before any of it is written, in case it comes from the same memory.
  SmallVector<Value> pieces = splitter.pieces(vector);
  for (auto [i, piece] : llvm::enumerate(pieces))
    access.storePiece(splitter, access.positionOf(splitter.builder(), layout.pieceStart(i)), piece);
}

LogicalResult splitMemoryOp(VectorSplitter &splitter, Operation *op, bool &handled) {
  OpBuilder &b = splitter.builder();
  handled = true;
  if (auto xfer = dyn_cast<VectorTransferOpInterface>(op)) {
    auto type = dyn_cast<MemRefType>(xfer.getShapedType());
    if (!type)
      return op->emitOpError("works on a tensor; it must have been bufferized before");
    if (!type.getElementType().isIntOrIndexOrFloat()) {
      handled = false;
      return success();
    }
    if (std::optional<SmallVector<int64_t>> order = sortedDimensions(xfer.getPermutationMap())) {
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        return splitPermutedRead(splitter, read, *order);
      return splitPermutedWrite(splitter, cast<vector::TransferWriteOp>(op), *order);
    }
    if (isa<vector::TransferReadOp>(op))
      splitter.defineRead(op->getResult(0), std::make_unique<VectorAccess>(op));
    else
      splitWrite(splitter, op, xfer.getVector());
    return success();
  }
  if (isa<vector::LoadOp, vector::MaskedLoadOp>(op)) {
    handled = cast<MemRefType>(op->getOperand(0).getType()).getElementType().isIntOrIndexOrFloat();
    if (handled)
      splitter.defineRead(op->getResult(0), std::make_unique<VectorAccess>(op));
  } else if (isa<vector::StoreOp, vector::MaskedStoreOp>(op)) {
    Value base = isa<vector::StoreOp>(op) ? op->getOperand(1) : op->getOperand(0);
    handled = cast<MemRefType>(base.getType()).getElementType().isIntOrIndexOrFloat();
    auto store = dyn_cast<vector::StoreOp>(op);
    if (handled)
      splitWrite(splitter, op, store ? store.getValueToStore() : cast<vector::MaskedStoreOp>(op).getValueToStore());
  } else if (auto gather = dyn_cast<vector::GatherOp>(op)) {
    PieceLayout layout = splitter.layout(gather.getResult());
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      pieces.push_back(vector::GatherOp::create(b, op->getLoc(), layout.pieceType(i), gather.getBase(),
                                                gather.getOffsets(), splitter.piece(gather.getIndices(), i),
                                                splitter.piece(gather.getMask(), i),
                                                splitter.piece(gather.getPassThru(), i)));
    splitter.define(gather.getResult(), std::move(pieces));
  } else if (auto scatter = dyn_cast<vector::ScatterOp>(op)) {
    if (scatter.getNumOperands() == 0 || op->getNumResults() != 0)
      return op->emitOpError("works on a tensor; it must have been bufferized before");
    PieceLayout layout = splitter.layout(scatter.getValueToStore());
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      vector::ScatterOp::create(b, op->getLoc(), /*resultType=*/Type(), scatter.getBase(), scatter.getOffsets(),
                                splitter.piece(scatter.getIndices(), i), splitter.piece(scatter.getMask(), i),
                                splitter.piece(scatter.getValueToStore(), i));
  } else {
    handled = false;
  }
  return success();
}

//===--- Masks ----------------------------------------------------------------------------------------------------===//

static void splitCreateMask(VectorSplitter &splitter, Operation *op, ArrayRef<OpFoldResult> bounds) {
  OpBuilder &b = splitter.builder();
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = cast<VectorType>(result.getType()).getShape();
  PieceLayout layout = splitter.layout(result);
  int64_t last = lastLongDimension(shape);
  auto asValue = [&](OpFoldResult bound) -> Value {
    if (std::optional<int64_t> known = getConstantIntValue(bound))
      return splitter.constant(b.getIndexAttr(*known));
    return cast<Value>(bound);
  };
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    SmallVector<int64_t> position = delinearize(layout.pieceStart(i), shape);
    int64_t length = layout.pieceLength(i);
    Value condition;
    bool never = false;
    for (auto [d, bound] : llvm::enumerate(bounds)) {
      if (static_cast<int64_t>(d) == last)
        continue;
      if (std::optional<int64_t> known = getConstantIntValue(bound)) {
        never |= position[d] >= *known;
        continue;
      }
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           splitter.constant(b.getIndexAttr(position[d])), cast<Value>(bound));
      condition = condition ? arith::AndIOp::create(b, loc, condition, inside).getResult() : inside;
    }
    Value zero = splitter.constant(b.getIndexAttr(0));
    if (never) {
      pieces.push_back(splitter.maskOfFirst(loc, zero, length));
      continue;
    }
    Value count = splitter.constant(b.getIndexAttr(length));
    if (last >= 0) {
      count = asValue(bounds[last]);
      if (position[last] != 0)
        count = b.createOrFold<arith::SubIOp>(loc, count, splitter.constant(b.getIndexAttr(position[last])));
    }
    if (condition)
      count = arith::SelectOp::create(b, loc, condition, count, zero);
    pieces.push_back(splitter.maskOfFirst(loc, count, length));
  }
  splitter.define(result, std::move(pieces));
}

static TypedAttr allTrue(Value mask) {
  return DenseElementsAttr::get(cast<VectorType>(mask.getType()), true);
}

LogicalResult splitMasking(VectorSplitter &splitter, Operation *op, bool &handled) {
  handled = true;
  if (auto create = dyn_cast<vector::CreateMaskOp>(op)) {
    splitCreateMask(splitter, op, getAsOpFoldResult(create.getOperands()));
    return success();
  }
  if (auto constant = dyn_cast<vector::ConstantMaskOp>(op)) {
    splitCreateMask(splitter, op, getAsIndexOpFoldResult(op->getContext(), constant.getMaskDimSizes()));
    return success();
  }

  auto masked = cast<vector::MaskOp>(op);
  Operation *inner = masked.getMaskableOp();
  OpBuilder &b = splitter.builder();
  if (!inner) { // It yields values from outside.
    Operation *yield = masked.getMaskBlock()->getTerminator();
    for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands())) {
      if (isa<VectorType>(result.getType()))
        splitter.define(result, splitter.pieces(value));
      else
        result.replaceAllUsesWith(value);
    }
    return success();
  }
  // The operation moves out, and gets the mask as an operand, or is rewritten with it.
  inner->moveBefore(op);
  splitter.replaceBy(op, inner);
  Value mask = masked.getMask();
  if (isa<vector::ContractionOp, vector::OuterProductOp, vector::MultiDimReductionOp, vector::ReductionOp>(inner)) {
    bool isReduction = isa<vector::MultiDimReductionOp, vector::ReductionOp>(inner);
    if (failed(isReduction ? splitReduction(splitter, inner, mask, handled)
                           : splitContraction(splitter, inner, mask, handled)))
      return failure();
    splitter.retire(inner);
  } else {
    OpOperand *own = llvm::TypeSwitch<Operation *, OpOperand *>(inner)
                         .Case<vector::TransferReadOp, vector::TransferWriteOp>([&](auto xfer) {
                           if (!xfer.getMask())
                             xfer.getMaskMutable().assign(splitter.constant(allTrue(mask)));
                           return &*xfer.getMaskMutable().begin();
                         })
                         .Case<vector::GatherOp, vector::ScatterOp>([](auto op) { return &op.getMaskMutable(); })
                         .Default([](Operation *) { return nullptr; });
    if (!own)
      return inner->emitOpError("cannot be masked: code generation has no rule for it");
    if (matchPattern(own->get(), m_One())) {
      own->set(mask);
    } else {
      auto both = arith::AndIOp::create(b, op->getLoc(), own->get(), mask);
      if (failed(splitter.process(both)))
        return failure();
      own->set(both);
    }
    if (failed(splitter.process(inner)))
      return failure();
  }

  for (auto [result, yielded] : llvm::zip(op->getResults(), masked.getMaskBlock()->getTerminator()->getOperands())) {
    if (!isa<VectorType>(result.getType())) {
      result.replaceAllUsesWith(yielded);
    } else if (Value passThrough = masked.getPassthru()) {
      SmallVector<Value> pieces;
      for (auto [i, piece] : llvm::enumerate(splitter.pieces(yielded)))
        pieces.push_back(
            arith::SelectOp::create(b, op->getLoc(), splitter.piece(mask, i), piece, splitter.piece(passThrough, i)));
      splitter.define(result, std::move(pieces));
    } else {
      splitter.alias(result, yielded);
    }
  }
  return success();
}

} // namespace kiln
