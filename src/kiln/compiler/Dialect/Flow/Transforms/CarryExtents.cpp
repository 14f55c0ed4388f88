#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_CARRYEXTENTSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

static bool hasDynamicExtents(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

// The dynamic extents of all these values, one after another; tensor.dim asks for them, and is answered later.
static SmallVector<Value> extentsOf(OpBuilder &builder, ValueRange values) {
  SmallVector<Value> extents;
  for (Value value : values) {
    if (!hasDynamicExtents(value.getType()))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        extents.push_back(tensor::DimOp::create(builder, value.getLoc(), value, dim));
  }
  return extents;
}

// Says of each of `values` that its extents are the next ones of `extents`, for all who use it.
static void tieExtents(OpBuilder &builder, ValueRange values, ValueRange extents) {
  for (Value value : values) {
    if (!hasDynamicExtents(value.getType()))
      continue;
    int64_t count = cast<RankedTensorType>(value.getType()).getNumDynamicDims();
    auto tie = TensorTieShapeOp::create(builder, value.getLoc(), value.getType(), value, extents.take_front(count));
    value.replaceAllUsesExcept(tie, tie);
    extents = extents.drop_front(count);
  }
}

static void appendToTerminator(Operation *terminator, ValueRange values) {
  OpBuilder builder(terminator);
  SmallVector<Value> extents = extentsOf(builder, values);
  terminator->insertOperands(terminator->getNumOperands(), extents);
}

static SmallVector<Type> withIndices(TypeRange types, size_t count, MLIRContext *context) {
  SmallVector<Type> all(types);
  all.append(count, IndexType::get(context));
  return all;
}

static size_t countExtents(TypeRange types) {
  size_t count = 0;
  for (Type type : types)
    if (hasDynamicExtents(type))
      count += cast<RankedTensorType>(type).getNumDynamicDims();
  return count;
}

// Arguments for the extents of a block's tensors, and the ties.
static void addExtentArguments(Block &block, size_t first) {
  SmallVector<Value> tensors(block.getArguments().drop_front(first));
  Location loc = block.getParentOp()->getLoc();
  SmallVector<Value> extents;
  for (size_t i = 0, count = countExtents(ValueRange(tensors).getTypes()); i < count; ++i)
    extents.push_back(block.addArgument(IndexType::get(block.getParentOp()->getContext()), loc));
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  tieExtents(builder, tensors, extents);
}

// Puts `made`, which has more results, in the place of `op`.
static void replace(Operation *op, Operation *made) {
  size_t count = op->getNumResults();
  for (auto [from, to] : llvm::zip(op->getResults(), made->getResults().take_front(count)))
    from.replaceAllUsesWith(to);
  op->erase();
  OpBuilder builder(made->getContext());
  builder.setInsertionPointAfter(made);
  tieExtents(builder, made->getResults().take_front(count), made->getResults().drop_front(count));
}

static void carry(scf::ForOp loop) {
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  llvm::append_range(inits, extentsOf(builder, loop.getInitArgs()));
  auto made = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                 inits, nullptr, loop.getUnsignedCmp());
  made->setAttrs(loop->getAttrs());
  made.getRegion().takeBody(loop.getRegion());
  Operation *yield = made.getBody()->getTerminator();
  appendToTerminator(yield, SmallVector<Value>(yield->getOperands()));
  addExtentArguments(*made.getBody(), /*first=*/1);
  replace(loop, made);
}

static void carry(scf::WhileOp loop) {
  OpBuilder builder(loop);
  SmallVector<Value> inits(loop.getInits());
  llvm::append_range(inits, extentsOf(builder, loop.getInits()));
  SmallVector<Type> types = withIndices(loop.getResultTypes(), countExtents(loop.getResultTypes()), loop.getContext());
  auto made = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  appendToTerminator(made.getConditionOp(), SmallVector<Value>(made.getConditionOp().getArgs()));
  appendToTerminator(made.getYieldOp(), SmallVector<Value>(made.getYieldOp().getOperands()));
  addExtentArguments(*made.getBeforeBody(), 0);
  addExtentArguments(*made.getAfterBody(), 0);
  replace(loop, made);
}

static void carry(scf::IfOp branch) {
  OpBuilder builder(branch);
  SmallVector<Type> types =
      withIndices(branch.getResultTypes(), countExtents(branch.getResultTypes()), branch.getContext());
  auto made = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  for (Block *block : {made.thenBlock(), made.elseBlock()})
    appendToTerminator(block->getTerminator(), SmallVector<Value>(block->getTerminator()->getOperands()));
  replace(branch, made);
}

namespace {
class CarryExtentsPass : public impl::CarryExtentsPassBase<CarryExtentsPass> {
public:
  void runOnOperation() override {
    for (Operation &func : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface, Util::InitializerOp>(func))
        continue;
      SmallVector<Operation *> ops;
      func.walk([&](Operation *op) {
        if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) && (llvm::any_of(op->getResultTypes(), hasDynamicExtents) ||
                                                             llvm::any_of(op->getOperandTypes(), hasDynamicExtents)))
          ops.push_back(op);
      });
      for (Operation *op : ops)
        llvm::TypeSwitch<Operation *>(op).Case<scf::ForOp, scf::WhileOp, scf::IfOp>([](auto op) { carry(op); });
    }
  }
};
} // namespace
} // namespace kiln::Flow
