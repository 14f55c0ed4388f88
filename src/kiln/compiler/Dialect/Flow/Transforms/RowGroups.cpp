#include "kiln/compiler/Dialect/Flow/Transforms/RowGroups.h"

#include "kiln/compiler/Interfaces/RowMemory.h"
#include "kiln/compiler/Interfaces/SoftmaxProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace kiln::Flow {

static constexpr int64_t longestRow = int64_t(1) << 20;
// So few rows, if they are long, are better shared element by element where that is possible.
static constexpr int64_t fewRows = 8, longRow = int64_t(1) << 15;

static AffineMap rowsOf(linalg::LinalgOp op, unsigned rows) {
  return AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext()).getMajorSubMap(rows);
}

// Whether the operand has one value for each row, or one for each element.
static bool isRowwise(linalg::LinalgOp op, OpOperand &operand, unsigned rows) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  return map.isIdentity() || map == rowsOf(op, rows);
}

// Whether the operand has what rows that lie beside each other share, as a mask that is the same for all heads: some
// row loops are missing, and the rest is in order. Of a product that would be what is read again for each row.
static bool isSharedByRows(linalg::LinalgOp op, OpOperand &operand, unsigned rows) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (linalg::isaContractionOpInterface(op) || !map.isProjectedPermutation() ||
      map.getNumResults() + rows < op.getNumLoops())
    return false;
  SmallVector<unsigned> loops =
      llvm::map_to_vector(map.getResults(), [](AffineExpr expr) { return cast<AffineDimExpr>(expr).getPosition(); });
  return llvm::is_sorted(loops) &&
         llvm::count_if(loops, [&](unsigned loop) { return loop >= rows; }) == int64_t(op.getNumLoops() - rows);
}

static bool haveUsefulSize(linalg::LinalgOp op, unsigned rows) {
  int64_t count = 1, length = 1;
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges())) {
    bool isRow = loop < rows;
    if (ShapedType::isDynamic(extent)) {
      if (!isRow)
        return false;
      count = fewRows;
      continue;
    }
    int64_t &product = isRow ? count : length;
    if (llvm::MulOverflow(product, extent, product))
      return false;
  }
  return length > 0 && length <= longestRow && (count >= fewRows || length < longRow);
}

// Whether the rows of an operation are much longer than those that a group starts from, as where a sum of a few parts
// becomes part of many elements: whoever has a row would do all of that alone.
static bool hasLongerRows(linalg::LinalgOp op, Operation *root, unsigned rows) {
  constexpr int64_t longer = 8;
  auto lengthOf = [&](linalg::LinalgOp of) -> std::optional<int64_t> {
    int64_t length = 1;
    for (int64_t extent : ArrayRef(of.getStaticLoopRanges()).drop_front(rows))
      if (ShapedType::isDynamic(extent) || llvm::MulOverflow(length, extent, length))
        return std::nullopt;
    return length;
  };
  std::optional<int64_t> own = lengthOf(op), first = lengthOf(cast<linalg::LinalgOp>(root));
  return own && first && *own / longer > *first;
}

// The number of row loops, if the operation reduces rows and can start a group. Of a product's operands, one is no
// rows.
static std::optional<unsigned> rowsOfRoot(Operation *root) {
  auto op = dyn_cast<linalg::LinalgOp>(root);
  if (!op || op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics())
    return std::nullopt;
  std::optional<unsigned> rows = countRowLoops(op);
  if (!rows || *rows == 0 || !haveUsefulSize(op, *rows))
    return std::nullopt;
  bool readsElements = llvm::any_of(op.getDpsInputOperands(),
                                    [&](OpOperand *input) { return op.getMatchingIndexingMap(input).isIdentity(); });
  bool readsRows = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return isRowwise(op, *input, *rows) || isSharedByRows(op, *input, *rows);
  });
  bool givesRows = llvm::all_of(op.getDpsInitsMutable(),
                                [&](OpOperand &init) { return op.getMatchingIndexingMap(&init) == rowsOf(op, *rows); });
  return readsElements && readsRows && givesRows ? rows : std::nullopt;
}

// Whether the body of `op` reads elements of what the group computes.
static bool readsInBody(Operation *op, ArrayRef<Operation *> group) {
  return llvm::any_of(group, [&](Operation *member) {
    return llvm::any_of(member->getUsers(), [&](Operation *user) { return op->isProperAncestor(user); });
  });
}

static bool canJoin(Operation *candidate, ArrayRef<Operation *> group, unsigned rows, bool ofAnyLength = false) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureTensorSemantics() || op.getNumLoops() < rows)
    return false;
  bool reduces = op.getNumReductionLoops() > 0;
  std::optional<unsigned> parallel = countRowLoops(op);
  if (!parallel || (reduces && *parallel != rows) || (!ofAnyLength && !haveUsefulSize(op, rows)) ||
      hasLongerRows(op, group.front(), rows))
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    bool fromGroup = producer && llvm::is_contained(group, producer);
    // What comes from elsewhere is read as it is; only a contraction's operands would be read again and again.
    bool isInit = op.isDpsInit(&operand);
    if (fromGroup && (isInit || !isRowwise(op, operand, rows)))
      return false;
    if (isInit &&
        op.getMatchingIndexingMap(&operand) !=
            (reduces ? rowsOf(op, rows) : AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext())))
      return false;
    if (reduces && !isInit && !isRowwise(op, operand, rows) && !isSharedByRows(op, operand, rows))
      return false;
  }
  return true;
}

Operation *findFirstUser(ArrayRef<Operation *> group) {
  Block *block = group.front()->getBlock();
  Operation *first = nullptr;
  for (Operation *op : group)
    for (Operation *user : op->getUsers()) {
      Operation *place = block->findAncestorOpInBlock(*user);
      if (!place || llvm::is_contained(group, place))
        continue;
      if (!first || place->isBeforeInBlock(first))
        first = place;
    }
  return first;
}

bool canJoinRows(Operation *user, ArrayRef<Operation *> group) {
  std::optional<unsigned> rows = rowsOfRoot(group.front());
  if (!rows || !canJoin(user, group, *rows) || cast<linalg::LinalgOp>(user).hasIndexSemantics() ||
      readsInBody(user, group))
    return false;
  int64_t bytes = bytesOfRow(cast<linalg::LinalgOp>(user), *rows);
  for (Operation *member : group)
    bytes += bytesOfRow(cast<linalg::LinalgOp>(member), *rows);
  return bytes <= mostRowBytes;
}

//===--- Products of rows -----------------------------------------------------------------------------------------===//

// How many loops before the last parallel one a product has, if its result's dimensions are its parallel loops in their
// order, and one reduction follows. Of its inputs, one has the innermost row but no columns, the other columns but no
// rows.
static std::optional<unsigned> rowsOfProduct(linalg::LinalgOp op) {
  if (!op || !op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op) || op.getNumDpsInputs() != 2 ||
      op.getNumReductionLoops() != 1)
    return std::nullopt;
  std::optional<unsigned> parallel = countRowLoops(op);
  if (!parallel || *parallel < 2 || op.getMatchingIndexingMap(op.getDpsInitOperand(0)) != rowsOf(op, *parallel))
    return std::nullopt;
  const unsigned row = *parallel - 2, column = *parallel - 1;
  AffineMap left = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap right = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (!left.isFunctionOfDim(row) || left.isFunctionOfDim(column) || right.isFunctionOfDim(row) ||
      !right.isFunctionOfDim(column))
    return std::nullopt;
  return column;
}

// Whether a product's rows are what the group computes of them, and its other input is none of that.
static bool readsRowsOfGroup(linalg::LinalgOp op, ArrayRef<Operation *> group, unsigned rows) {
  const auto isOfGroup = [&](Value value) { return llvm::is_contained(group, value.getDefiningOp()); };
  if (rowsOfProduct(op) != rows || !isOfGroup(op.getDpsInputs()[0]) || isOfGroup(op.getDpsInputs()[1]))
    return false;
  // Rows, and what is summed up.
  SmallVector<unsigned> dims = llvm::to_vector(llvm::seq<unsigned>(0, rows));
  dims.push_back(rows + 1);
  return op.getMatchingIndexingMap(op.getDpsInputOperand(0)) ==
         AffineMap::getMultiDimMapWithTargets(op.getNumLoops(), dims, op.getContext());
}

// An operation that divides each element by what it computes of a number of its row, and does nothing else.
static bool dividesRows(linalg::GenericOp op) {
  if (!op || op.getNumDpsInputs() != 2 || op->getNumResults() != 1 || op.getNumReductionLoops() != 0 ||
      !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity() ||
      op.getMatchingIndexingMap(op.getDpsInputOperand(1)) != rowsOf(op, op.getNumLoops() - 1) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() || op.hasIndexSemantics())
    return false;
  Operation *division = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  // Or multiplies by the reciprocal.
  if (auto product = dyn_cast_or_null<arith::MulFOp>(division)) {
    auto reciprocal = product.getRhs().getDefiningOp<arith::DivFOp>();
    if (!reciprocal || !matchPattern(reciprocal.getLhs(), m_OneFloat()))
      return false;
  } else if (!isa_and_nonnull<arith::DivFOp>(division)) {
    return false;
  }
  return division->getOperand(0) == op.getBody()->getArgument(0) && op.getBody()->getArgument(0).hasOneUse() &&
         op.getBody()->getArgument(2).use_empty() &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) { return isMemoryEffectFree(&inner); });
}

// The softmax whose weights a product multiplies, if dividing them can wait until after the product.
static std::optional<SoftmaxProduct> findDividedLast(linalg::LinalgOp product) {
  auto division = product.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  Type element = getElementTypeOrSelf(product->getResult(0).getType());
  // Of narrower floats, also those that a sum is rounded to on its way, it might be no number any more.
  const bool isPlain = llvm::all_of(product.getBlock()->without_terminator(),
                                    llvm::IsaPred<arith::MulFOp, arith::AddFOp, arith::ExtFOp>);
  if (!isPlain || !dividesRows(division) || !division->hasOneUse() || element.getIntOrFloatBitWidth() < 32 || !fill ||
      !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
      element != getElementTypeOrSelf(division.getResult(0).getType()))
    return std::nullopt;
  return SoftmaxProduct::of(product, division.getInputs()[0]);
}

static linalg::LinalgOp findSecondProduct(ArrayRef<Operation *> group) {
  return cast<linalg::LinalgOp>(*llvm::find_if(llvm::drop_begin(group), [](Operation *op) {
    return linalg::isaContractionOpInterface(cast<linalg::LinalgOp>(op));
  }));
}

// Whether workgroups can do without whole rows.
static bool needsNoRows(ArrayRef<Operation *> group) {
  linalg::LinalgOp second = findSecondProduct(group);
  std::optional<SoftmaxProduct> softmax = findDividedLast(second);
  // The product, what is computed of it, the largest, the powers, their sum, and the division.
  return softmax && softmax->scores == group.front() && group[softmax->between.size() + 5] == second;
}

SmallVector<Operation *> findProductsOfRows(Operation *root, int64_t mostBytes, bool reassociates) {
  constexpr int64_t leastRows = 1; // fewer use what is loaded for all of them too seldom
  // What each tile of rows reads again is less than what it need not store.
  constexpr int64_t deepest = 256;
  auto scores = dyn_cast<linalg::LinalgOp>(root);
  std::optional<unsigned> rows = rowsOfProduct(scores);
  if (!rows)
    return {};
  const int64_t extent = scores.getStaticLoopRanges()[*rows - 1];
  int64_t depth = scores.getStaticLoopRanges()[*rows + 1];
  if ((ShapedType::isStatic(extent) && extent < leastRows) || ShapedType::isDynamic(depth))
    return {};
  SmallVector<Operation *> group{root};
  bool hasReduction = false, hasSecond = false;
  const int64_t keys = scores.getStaticLoopRanges()[*rows];
  bool isLong = !haveUsefulSize(scores, *rows);
  int64_t bytes = isLong ? 0 : bytesOfElement(getElementTypeOrSelf(root->getResult(0).getType())) * keys;
  for (Operation *user = findFirstUser(group); user && user->getBlock() == root->getBlock();
       user = findFirstUser(group)) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || readsInBody(user, group))
      break;
    const bool isSecond = !hasSecond && readsRowsOfGroup(op, group, *rows);
    if (!isSecond && !canJoin(user, group, *rows, /*ofAnyLength=*/true))
      break;
    if (isSecond) {
      const int64_t columns = op.getStaticLoopRanges()[*rows];
      depth = ShapedType::isDynamic(columns) ? deepest + 1 : depth + columns;
    }
    hasReduction |= !hasSecond && !isSecond && op.getNumReductionLoops() != 0;
    hasSecond |= isSecond;
    isLong |= !haveUsefulSize(op, *rows);
    bytes += isLong ? 0 : bytesOfRow(op, *rows);
    group.push_back(user);
  }
  // What is behind the second product only goes with it.
  if (!hasReduction || !hasSecond || depth > deepest ||
      ((isLong || bytes > mostBytes) && !(reassociates && needsNoRows(group))))
    return {};
  for (Operation *op : ArrayRef(group).drop_back())
    if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !llvm::is_contained(group, user); }))
      return {};
  return group;
}

void divideLast(SmallVectorImpl<Operation *> &group) {
  linalg::LinalgOp product = findSecondProduct(group);
  if (!findDividedLast(product))
    return;
  auto division = product.getDpsInputs()[0].getDefiningOp<linalg::GenericOp>();
  Type type = product->getResult(0).getType();
  OpBuilder b(product);
  Location loc = division.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, product.getDpsInits()[0]),
                                        getElementTypeOrSelf(type));
  b.setInsertionPointAfter(product);
  const unsigned loops = cast<RankedTensorType>(type).getRank();
  AffineMap all = b.getMultiDimIdentityMap(loops);
  auto last = linalg::GenericOp::create(b, loc, type, ValueRange{product->getResult(0), division.getInputs()[1]}, empty,
                                        {all, all.getMajorSubMap(loops - 1), all},
                                        SmallVector<utils::IteratorType>(loops, utils::IteratorType::parallel));
  IRMapping mapping;
  division.getRegion().cloneInto(&last.getRegion(), mapping);
  product->getResult(0).replaceAllUsesExcept(last.getResult(0), last);
  product->setOperand(0, division.getInputs()[0]);
  group.insert(llvm::find(group, product.getOperation()) + 1, last);
  llvm::erase(group, division.getOperation());
  division.erase();
}

} // namespace kiln::Flow
