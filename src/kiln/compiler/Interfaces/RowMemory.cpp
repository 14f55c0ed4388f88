#include "kiln/compiler/Interfaces/RowMemory.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

std::optional<unsigned> countRowLoops(linalg::LinalgOp op) {
  auto kinds = op.getIteratorTypesArray();
  auto isParallel = [](utils::IteratorType kind) { return kind == utils::IteratorType::parallel; };
  auto firstOther = llvm::find_if_not(kinds, isParallel);
  if (std::any_of(firstOther, kinds.end(), isParallel))
    return std::nullopt;
  return static_cast<unsigned>(firstOther - kinds.begin());
}

int64_t bytesOfElement(Type type) {
  if (type.isIndex())
    return 8;
  int64_t bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  return isa<FloatType>(type) ? std::max<int64_t>(bytes, 4) : bytes;
}

int64_t bytesOfRow(linalg::LinalgOp op, unsigned rows) {
  if (op.getNumReductionLoops() != 0 || op.getNumLoops() <= rows)
    return 0;
  int64_t bytes = 0;
  for (Value init : op.getDpsInits())
    bytes += bytesOfElement(getElementTypeOrSelf(init.getType()));
  for (int64_t extent : llvm::drop_begin(op.getStaticLoopRanges(), rows))
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(bytes, extent, bytes))
      return mostRowBytes + 1;
  return bytes;
}

} // namespace kiln
