#include "kiln/compiler/Codegen/ExpandMath.h"

#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/WideFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDAEXPANDMATH
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaExpandMathPass : public impl::CudaExpandMathBase<CudaExpandMathPass> {
  void runOnOperation() override {
    FloatSupport support;
    support.fma = support.convertsF16 = true;
    if (failed(expandMath(getOperation(), support)))
      return signalPassFailure();
    getOperation().walk([](Operation *op) {
      if (isa<math::MathDialect>(op->getDialect()) && expandInF64(op))
        return;
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && op->getResult(0).getType().isInteger(1))
        convertThroughI32(op);
    });
    WalkResult result = getOperation().walk([](Operation *op) {
      bool isMath = isa<math::MathDialect>(op->getDialect());
      if (!isMath || hasInstruction(op))
        return WalkResult::advance();
      op->emitOpError("has no form for GPUs here yet, for elements of ")
          << getElementTypeOrSelf(op->getResult(0).getType());
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  // LLVM 22's back end compares with zero instead, and gives the opposite.
  static void convertThroughI32(Operation *op) {
    OpBuilder b(op);
    Operation *wide = b.clone(*op);
    wide->getResult(0).setType(b.getI32Type());
    op->getResult(0).replaceAllUsesWith(
        arith::TruncIOp::create(b, op->getLoc(), b.getI1Type(), wide->getResult(0)).getResult());
    op->erase();
  }

  // What the back end has instructions for, or short sequences of them.
  static bool hasInstruction(Operation *op) {
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
               math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
               math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp, math::RoundOp, math::SqrtOp, math::TruncOp>(op);
  }
};

} // namespace
} // namespace kiln
