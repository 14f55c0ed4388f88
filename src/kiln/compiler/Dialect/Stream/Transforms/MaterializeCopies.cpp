#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_MATERIALIZECOPIESPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

// Memory that this program has just written and that nothing else can see.
static bool isFresh(Value value) {
  return isa_and_nonnull<AsyncAllocaOp, AsyncSplatOp, AsyncCloneOp, AsyncDispatchOp, AsyncTransferOp>(
      value.getDefiningOp());
}

// Whether the use reads memory, is done before what follows it in its block overwrites that, and lets nothing else see
// it.
static bool onlyReads(OpOperand &use) {
  auto dispatch = dyn_cast<AsyncDispatchOp>(use.getOwner());
  if (!dispatch)
    return isa<AsyncCloneOp, AsyncLoadOp, AsyncTransferOp>(use.getOwner());
  MutableOperandRange resources = dispatch.getResourcesMutable();
  return llvm::none_of(dispatch.getTied(), [&](int64_t tied) { return tied >= 0 && &resources[tied] == &use; });
}

// Whether all other uses of the value read it, and stand before this one.
static bool isLastUse(OpOperand &use) {
  Operation *user = use.getOwner();
  return llvm::all_of(use.get().getUses(), [&](OpOperand &other) {
    if (&other == &use)
      return true;
    Operation *place = user->getBlock()->findAncestorOpInBlock(*other.getOwner());
    return place && place->isBeforeInBlock(user) && onlyReads(other);
  });
}

// The values that control flow may give `value` of: none where it comes from elsewhere.
static SmallVector<Value> valuesBehind(Value value) {
  if (auto select = value.getDefiningOp<arith::SelectOp>())
    return {select.getTrueValue(), select.getFalseValue()};
  if (auto barrier = value.getDefiningOp<Util::OptimizationBarrierOp>())
    return {barrier.getOperand(cast<OpResult>(value).getResultNumber())};
  if (auto choice = value.getDefiningOp<scf::IfOp>()) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    return {choice.thenYield().getOperand(index), choice.elseYield().getOperand(index)};
  }
  auto arg = dyn_cast<BlockArgument>(value);
  unsigned index = arg ? arg.getArgNumber() : cast<OpResult>(value).getResultNumber();
  Operation *op = arg ? arg.getOwner()->getParentOp() : value.getDefiningOp();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    index -= arg ? 1 : 0; // the first argument is the index
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (arg && arg.getOwner() == loop.getBeforeBody())
      return {loop.getInits()[index], loop.getYieldOp().getOperand(index)};
    return {loop.getConditionOp().getArgs()[index]};
  }
  return {};
}

namespace {
class MaterializeCopiesPass : public impl::MaterializeCopiesPassBase<MaterializeCopiesPass> {
public:
  void runOnOperation() override {
    ofLoops.clear();
    inGlobals.clear();
    SmallVector<AsyncCloneOp> stored;
    getOperation().walk([&](AsyncCloneOp op) {
      if (!op->use_empty() && llvm::all_of(op->getUsers(), llvm::IsaPred<Util::GlobalStoreOp>))
        stored.push_back(op);
    });
    for (AsyncCloneOp op : stored)
      storeItself(op);
    getOperation().walk([&](LoopLikeOpInterface loop) { hoistSizes(loop); });
    getOperation().walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        giveMemory(carriedBy(loop));
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        giveMemory(carriedBy(loop));
    });
    getOperation().walk([&](Operation *op) {
      if (auto dispatch = dyn_cast<AsyncDispatchOp>(op)) {
        MutableOperandRange resources = dispatch.getResourcesMutable();
        for (int64_t tied : dispatch.getTied())
          if (tied >= 0)
            own(resources[tied], dispatch.getResourceSizes()[tied]);
      } else if (auto exportOp = dyn_cast<TensorExportOp>(op)) {
        if (!mayLeave(exportOp.getSourceMutable()))
          clone(exportOp.getSourceMutable(), exportOp.getSize(),
                "a result of the program is memory of its own, which nothing else shares");
      } else if (!isa<AsyncCloneOp, AsyncLoadOp>(op)) {
        // Control flow takes whole resources; a constant is a part of one.
        for (OpOperand &operand : op->getOpOperands())
          if (auto constant = operand.get().getDefiningOp<AsyncConstantOp>();
              constant && !isa_and_nonnull<StreamDialect>(op->getDialect()))
            clone(operand, constant.getSize(), "control flow passes a constant on");
      }
    });
  }

private:
  // Memory that this program has written and that only this value names.
  bool isOwn(Value value) const { return isFresh(value) || ofLoops.contains(value); }

  // What a global holds is never written again. So it may be memory that the program has written, or that a global
  // holds already: then the copy that is stored goes away.
  void storeItself(AsyncCloneOp copy) {
    Value source = copy.getSource();
    llvm::SetVector<Value> values;
    values.insert(source);
    for (size_t i = 0; i < values.size(); ++i) {
      Value value = values[i];
      if (isFresh(value) || value.getDefiningOp<Util::GlobalLoadOp>())
        continue;
      // Control flow gets a copy of a constant.
      if (value != source && value.getDefiningOp<AsyncConstantOp>())
        continue;
      SmallVector<Value> behind = valuesBehind(value);
      if (behind.empty()) {
        if (copy->getParentOfType<Util::FuncOp>())
          remark(copy, copy.getSize(),
                 value.getDefiningOp<AsyncConstantOp>() ? "a global holds memory of its own, and no part of constants"
                                                        : "a global holds memory of its own, and not the caller's");
        return;
      }
      values.insert(behind.begin(), behind.end());
    }
    inGlobals.insert(values.begin(), values.end());
    copy.replaceAllUsesWith(source);
    copy.erase();
  }

  // A value that a loop carries, as one of its blocks gets it.
  struct Carried {
    BlockArgument arg;
    OpOperand *from; // of the terminator that passes it on to this block
    OpOperand *init; // of the loop, where this block is its first
    Value result;    // of the loop, where what this block would get leaves it
    bool isUpdated = false;
    Value size = {}; // where it is known before the loop
  };

  static SmallVector<Carried> carriedBy(scf::ForOp loop) {
    SmallVector<Carried> all;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      all.push_back({loop.getRegionIterArg(i), &loop.getBody()->getTerminator()->getOpOperand(i),
                     &loop.getInitArgsMutable()[i], loop.getResult(i)});
    return all;
  }

  static SmallVector<Carried> carriedBy(scf::WhileOp loop) {
    SmallVector<Carried> all;
    for (auto [i, arg] : llvm::enumerate(loop.getBeforeArguments()))
      all.push_back({arg, &loop.getYieldOp()->getOpOperand(i), &loop.getInitsMutable()[i], Value()});
    for (auto [i, arg] : llvm::enumerate(loop.getAfterArguments()))
      all.push_back({arg, &loop.getConditionOp().getArgsMutable()[i], nullptr, loop.getResult(i)});
    return all;
  }

  // Sizes that are the same in each turn are known before the loop.
  static void hoistSizes(LoopLikeOpInterface loop) {
    moveLoopInvariantCode(
        loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [](Operation *op, Region *) {
          return isa<arith::ConstantOp, arith::MulIOp>(op) && op->getResult(0).getType().isIndex();
        },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  }

  // Finds out which values a dispatch updates, in the block that gets them or in the other one, and how large they are.
  static void findUpdates(MutableArrayRef<Carried> all) {
    for (Carried &carried : all) {
      for (OpOperand &use : carried.arg.getUses()) {
        auto dispatch = dyn_cast<AsyncDispatchOp>(use.getOwner());
        if (!dispatch || onlyReads(use) || dispatch->getBlock() != carried.arg.getOwner() || !isLastUse(use))
          continue;
        carried.isUpdated = true;
        unsigned place = use.getOperandNumber() - dispatch.getResourcesMutable()[0].getOperandNumber();
        Value size = dispatch.getResourceSizes()[place];
        if (cast<LoopLikeOpInterface>(carried.arg.getOwner()->getParentOp()).isDefinedOutsideOfLoop(size))
          carried.size = size;
      }
    }
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (const Carried &next : all)
        for (Carried &carried : all)
          if (next.isUpdated && !carried.isUpdated && next.from->get() == carried.arg) {
            carried.isUpdated = isChanged = true;
            carried.size = next.size;
          }
    }
  }

  bool isOwnInBlockOf(OpOperand &use) const {
    return isOwn(use.get()) && use.get().getParentBlock() == use.getOwner()->getBlock() && isLastUse(use);
  }

  // What a loop carries and updates has memory of its own, which goes from one turn to the next: it is taken over from
  // before the loop, where nothing needs it any more, or else copied there once.
  void giveMemory(SmallVector<Carried> all) {
    findUpdates(all);
    for (const Carried &carried : all)
      ofLoops.insert(carried.arg);
    // Each depends on the others: what one gets may be what another had.
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      llvm::erase_if(all, [&](const Carried &carried) {
        // What changes its size is copied in each turn, where its size is known.
        bool getsOwn =
            isOwnInBlockOf(*carried.from) && (!carried.init || carried.size || isOwnInBlockOf(*carried.init));
        if (!getsOwn)
          isChanged |= ofLoops.erase(carried.arg);
        return !getsOwn;
      });
    }
    for (const Carried &carried : all) {
      if (carried.result)
        ofLoops.insert(carried.result);
      if (!carried.init || isOwnInBlockOf(*carried.init))
        continue;
      clone(*carried.init, carried.size, "a loop updates a tensor that others use, too");
    }
  }

  // A result may have been read by others, who are done before the call is. But no other result, and no global, may be
  // the same memory: what the caller does to one must not be seen in the other.
  bool mayLeave(OpOperand &use) const {
    Value value = use.get();
    bool isShared = llvm::any_of(value.getUses(), [&](OpOperand &other) {
      return &other != &use && isa<TensorExportOp, Util::GlobalStoreOp>(other.getOwner());
    });
    return isOwn(value) && !isShared && !inGlobals.contains(value) &&
           value.getParentBlock() == use.getOwner()->getBlock();
  }

  void own(OpOperand &use, Value size) {
    Value value = use.get();
    bool sameBlock = value.getParentBlock() == use.getOwner()->getBlock();
    if (!isOwn(value) || !sameBlock)
      clone(use, size, "a dispatch updates a tensor that was not computed in the same block");
    else if (!isLastUse(use))
      clone(use, size, "a dispatch updates a tensor that is still needed");
  }

  void clone(OpOperand &use, Value size, StringRef reason) {
    Operation *user = use.getOwner();
    remark(user, size, reason);
    OpBuilder builder(user);
    auto copy = AsyncCloneOp::create(builder, user->getLoc(), use.get().getType(), use.get(), size);
    HAL::setPlace(copy, HAL::placeOf(user));
    use.set(copy);
  }

  void remark(Operation *user, Value size, StringRef reason) {
    auto function = user->getParentOfType<Util::FuncOp>();
    std::optional<int64_t> bytes = getConstantIntValue(size);
    std::string what = bytes ? std::to_string(*bytes) + " bytes" : "a tensor";
    StringRef when = user->getParentOfType<LoopLikeOpInterface>() ? "turn" : "call";
    Util::addRemark(getOperation(), Util::Cost::Copy, user->getLoc(), function ? function.getSymName() : "",
                    "copies " + what + " in each " + when + ": " + reason);
  }

  llvm::DenseSet<Value> ofLoops, inGlobals;
};
} // namespace
} // namespace kiln::Stream
