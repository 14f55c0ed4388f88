#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::Flow {

linalg::GenericOp readInLoops(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape,
                              ArrayRef<AffineExpr> from) {
  const unsigned rank = shape.size();
  Value empty = tensor::EmptyOp::create(b, loc, shape, getElementTypeOrSelf(tensor.getType()));
  return linalg::GenericOp::create(
      b, loc, empty.getType(), tensor, empty,
      ArrayRef{AffineMap::get(rank, 0, from, b.getContext()), b.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location at, ValueRange args) { linalg::YieldOp::create(inner, at, args[0]); });
}

} // namespace kiln::Flow
