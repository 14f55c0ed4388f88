#include "kiln/targets/cpu/codegen/vectors/SplitReductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using vector::CombiningKind;

namespace kiln {

TypedAttr neutralElement(CombiningKind kind, Type elementType) {
  Builder b(elementType.getContext());
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (kind) {
    case CombiningKind::ADD: return b.getFloatAttr(elementType, APFloat::getZero(semantics, /*Negative=*/true));
    case CombiningKind::MUL: return b.getFloatAttr(elementType, APFloat::getOne(semantics));
    case CombiningKind::MINIMUMF: return b.getFloatAttr(elementType, APFloat::getInf(semantics));
    case CombiningKind::MAXIMUMF: return b.getFloatAttr(elementType, APFloat::getInf(semantics, /*Negative=*/true));
    default: return b.getFloatAttr(elementType, APFloat::getNaN(semantics)); // minnumf and maxnumf ignore it
    }
  }
  unsigned width = elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  APInt value(width, 0);
  switch (kind) {
  case CombiningKind::MUL: value = APInt(width, 1); break;
  case CombiningKind::AND:
  case CombiningKind::MINUI: value = APInt::getAllOnes(width); break;
  case CombiningKind::MINSI: value = APInt::getSignedMaxValue(width); break;
  case CombiningKind::MAXSI: value = APInt::getSignedMinValue(width); break;
  default: break; // add, or, xor, maxui
  }
  return b.getIntegerAttr(elementType, value);
}

Value combine(VectorSplitter &splitter, Location loc, CombiningKind kind, Value a, Value b) {
  return vector::makeArithReduction(splitter.builder(), loc, kind, a, b);
}

Value combineAll(VectorSplitter &splitter, Location loc, CombiningKind kind, ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  size_t half = values.size() / 2;
  return combine(splitter, loc, kind, combineAll(splitter, loc, kind, values.take_front(half)),
                 combineAll(splitter, loc, kind, values.drop_front(half)));
}

Value reduceRows(VectorSplitter &splitter, Location loc, CombiningKind kind, ArrayRef<Value> rows, Value accumulator) {
  OpBuilder &b = splitter.builder();
  auto type = cast<VectorType>(accumulator.getType());
  if (rows.size() == 1) {
    Value start = b.createOrFold<vector::ExtractOp>(loc, accumulator, ArrayRef<int64_t>{0});
    Value sum = vector::ReductionOp::create(b, loc, kind, rows.front(), start);
    return vector::BroadcastOp::create(b, loc, type, sum);
  }
  int64_t length = cast<VectorType>(rows.front().getType()).getDimSize(0);
  SmallVector<Value> columns = splitter.transpose(loc, rows, length);
  return combine(splitter, loc, kind, combineAll(splitter, loc, kind, columns), accumulator);
}

// Combines pieces in a few independent chains, so that one does not wait for the other.
namespace {
class Chains {
public:
  Chains(VectorSplitter &splitter, Location loc, CombiningKind kind) : splitter(splitter), loc(loc), kind(kind) {}

  void add(Value value) {
    if (chains.size() < 4) {
      chains.push_back(value);
      return;
    }
    Value &chain = chains[next++ % chains.size()];
    chain = combine(splitter, loc, kind, chain, value);
  }
  Value total() { return combineAll(splitter, loc, kind, chains); }

private:
  VectorSplitter &splitter;
  Location loc;
  CombiningKind kind;
  SmallVector<Value> chains;
  size_t next = 0;
};
} // namespace

// A piece, with the neutral element where the mask says no.
static Value maskedPiece(VectorSplitter &splitter, Value vector, Value mask, int64_t index, CombiningKind kind) {
  Value piece = splitter.piece(vector, index);
  if (!mask)
    return piece;
  auto type = cast<VectorType>(piece.getType());
  Value neutral = splitter.constant(DenseElementsAttr::get(type, neutralElement(kind, type.getElementType())));
  return arith::SelectOp::create(splitter.builder(), vector.getLoc(), splitter.piece(mask, index), piece, neutral);
}

// A shorter piece, filled up to `length` with the neutral element.
static Value widen(VectorSplitter &splitter, Location loc, Value piece, int64_t length, CombiningKind kind) {
  auto type = cast<VectorType>(piece.getType());
  if (type.getDimSize(0) == length)
    return piece;
  auto wide = VectorType::get({length}, type.getElementType());
  Value neutral = splitter.constant(DenseElementsAttr::get(wide, neutralElement(kind, type.getElementType())));
  SmallVector<VectorSplitter::Lane> lanes;
  for (int64_t i = 0; i < length; ++i)
    lanes.push_back(i < type.getDimSize(0) ? VectorSplitter::Lane{piece, i} : VectorSplitter::Lane{neutral, i});
  return splitter.assemble(loc, type.getElementType(), lanes);
}

// All pieces of a row of the source, as one piece.
static Value combineRow(VectorSplitter &splitter, Location loc, Value source, Value mask, int64_t row,
                        CombiningKind kind) {
  PieceLayout layout = splitter.layout(source);
  int64_t length = layout.pieceLength(row * layout.chunkCount());
  Chains chains(splitter, loc, kind);
  for (int64_t c = 0; c < layout.chunkCount(); ++c)
    chains.add(
        widen(splitter, loc, maskedPiece(splitter, source, mask, row * layout.chunkCount() + c, kind), length, kind));
  return chains.total();
}

static void splitMultiReduction(VectorSplitter &splitter, vector::MultiDimReductionOp op, Value mask) {
  OpBuilder &b = splitter.builder();
  Location loc = op.getLoc();
  CombiningKind kind = op.getKind();
  Value source = op.getSource(), accumulator = op.getAcc();
  ArrayRef<int64_t> shape = op.getSourceVectorType().getShape();
  PieceLayout layout = splitter.layout(source);
  auto resultType = dyn_cast<VectorType>(op.getDestType());

  // The element of the result that an element of the source goes into.
  auto target = [&](int64_t element) {
    SmallVector<int64_t> position = delinearize(element, shape), kept, keptShape;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      if (op.isReducedDim(d))
        continue;
      kept.push_back(position[d]);
      keptShape.push_back(extent);
    }
    return linearize(kept, keptShape);
  };
  int64_t last = lastLongDimension(shape);
  int64_t resultCount = resultType ? splitter.layout(resultType).elementCount() : 1;

  if (last >= 0 && !op.isReducedDim(last)) {
    // Pieces go into pieces.
    PieceLayout into = splitter.layout(resultType);
    std::vector<Chains> chains(into.pieceCount(), Chains(splitter, loc, kind));
    for (int64_t i = 0; i < layout.pieceCount(); ++i)
      chains[into.locate(target(layout.pieceStart(i))).first].add(maskedPiece(splitter, source, mask, i, kind));
    SmallVector<Value> pieces;
    for (auto [i, chain] : llvm::enumerate(chains))
      pieces.push_back(combine(splitter, loc, kind, chain.total(), splitter.piece(accumulator, i)));
    return splitter.define(op.getResult(), std::move(pieces));
  }

  // Rows go into elements.
  std::vector<Chains> chains(resultCount, Chains(splitter, loc, kind));
  for (int64_t row = 0; row < layout.rowCount(); ++row)
    chains[target(row * layout.rowLength())].add(combineRow(splitter, loc, source, mask, row, kind));
  if (!resultType) {
    op.getResult().replaceAllUsesWith(vector::ReductionOp::create(b, loc, kind, chains[0].total(), accumulator));
    return;
  }
  PieceLayout into = splitter.layout(resultType);
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < into.pieceCount(); ++i) {
    SmallVector<Value> rows;
    for (int64_t e = into.pieceStart(i), end = e + into.pieceLength(i); e < end; ++e)
      rows.push_back(chains[e].total());
    pieces.push_back(reduceRows(splitter, loc, kind, rows, splitter.piece(accumulator, i)));
  }
  splitter.define(op.getResult(), std::move(pieces));
}

LogicalResult splitReduction(VectorSplitter &splitter, Operation *op, Value mask, bool &handled) {
  handled = true;
  if (auto multi = dyn_cast<vector::MultiDimReductionOp>(op)) {
    splitMultiReduction(splitter, multi, mask);
    return success();
  }
  auto reduction = cast<vector::ReductionOp>(op);
  Value row = combineRow(splitter, op->getLoc(), reduction.getVector(), mask, 0, reduction.getKind());
  OpBuilder &b = splitter.builder();
  Value total = reduction.getAcc()
                    ? vector::ReductionOp::create(b, op->getLoc(), reduction.getKind(), row, reduction.getAcc())
                    : vector::ReductionOp::create(b, op->getLoc(), reduction.getKind(), row);
  reduction.getResult().replaceAllUsesWith(total);
  return success();
}

} // namespace kiln
