#include "kiln/compiler/Dialect/Flow/Transforms/RowGroups.h"

#include "kiln/compiler/Interfaces/RowMemory.h"

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
  bool readsRows =
      llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) { return isRowwise(op, *input, *rows); });
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

static bool canJoin(Operation *candidate, ArrayRef<Operation *> group, unsigned rows) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureTensorSemantics() || op.hasIndexSemantics() || op.getNumLoops() < rows)
    return false;
  bool reduces = op.getNumReductionLoops() > 0;
  std::optional<unsigned> parallel = countRowLoops(op);
  if (!parallel || (reduces && *parallel != rows) || !haveUsefulSize(op, rows))
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
    if (reduces && !isInit && !isRowwise(op, operand, rows))
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
  if (!rows || !canJoin(user, group, *rows) || readsInBody(user, group))
    return false;
  int64_t bytes = bytesOfRow(cast<linalg::LinalgOp>(user), *rows);
  for (Operation *member : group)
    bytes += bytesOfRow(cast<linalg::LinalgOp>(member), *rows);
  return bytes <= mostRowBytes;
}

} // namespace kiln::Flow
