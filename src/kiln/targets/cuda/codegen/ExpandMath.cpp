#include "kiln/compiler/Codegen/ExpandMath.h"

#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"
#include "kiln/targets/cuda/codegen/WideFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_CUDAEXPANDMATH
#include "kiln/targets/cuda/codegen/CudaPasses.h.inc"

namespace {

class CudaExpandMathPass : public impl::CudaExpandMathBase<CudaExpandMathPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<math::ExpOp>(op))
        approximateExp(op);
      else if (auto erf = dyn_cast<math::ErfOp>(op))
        approximateErf(erf);
      else if (auto div = dyn_cast<arith::DivFOp>(op); div && div.getType().isF16())
        divideF16(div);
      else if (auto add = dyn_cast<arith::AddFOp>(op))
        addOneToTanh(add);
    });
    FloatSupport support;
    support.fma = support.convertsF16 = true;
    support.roundsToBF16 = CudaTarget::of(getOperation()).generation() >= 80;
    if (failed(expandMath(getOperation(), support)))
      return signalPassFailure();
    getOperation().walk([](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && expandInF64(op))
        return;
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && op->getResult(0).getType().isInteger(1))
        convertThroughI32(op);
    });
    narrowInPairs(getOperation());
    getOperation().walk([](arith::TruncFOp op) {
      if (op.getType().isBF16() && op.getIn().getType().isF32())
        roundToBF16(op);
    });
    WalkResult result = getOperation().walk([](Operation *op) {
      bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
      if (!isMath || hasInstruction(op))
        return WalkResult::advance();
      op->emitOpError("has no form for GPUs here yet, for elements of ")
          << getElementTypeOrSelf(op->getResult(0).getType());
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  // The power of two that the hardware has is off by less than 2^-18 of what is rounded to f16 or bf16.
  static void approximateExp(Operation *op) {
    Type type = op->getResult(0).getType();
    if (!type.isF16() && !type.isBF16())
      return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type f32 = b.getF32Type();
    Value wide = arith::ExtFOp::create(b, loc, f32, op->getOperand(0));
    Value log2e = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0x1.715476p+0f));
    Value exponent = arith::MulFOp::create(b, loc, wide, log2e);
    // bf16 has numbers as small as the subnormal ones of f32.
    StringRef name = type.isF16() ? "llvm.nvvm.ex2.approx.ftz.f32" : "llvm.nvvm.ex2.approx.f32";
    Value power = LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr(name), exponent).getResult(0);
    op->getResult(0).replaceAllUsesWith(arith::TruncFOp::create(b, loc, type, power).getResult());
    op->erase();
  }

  // The error function of what is rounded to f16 or bf16: x P(x^2), which is off by less than 2^-16 of it up to 2.9,
  // from where on it is rounded to 1.
  static void approximateErf(math::ErfOp op) {
    Type type = op.getType();
    if (!type.isF16() && !type.isBF16())
      return;
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto constant = [&](float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); };
    constexpr float coefficients[] = {1.128362179e+00F,  -3.758295476e-01F, 1.119276658e-01F,
                                      -2.573947981e-02F, 4.490523133e-03F,  -5.692123086e-04F,
                                      4.862659625e-05F,  -2.467086688e-06F, 5.558118588e-08F};
    Value x = arith::ExtFOp::create(b, loc, b.getF32Type(), op.getOperand());
    x = arith::MaximumFOp::create(b, loc, arith::MinimumFOp::create(b, loc, x, constant(2.9F)), constant(-2.9F));
    Value square = arith::MulFOp::create(b, loc, x, x), sum = constant(coefficients[std::size(coefficients) - 1]);
    for (float coefficient : llvm::drop_begin(llvm::reverse(coefficients)))
      sum = math::FmaOp::create(b, loc, sum, square, constant(coefficient));
    Value result = arith::MulFOp::create(b, loc, x, sum);
    op.replaceAllUsesWith(arith::TruncFOp::create(b, loc, type, result).getResult());
    op.erase();
  }

  // 1 + tanh(x), as in GELU, is 2 / (1 + e^-2x). The hardware's power of two and reciprocal give it within 4 ULP where
  // x is above -1. Below, they are off by less than 2^-18 of it, where tanh leaves nothing from -9 on.
  static void addOneToTanh(arith::AddFOp add) {
    Type type = add.getType();
    Value tanh = add.getLhs(), one = add.getRhs();
    if (matchPattern(tanh, m_OneFloat()))
      std::swap(tanh, one);
    auto op = tanh.getDefiningOp<math::TanhOp>();
    if (!op || !op->hasOneUse() || !matchPattern(one, m_OneFloat()) || type.getIntOrFloatBitWidth() > 32)
      return;
    OpBuilder b(add);
    Location loc = add.getLoc();
    Type f32 = b.getF32Type();
    auto constant = [&](float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); };
    Value x = op.getOperand();
    if (type != f32)
      x = arith::ExtFOp::create(b, loc, f32, x);
    Value exponent = arith::MulFOp::create(b, loc, x, constant(-0x1.715476p+1f)); // -2 log2(e)
    Value power = LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
                      .getResult(0);
    Value inverse = NVVM::RcpApproxFtzF32Op::create(b, loc, f32, arith::AddFOp::create(b, loc, power, constant(1)));
    Value sum = arith::AddFOp::create(b, loc, inverse, inverse);
    if (type != f32)
      sum = arith::TruncFOp::create(b, loc, type, sum);
    add.replaceAllUsesWith(sum);
    add.erase();
    op.erase();
  }

  // The approximate reciprocal and one step of Newton's give the f32 that is nearest but for a bit, and quotients of
  // f16 are never so close to the middle between two f16 that the bit matters. A divisor of many quotients is inverted
  // once.
  static void divideF16(arith::DivFOp op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type f32 = b.getF32Type();
    Value x = arith::ExtFOp::create(b, loc, f32, op.getLhs()), y = arith::ExtFOp::create(b, loc, f32, op.getRhs());
    Value inverse = NVVM::RcpApproxFtzF32Op::create(b, loc, f32, y);
    Value quotient = arith::MulFOp::create(b, loc, x, inverse);
    Value rest = math::FmaOp::create(b, loc, arith::NegFOp::create(b, loc, quotient), y, x);
    Value better = math::FmaOp::create(b, loc, rest, inverse, quotient);
    // The rest of infinities and zeros is NaN or zero: the quotient is right already.
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    Value hasRest = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, rest, zero);
    quotient = arith::SelectOp::create(b, loc, hasRest, better, quotient);
    op.replaceAllUsesWith(arith::TruncFOp::create(b, loc, op.getType(), quotient).getResult());
    op.erase();
  }

  // What wgmma has summed up is rounded two by two. ptxas makes pairs of single conversions itself, but then sees sums
  // read while wgmma is at work, and makes each instruction wait for the one before.
  static void narrowInPairs(func::FuncOp function) {
    DenseMap<std::tuple<Value, int64_t, Type, Block *>, Value> pairs;
    SmallVector<arith::TruncFOp> ops;
    function.walk([&](arith::TruncFOp op) { ops.push_back(op); });
    for (arith::TruncFOp op : ops) {
      Type type = op.getType();
      auto extract = op.getIn().getDefiningOp<LLVM::ExtractValueOp>();
      if (!extract || extract.getPosition().size() != 1 || !extract.getType().isF32() ||
          !(type.isF16() || type.isBF16()))
        continue;
      int64_t position = extract.getPosition()[0], first = position & ~int64_t(1);
      OpBuilder b(op);
      Location loc = op.getLoc();
      Value &pair = pairs[{extract.getContainer(), first, type, op->getBlock()}];
      if (!pair) {
        Value low = LLVM::ExtractValueOp::create(b, loc, extract.getContainer(), first);
        Value high = LLVM::ExtractValueOp::create(b, loc, extract.getContainer(), first + 1);
        auto both = VectorType::get({2}, type);
        if (type.isF16())
          pair = LLVM::CallIntrinsicOp::create(b, loc, both, b.getStringAttr("llvm.nvvm.ff2f16x2.rn"),
                                               ValueRange{high, low})
                     .getResult(0);
        else
          pair = LLVM::BitcastOp::create(
              b, loc, both, assembly(b, loc, b.getI32Type(), {high, low}, "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f"));
      }
      Value lane = arith::ConstantIntOp::create(b, loc, b.getI32Type(), position - first);
      op.replaceAllUsesWith(LLVM::ExtractElementOp::create(b, loc, pair, lane).getResult());
      op.erase();
    }
  }

  // By assembly, as bf16 is but bits in LLVM's code.
  static void roundToBF16(arith::TruncFOp op) {
    OpBuilder b(op);
    Value bits = assembly(b, op.getLoc(), b.getI16Type(), {op.getIn()}, "cvt.rn.bf16.f32 $0, $1;", "=h,f");
    op.replaceAllUsesWith(arith::BitcastOp::create(b, op.getLoc(), op.getType(), bits).getResult());
    op.erase();
  }

  static Value assembly(OpBuilder &b, Location loc, Type result, ArrayRef<Value> operands, StringRef text,
                        StringRef constraints) {
    return LLVM::InlineAsmOp::create(b, loc, result, operands, text, constraints, /*has_side_effects=*/false,
                                     /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                                     LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
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
