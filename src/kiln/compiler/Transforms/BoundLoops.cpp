#include "kiln/compiler/Transforms/TensorOps.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_BOUNDLOOPSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace {
class LoopBounder {
public:
  explicit LoopBounder(scf::ForOp loop)
      : loop(loop), builder(loop), loc(loop.getLoc()), type(loop.getInductionVar().getType()),
        width(type.isIndex() ? 64 : type.getIntOrFloatBitWidth()) {}

  void run() {
    if (isInKernel() && !constantOf(loop.getStep()))
      loop.setStep(arith::MaxSIOp::create(builder, loc, loop.getStep(), constant(1)));
    if (staysInType())
      return;
    std::optional<APInt> start = constantOf(loop.getLowerBound());
    if (!loop.getUnsignedCmp() && start && !start->isNegative())
      compareUnsigned();
    else
      countIterations();
  }

private:
  std::optional<APInt> constantOf(Value value) const {
    APInt number;
    if (!matchPattern(value, m_ConstantInt(&number)))
      return std::nullopt;
    return number.sextOrTrunc(width);
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value)); }

  bool isInKernel() {
    Operation *parent = loop->getParentOp();
    while (parent && !isKernel(parent))
      parent = parent->getParentOp();
    return parent;
  }

  // Whether a step from any number below the end is a number of the type, and so is the distance to the end.
  bool staysInType() {
    std::optional<APInt> step = constantOf(loop.getStep()), end = constantOf(loop.getUpperBound());
    std::optional<APInt> start = constantOf(loop.getLowerBound());
    bool isFar = false;
    if (!loop.getUnsignedCmp() && start && end)
      (void)end->ssub_ov(*start, isFar);
    if (isFar)
      return false;
    if (!step)
      return false;
    if (step->isOne())
      return true;
    if (!end && loop.getUpperBound().getDefiningOp<tensor::DimOp>())
      end = APInt::getOneBitSet(width, width - 4); // More elements than memory has bytes.
    if (!end)
      return false;
    bool overflows = false;
    APInt most = *step - 1;
    (void)(loop.getUnsignedCmp() ? end->uadd_ov(most, overflows) : end->sadd_ov(most, overflows));
    return !overflows;
  }

  // Below the largest signed number, a step leads to an unsigned number.
  void compareUnsigned() {
    std::optional<APInt> end = constantOf(loop.getUpperBound());
    if (!end || end->isNegative())
      loop.setUpperBound(arith::MaxSIOp::create(builder, loc, loop.getUpperBound(), constant(0)));
    loop.setUnsignedCmp(true);
  }

  // for k = 0 to count step 1: index = start + k * step
  void countIterations() {
    Value start = loop.getLowerBound(), end = loop.getUpperBound(), step = loop.getStep();
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value one = constant(1), zero = constant(0);
    Value last = arith::SubIOp::create(builder, loc, arith::SubIOp::create(builder, loc, end, start), one);
    Value count = arith::AddIOp::create(builder, loc, arith::DivUIOp::create(builder, loc, last, step), one);
    Value hasSteps = arith::CmpIOp::create(builder, loc, below, start, end);
    loop.setUpperBound(arith::SelectOp::create(builder, loc, hasSteps, count, zero));
    loop.setLowerBound(zero);
    loop.setStep(one);
    loop.setUnsignedCmp(true);
    builder.setInsertionPointToStart(loop.getBody());
    Value turn = loop.getInductionVar();
    auto offset = arith::MulIOp::create(builder, loc, turn, step);
    auto index = arith::AddIOp::create(builder, loc, start, offset);
    turn.replaceAllUsesExcept(index, offset);
  }

  scf::ForOp loop;
  OpBuilder builder;
  Location loc;
  Type type;
  unsigned width;
};

class BoundLoopsPass : public impl::BoundLoopsPassBase<BoundLoopsPass> {
public:
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) { LoopBounder(loop).run(); });
  }
};
} // namespace
} // namespace kiln
