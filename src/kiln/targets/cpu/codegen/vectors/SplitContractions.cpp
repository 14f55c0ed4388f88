// The rule for contractions and outer products: a grid of multiply-adds on pieces, unrolled or in loops.
#include "kiln/targets/cpu/codegen/vectors/SplitReductions.h"
#include "kiln/targets/cpu/codegen/vectors/VectorAccess.h"
#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using vector::CombiningKind;

namespace kiln {

namespace {

// A vector or scalar, and the dimension of the iteration space that each of its own stands for.
struct Operand {
  Value value;
  SmallVector<int64_t> dims;

  bool has(int64_t d) const { return llvm::is_contained(dims, d); }
  ArrayRef<int64_t> shape() const {
    auto type = dyn_cast<VectorType>(value.getType());
    return type ? type.getShape() : ArrayRef<int64_t>();
  }
  int64_t lastLong() const {
    int64_t last = lastLongDimension(shape());
    return last < 0 ? -1 : dims[last];
  }
  template <typename T> SmallVector<T> restrict(ArrayRef<T> position) const {
    SmallVector<T> result;
    for (int64_t d : dims)
      result.push_back(position[d]);
    return result;
  }
};

class Contraction {
public:
  Contraction(VectorSplitter &splitter, Operation *op, Value mask)
      : splitter(splitter), b(splitter.builder()), op(op), loc(op->getLoc()), result(op->getResult(0)) {
    if (auto contract = dyn_cast<vector::ContractionOp>(op)) {
      SmallVector<AffineMap> maps = contract.getIndexingMapsArray();
      lhs = {contract.getLhs(), dimsOf(maps[0])};
      rhs = {contract.getRhs(), dimsOf(maps[1])};
      acc = {contract.getAcc(), dimsOf(maps[2])};
      kind = contract.getKind();
      contract.getIterationBounds(sizes);
    } else {
      auto outer = cast<vector::OuterProductOp>(op);
      bool isMatrix = isa<VectorType>(outer.getOperandTypeRHS());
      lhs = {outer.getLhs(), {0}};
      rhs = {outer.getRhs(), isMatrix ? SmallVector<int64_t>{1} : SmallVector<int64_t>{}};
      acc = {outer.getAcc(), isMatrix ? SmallVector<int64_t>{0, 1} : SmallVector<int64_t>{0}};
      kind = outer.getKind();
      sizes = llvm::to_vector(cast<VectorType>(result.getType()).getShape());
    }
    resultType = dyn_cast<VectorType>(result.getType());
    elementType = getElementTypeOrSelf(result.getType());
    if (mask)
      this->mask = {mask, llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()))};
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
      if (!acc.has(d))
        reduced.push_back(d);
  }

  LogicalResult run();

private:
  static SmallVector<int64_t> dimsOf(AffineMap map) {
    SmallVector<int64_t> dims;
    for (AffineExpr result : map.getResults())
      dims.push_back(cast<AffineDimExpr>(result).getPosition());
    return dims;
  }

  int64_t reducedCount() const {
    int64_t count = 1;
    for (int64_t d : reduced)
      count *= sizes[d];
    return count;
  }
  // The last dimension of the result that is longer than 1, or -1.
  int64_t lastOfResult() const {
    int64_t last = resultType ? lastLongDimension(resultType.getShape()) : -1;
    return last < 0 ? -1 : acc.dims[last];
  }
  bool choosesInner() const;
  LogicalResult bringLast(Operand &operand, int64_t d);
  LogicalResult outer(int64_t d);
  LogicalResult inner(int64_t d);
  void outerBlock(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d, bool alone);
  void outerLoop(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d, int64_t loopDim);
  std::optional<int64_t> loopDimension(int64_t d);
  SmallVector<int64_t> positionOfAcc(int64_t piece) const;

  // Operands that are read again for each block of registers, within that block only.
  using Cache = DenseMap<std::pair<Value, Attribute>, Value>;
  Value fetch(const Operand &operand, int64_t d, ArrayRef<OpFoldResult> position, int64_t length, Cache *cache);
  Value promote(Value value);
  Value multiplyAdd(Value a, Value c, Value sum);
  Value multiplyAddMasked(Value a, Value c, Value sum, int64_t d, ArrayRef<OpFoldResult> position);
  void step(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d, ArrayRef<OpFoldResult> reducedPosition,
            Cache *cache);

  VectorSplitter &splitter;
  OpBuilder &b;
  Operation *op;
  Location loc;
  Value result;
  Operand lhs, rhs, acc, mask; // outer products may have no acc, and masks are rare: null then
  CombiningKind kind;
  SmallVector<int64_t> sizes, reduced;
  VectorType resultType; // null for a scalar
  Type elementType;
  DenseMap<Value, Value> promoted;
};

// Along the reduced dimension that both operands have last, with a sum of the lanes at the end; rather than along a
// dimension of the result, for which an operand would have to be transposed.
bool Contraction::choosesInner() const {
  int64_t last = lhs.lastLong();
  if (last < 0 || last != rhs.lastLong() || acc.has(last))
    return false;
  int64_t along = lastOfResult();
  if (along < 0)
    return true;
  int64_t steps = llvm::Log2_64_Ceil(splitter.limits().lanes), transposed = 0;
  for (const Operand *operand : {&lhs, &rhs})
    if (operand->has(along))
      transposed += splitter.layout(operand->value).pieceCount();
  return splitter.layout(resultType).elementCount() * (steps + 1) < transposed * steps;
}

// Makes `d` the last dimension of the operand, if it has it.
LogicalResult Contraction::bringLast(Operand &operand, int64_t d) {
  if (!operand.value || !operand.has(d) || operand.lastLong() == d)
    return success();
  SmallVector<int64_t> permutation, dims;
  for (auto [i, dim] : llvm::enumerate(operand.dims))
    if (dim != d)
      permutation.push_back(i);
  permutation.push_back(llvm::find(operand.dims, d) - operand.dims.begin());
  for (int64_t i : permutation)
    dims.push_back(operand.dims[i]);
  Operation *moved;
  if (auto create = operand.value.getDefiningOp<vector::CreateMaskOp>()) {
    // A mask in another order costs nothing.
    SmallVector<Value> bounds;
    for (int64_t i : permutation)
      bounds.push_back(create.getOperand(i));
    auto type = VectorType::get(applyPermutation(operand.shape(), permutation), b.getI1Type());
    moved = vector::CreateMaskOp::create(b, loc, type, bounds);
  } else {
    moved = vector::TransposeOp::create(b, loc, operand.value, permutation);
  }
  operand = {moved->getResult(0), dims};
  return splitter.process(moved);
}

Value Contraction::promote(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type == elementType)
    return value;
  Value &known = promoted[value];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  auto vectorType = dyn_cast<VectorType>(value.getType());
  Type wide = vectorType ? Type(vectorType.clone(elementType)) : elementType;
  if (isa<FloatType>(elementType))
    known = arith::ExtFOp::create(b, loc, wide, value);
  else
    known = arith::ExtSIOp::create(b, loc, wide, value);
  return known;
}

// The operand at a position of the iteration space: a piece along `d` where it has that dimension, else its element in
// all lanes. With a cache, what is in memory is read here and kept there only; without one, it is read once for all
// uses.
Value Contraction::fetch(const Operand &operand, int64_t d, ArrayRef<OpFoldResult> position, int64_t length,
                         Cache *cache) {
  if (!isa<VectorType>(operand.value.getType()))
    return splitter.splat(promote(operand.value), length);
  SmallVector<OpFoldResult> at = operand.restrict<OpFoldResult>(position);
  bool isPiece = operand.has(d);
  auto wide = [&](Value value) { return operand.value == mask.value ? value : promote(value); };
  const VectorAccess *read = cache ? splitter.deferredRead(operand.value) : nullptr;
  if (read && (isPiece || read->isPlain())) {
    // Equal positions have equal static parts and the same loop variable. A value may be both operands.
    SmallVector<int64_t> key{isPiece, length};
    for (OpFoldResult index : at)
      key.push_back(getConstantIntValue(index).value_or(-1));
    Value &known = (*cache)[{operand.value, b.getDenseI64ArrayAttr(key)}];
    if (!known)
      known = isPiece ? wide(read->loadPiece(splitter, at, length))
                      : splitter.splat(wide(read->loadScalar(splitter, at)), length);
    return known;
  }
  int64_t element = linearize(*getConstantIntValues(at), operand.shape());
  if (isPiece)
    return wide(splitter.piece(operand.value, splitter.layout(operand.value).locate(element).first));
  return splitter.splat(wide(splitter.scalar(operand.value, element)), length);
}

Value Contraction::multiplyAdd(Value a, Value c, Value sum) {
  bool isFloat = isa<FloatType>(elementType);
  if (kind == CombiningKind::ADD && isFloat)
    return vector::FMAOp::create(b, loc, a, c, sum);
  Value product = isFloat ? arith::MulFOp::create(b, loc, a, c).getResult() : arith::MulIOp::create(b, loc, a, c);
  return combine(splitter, loc, kind, product, sum);
}

Value Contraction::multiplyAddMasked(Value a, Value c, Value sum, int64_t d, ArrayRef<OpFoldResult> position) {
  Value next = multiplyAdd(a, c, sum);
  if (!mask.value)
    return next;
  Value lanes = fetch(mask, d, position, cast<VectorType>(sum.getType()).getDimSize(0), /*cache=*/nullptr);
  if (matchPattern(lanes, m_One()))
    return next;
  return arith::SelectOp::create(b, loc, lanes, next, sum);
}

// Where the first element of a piece of the result lies in the iteration space.
SmallVector<int64_t> Contraction::positionOfAcc(int64_t piece) const {
  SmallVector<int64_t> position(sizes.size(), 0);
  if (!resultType)
    return position;
  SmallVector<int64_t> at = delinearize(splitter.layout(resultType).pieceStart(piece), resultType.getShape());
  for (auto [d, index] : llvm::zip(acc.dims, at))
    position[d] = index;
  return position;
}

// One position of the reduced dimensions, for a block of pieces of the result.
void Contraction::step(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d,
                       ArrayRef<OpFoldResult> reducedPosition, Cache *cache) {
  for (auto [i, sum] : llvm::enumerate(block)) {
    SmallVector<OpFoldResult> position = getAsIndexOpFoldResult(b.getContext(), positionOfAcc(firstPiece + i));
    for (auto [dim, index] : llvm::zip(reduced, reducedPosition))
      position[dim] = index;
    int64_t length = cast<VectorType>(sum.getType()).getDimSize(0);
    Value left = fetch(lhs, d, position, length, cache), right = fetch(rhs, d, position, length, cache);
    sum = multiplyAddMasked(left, right, sum, d, position);
  }
}

void Contraction::outerBlock(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d, bool alone) {
  SmallVector<int64_t> extents;
  for (int64_t dim : reduced)
    extents.push_back(sizes[dim]);
  for (int64_t k = 0, count = reducedCount(); k < count; ++k) {
    Cache cache;
    step(block, firstPiece, d, getAsIndexOpFoldResult(b.getContext(), delinearize(k, extents)),
         alone ? nullptr : &cache);
  }
}

// The reduced dimension that can be walked by a loop, because both operands can be read at any place of it.
std::optional<int64_t> Contraction::loopDimension(int64_t d) {
  if (mask.value)
    return std::nullopt;
  for (int64_t dim : llvm::reverse(reduced)) {
    if (sizes[dim] == 1)
      continue;
    for (const Operand *operand : {&lhs, &rhs}) {
      if (!operand->has(dim))
        continue;
      const VectorAccess *read = splitter.deferredRead(operand->value);
      if (!read || !read->takesDynamicPositions() || (!operand->has(d) && !read->isPlain()))
        return std::nullopt;
    }
    return dim;
  }
  return std::nullopt;
}

void Contraction::outerLoop(MutableArrayRef<Value> block, int64_t firstPiece, int64_t d, int64_t loopDim) {
  // A few steps in each turn of the loop, as many as divide it.
  int64_t unroll = 4;
  while (unroll > 1 && (sizes[loopDim] % unroll != 0 || unroll * static_cast<int64_t>(block.size()) > 96))
    unroll /= 2;
  SmallVector<int64_t> extents;
  for (int64_t dim : reduced)
    extents.push_back(dim == loopDim ? 1 : sizes[dim]);
  int64_t others = reducedCount() / sizes[loopDim];
  Value zero = splitter.constant(b.getIndexAttr(0)), end = splitter.constant(b.getIndexAttr(sizes[loopDim])),
        stride = splitter.constant(b.getIndexAttr(unroll));
  auto loop = scf::ForOp::create(b, loc, zero, end, stride, block);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> sums = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
    for (int64_t u = 0; u < unroll; ++u) {
      Value index = loop.getInductionVar();
      if (u != 0)
        index = arith::AddIOp::create(b, loc, index, splitter.constant(b.getIndexAttr(u)));
      for (int64_t k = 0; k < others; ++k) {
        Cache cache;
        SmallVector<OpFoldResult> position = getAsIndexOpFoldResult(b.getContext(), delinearize(k, extents));
        position[llvm::find(reduced, loopDim) - reduced.begin()] = index;
        step(sums, firstPiece, d, position, &cache);
      }
    }
    scf::YieldOp::create(b, loc, sums);
  }
  llvm::copy(loop.getResults(), block.begin());
}

LogicalResult Contraction::outer(int64_t d) {
  for (Operand *operand : {&lhs, &rhs, &mask})
    if (failed(bringLast(*operand, d)))
      return failure();
  int64_t pieceCount = resultType ? splitter.layout(resultType).pieceCount() : 1;
  const SplitLimits &limits = splitter.limits();
  int64_t work = pieceCount * reducedCount();
  std::optional<int64_t> loopDim;
  if (work > limits.unrollLimit)
    loopDim = loopDimension(d);
  int64_t emitted = loopDim ? work / sizes[*loopDim] : work;
  if (emitted > limits.pieceLimit)
    return op->emitOpError("takes ")
           << work << " multiply-adds on vectors of " << limits.lanes
           << " elements, which would take too long to compile: tile the operation before it is "
              "vectorized";

  // As many sums at a time as fit into registers, beside the operands.
  int64_t blockSize = std::max<int64_t>(limits.registers * 3 / 4, 1);
  SmallVector<Value> pieces;
  for (int64_t first = 0; first < pieceCount; first += blockSize) {
    int64_t count = std::min(blockSize, pieceCount - first);
    SmallVector<Value> block;
    for (int64_t i = first; i < first + count; ++i) {
      if (resultType && acc.value)
        block.push_back(splitter.piece(acc.value, i));
      else if (resultType)
        block.push_back(splitter.constant(
            DenseElementsAttr::get(splitter.layout(resultType).pieceType(i), neutralElement(kind, elementType))));
      else
        block.push_back(splitter.splat(acc.value, 1));
    }
    if (loopDim)
      outerLoop(block, first, d, *loopDim);
    else
      outerBlock(block, first, d, /*alone=*/count == pieceCount);
    llvm::append_range(pieces, block);
  }
  if (resultType)
    splitter.define(result, std::move(pieces));
  else
    result.replaceAllUsesWith(vector::ExtractOp::create(b, loc, pieces[0], ArrayRef<int64_t>{0}).getResult());
  return success();
}

LogicalResult Contraction::inner(int64_t d) {
  if (failed(bringLast(mask, d)))
    return failure();
  const SplitLimits &limits = splitter.limits();
  int64_t elementCount = resultType ? splitter.layout(resultType).elementCount() : 1;
  int64_t chunks = llvm::divideCeil(sizes[d], limits.lanes), others = reducedCount() / sizes[d];
  if (elementCount * chunks * others > limits.pieceLimit)
    return op->emitOpError("takes ")
           << elementCount * chunks * others << " multiply-adds on vectors of " << limits.lanes
           << " elements, which would take too long to compile: tile the operation before it is "
              "vectorized";
  SmallVector<int64_t> extents;
  for (int64_t dim : reduced)
    extents.push_back(dim == d ? 1 : sizes[dim]);

  // The products of one element of the result, added up lane by lane.
  auto row = [&](int64_t element) {
    SmallVector<int64_t> position(sizes.size(), 0);
    if (resultType)
      for (auto [dim, index] : llvm::zip(acc.dims, delinearize(element, resultType.getShape())))
        position[dim] = index;
    // The last chunk may be shorter, and is added up in the first lanes.
    SmallVector<Value> sums;
    for (int64_t k = 0; k < others; ++k) {
      for (auto [dim, index] : llvm::zip(reduced, delinearize(k, extents)))
        position[dim] = index;
      for (int64_t c = 0; c < chunks; ++c) {
        position[d] = c * limits.lanes;
        int64_t length = std::min(limits.lanes, sizes[d] - position[d]);
        auto type = VectorType::get({length}, elementType);
        SmallVector<OpFoldResult> at = getAsIndexOpFoldResult(b.getContext(), position);
        Value left = fetch(lhs, d, at, length, nullptr), right = fetch(rhs, d, at, length, nullptr);
        // Up to four chains of sums, none of which waits for another.
        Value *sum = nullptr;
        size_t sameLength = llvm::count_if(sums, [&](Value s) { return s.getType() == type; });
        if (sameLength >= 4 || (c >= 4 && sameLength > 0)) {
          sum = llvm::find_if(sums, [&](Value s) { return s.getType() == type; });
          std::rotate(sum, sum + 1, sums.end());
          sum = &sums.back();
        } else {
          sums.push_back(splitter.constant(DenseElementsAttr::get(type, neutralElement(kind, elementType))));
          sum = &sums.back();
        }
        *sum = multiplyAddMasked(left, right, *sum, d, at);
      }
    }
    return sums;
  };
  auto fullRow = [&](int64_t element) {
    SmallVector<Value> sums = row(element);
    int64_t length = std::min(limits.lanes, sizes[d]);
    auto type = VectorType::get({length}, elementType);
    Value neutral = splitter.constant(DenseElementsAttr::get(type, neutralElement(kind, elementType)));
    for (Value &sum : sums) {
      int64_t have = cast<VectorType>(sum.getType()).getDimSize(0);
      if (have == length)
        continue;
      SmallVector<VectorSplitter::Lane> lanes;
      for (int64_t i = 0; i < length; ++i)
        lanes.push_back({i < have ? sum : neutral, i});
      sum = splitter.assemble(loc, elementType, lanes);
    }
    return combineAll(splitter, loc, kind, sums);
  };

  if (!resultType) {
    result.replaceAllUsesWith(vector::ReductionOp::create(b, loc, kind, fullRow(0), acc.value).getResult());
    return success();
  }
  PieceLayout layout = splitter.layout(resultType);
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < layout.pieceCount(); ++i) {
    SmallVector<Value> rows;
    for (int64_t e = layout.pieceStart(i), end = e + layout.pieceLength(i); e < end; ++e)
      rows.push_back(fullRow(e));
    pieces.push_back(reduceRows(splitter, loc, kind, rows, splitter.piece(acc.value, i)));
  }
  splitter.define(result, std::move(pieces));
  return success();
}

LogicalResult Contraction::run() {
  if (!isa<FloatType>(elementType) && !elementType.isIntOrIndex())
    return op->emitOpError("has elements that code generation cannot multiply: ") << elementType;
  if (choosesInner())
    return inner(lhs.lastLong());
  int64_t along = lastOfResult();
  if (along < 0 && reducedCount() > 1) {
    // A sum into one element along different dimensions of the operands: one is brought into the other's order.
    int64_t d = lhs.lastLong() >= 0 ? lhs.lastLong() : rhs.lastLong();
    if (failed(bringLast(lhs, d)) || failed(bringLast(rhs, d)))
      return failure();
    return inner(d);
  }
  return outer(along);
}

} // namespace

LogicalResult splitContraction(VectorSplitter &splitter, Operation *op, Value mask, bool &handled) {
  handled = true;
  return Contraction(splitter, op, mask).run();
}

} // namespace kiln
