#include "kiln/compiler/Pipeline/GuardVerifier.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

// The smallest integer stands for a tile that is a value; written as a number it has none. Attributes that are missing
// are left to the verifier.
static LogicalResult checkTiles(Operation *op, DenseI64ArrayAttr tiles, OperandRange values) {
  if (!tiles || llvm::count(tiles.asArrayRef(), ShapedType::kDynamic) == static_cast<int64_t>(values.size()))
    return success();
  return op->emitError() << "'" << op->getName() << "' has a negative tile";
}

LogicalResult guardVerifier(Operation *program) {
  WalkResult result = program->walk([](Operation *op) -> WalkResult {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tensor::ConcatOp>([](auto concat) -> LogicalResult {
          IntegerAttr dim = concat.getDimAttr();
          if (!dim || !dim.getValue().isNegative())
            return success();
          return concat.emitError() << "'tensor.concat' joins along dimension " << dim.getInt()
                                    << "; dimensions count from 0";
        })
        .Case<linalg::PackOp, linalg::UnPackOp>(
            [](auto pack) { return checkTiles(pack, pack.getStaticInnerTilesAttr(), pack.getInnerTiles()); })
        .Default([](Operation *) { return success(); });
  });
  return failure(result.wasInterrupted());
}

} // namespace kiln
