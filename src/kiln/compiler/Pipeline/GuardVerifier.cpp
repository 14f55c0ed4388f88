#include "kiln/compiler/Pipeline/GuardVerifier.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {

// The smallest integer stands for a number that is a value; written as a number it has none. Attributes that are
// missing are left to the verifier.
static LogicalResult checkNumbers(Operation *op, DenseI64ArrayAttr numbers, OperandRange values,
                                  const Twine &whatIsNegative) {
  if (!numbers || llvm::count(numbers.asArrayRef(), ShapedType::kDynamic) == static_cast<int64_t>(values.size()))
    return success();
  return op->emitError() << "'" << op->getName() << "' has a negative " << whatIsNegative;
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
            [](auto pack) { return checkNumbers(pack, pack.getStaticInnerTilesAttr(), pack.getInnerTiles(), "tile"); })
        .Case<tensor::PadOp>([](auto pad) {
          constexpr StringLiteral what = "amount of padding; cut with tensor.extract_slice";
          return success(succeeded(checkNumbers(pad, pad.getStaticLowAttr(), pad.getLow(), what)) &&
                         succeeded(checkNumbers(pad, pad.getStaticHighAttr(), pad.getHigh(), what)));
        })
        .Case<vector::InsertOp>([](auto insert) {
          return checkNumbers(insert, insert.getStaticPositionAttr(), insert.getDynamicPosition(), "position");
        })
        .Case<linalg::SoftmaxOp>([](auto softmax) -> LogicalResult {
          auto type = dyn_cast<ShapedType>(softmax.getInput().getType());
          if (!type || isa<FloatType>(type.getElementType()))
            return success();
          return softmax.emitError() << "'linalg.softmax' is computed of floats, not of " << type.getElementType()
                                     << "; convert its input first, as with arith.sitofp";
        })
        .Default([](Operation *) { return success(); });
  });
  return failure(result.wasInterrupted());
}

} // namespace kiln
