#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Stream/Transforms/ValueForwarding.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_MATERIALIZECOPIESPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

// Memory that this program has just written, or was given for good, and that nothing else can see.
static bool isFresh(Value value) {
  if (auto import = value.getDefiningOp<TensorImportOp>())
    return import.getDonated();
  return isa_and_nonnull<AsyncAllocaOp, AsyncSplatOp, AsyncCloneOp, AsyncDispatchOp, AsyncTransferOp>(
      value.getDefiningOp());
}

static bool stands(Operation *op, Operation *before) {
  for (Operation *place = before; place; place = place->getParentOp())
    if (Operation *ancestor = place->getBlock()->findAncestorOpInBlock(*op))
      return ancestor != place && ancestor->isBeforeInBlock(place);
  return false;
}

// Whether no turn comes to both uses of a value: they are in branches of one operation, or two selects with the same
// condition take the value where the other does not.
static bool areAlternatives(OpOperand &use, OpOperand &other) {
  auto select = dyn_cast<arith::SelectOp>(use.getOwner()), otherSelect = dyn_cast<arith::SelectOp>(other.getOwner());
  if (select && otherSelect && select.getCondition() == otherSelect.getCondition())
    return use.getOperandNumber() != other.getOperandNumber();
  return insideMutuallyExclusiveRegions(use.getOwner(), other.getOwner());
}

// Whether a value comes to the use once at most: no loop that the value is older than is around it.
static bool isReachedOnce(OpOperand &use) {
  Operation *user = use.getOwner();
  Block *home = use.get().getParentBlock();
  for (; user->getBlock() != home; user = user->getParentOp()) {
    auto branch = dyn_cast<RegionBranchOpInterface>(user->getParentOp());
    Region *region = user->getParentRegion();
    if (!branch || !region->hasOneBlock() || branch.isRepetitiveRegion(region->getRegionNumber()))
      return false;
  }
  return true;
}

namespace {
class MaterializeCopiesPass : public impl::MaterializeCopiesPassBase<MaterializeCopiesPass> {
public:
  void runOnOperation() override {
    ValueForwarding forwarding(getOperation());
    passed = &forwarding;
    owned.clear();
    updatedSizes.clear();
    inGlobals.clear();
    SmallVector<AsyncCloneOp> stored;
    walkHost([&](AsyncCloneOp op) {
      if (!op->use_empty() && llvm::all_of(op->getUsers(), llvm::IsaPred<Util::GlobalStoreOp>))
        stored.push_back(op);
    });
    for (AsyncCloneOp op : stored)
      storeItself(op);
    walkHost([&](RegionBranchOpInterface op) { hoistSizes(op); });
    findOwned();
    walkHost([&](LoopLikeOpInterface loop) { giveMemory(loop); });
    walkHost([&](Operation *op) {
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
        for (OpOperand &operand : op->getOpOperands())
          if (takesCopyOfConstant(operand))
            clone(operand, operand.get().getDefiningOp<AsyncConstantOp>().getSize(),
                  "control flow passes a constant on");
      }
    });
  }

private:
  // Executables are left out.
  template <typename Function> void walkHost(Function function) {
    for (Operation &op : *getOperation().getBody())
      if (!isa<ExecutableOp>(op))
        op.walk(function);
  }

  // Memory that this program has written and that only this value names.
  bool isOwn(Value value) const { return isFresh(value) || owned.contains(value); }

  // Control flow takes whole resources; a constant is a part of one.
  static bool takesCopyOfConstant(OpOperand &use) {
    return use.get().getDefiningOp<AsyncConstantOp>() && !isa_and_nonnull<StreamDialect>(use.getOwner()->getDialect());
  }

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
      ArrayRef<OpOperand *> sources = passed->sources(value);
      if (sources.empty()) {
        if (copy->getParentOfType<Util::FuncOp>())
          remark(copy, copy.getSize(),
                 value.getDefiningOp<AsyncConstantOp>() ? "a global holds memory of its own, and no part of constants"
                                                        : "a global holds memory of its own, and not the caller's");
        return;
      }
      for (OpOperand *from : sources)
        if (!takesCopyOfConstant(*from))
          values.insert(from->get());
    }
    inGlobals.insert(values.begin(), values.end());
    copy.replaceAllUsesWith(source);
    copy.erase();
  }

  // Sizes that are the same in each turn are known before the loop, and those that branches need are known before them.
  static void hoistSizes(RegionBranchOpInterface op) {
    auto isDefinedBefore = [&](Value value, Region *) {
      return !op->isAncestor(value.getParentRegion()->getParentOp());
    };
    moveLoopInvariantCode(
        llvm::to_vector(llvm::make_pointer_range(op->getRegions())), isDefinedBefore,
        [](Operation *inner, Region *) {
          return isa<arith::ConstantOp, arith::MulIOp>(inner) && inner->getResult(0).getType().isIndex();
        },
        [&](Operation *inner, Region *) { inner->moveBefore(op); });
  }

  // Finds which of the values that are passed on are memory of the program's own, that no other name is used for: where
  // each value that they may come from is so, too, and not needed any more. Each depends on others, as what one gets
  // may be what another had. So all are taken to be, and those that cannot be are taken out.
  void findOwned() {
    for (Value value : passed->passedOn())
      owned.insert(value);
    for (bool isChanged = true; isChanged;) {
      findUpdates();
      isChanged = false;
      for (Value value : passed->passedOn()) {
        bool staysOwned = llvm::all_of(passed->sources(value), [&](OpOperand *from) {
          return takesCopyOfConstant(*from) || movesOwn(*from) || mayCopyBefore(*from);
        });
        if (!staysOwned)
          isChanged |= owned.erase(value);
      }
    }
  }

  // Finds how large the values are that dispatches may update in place, whatever is copied before loops.
  void findUpdates() {
    llvm::MapVector<Value, Value> sizes;
    SmallVector<Value> found;
    auto add = [&](Value value, Value size) {
      // What a loop carries may be copied before it, if the size is known there.
      Value &known = sizes[value];
      if (known && !size.getParentRegion()->isProperAncestor(known.getParentRegion()))
        return;
      known = size;
      found.push_back(value);
    };
    updatedSizes.clear();
    walkHost([&](AsyncDispatchOp dispatch) {
      for (int64_t tied : dispatch.getTied())
        if (tied >= 0 && isLastUse(dispatch.getResourcesMutable()[tied]))
          add(dispatch.getResources()[tied], dispatch.getResourceSizes()[tied]);
    });
    while (!found.empty()) {
      Value value = found.pop_back_val();
      if (!owned.contains(value))
        continue;
      for (OpOperand *from : passed->sources(value))
        if (isLastUse(*from))
          add(from->get(), sizes.lookup(value));
    }
    updatedSizes = std::move(sizes);
  }

  bool movesOwn(OpOperand &use) const { return isOwn(use.get()) && isLastUse(use); }

  // The size of a value that a loop starts from, where the loop has it as its own and updates it: such a value is
  // copied before the loop if it is not the loop's to take.
  Value sizeOfCopyBefore(OpOperand &init) const {
    auto loop = dyn_cast<LoopLikeOpInterface>(init.getOwner());
    if (!loop)
      return {};
    for (Value target : passed->targets(init))
      if (Value size = updatedSizes.lookup(target);
          size && owned.contains(target) && loop.isDefinedOutsideOfLoop(size) && isa<BlockArgument>(target))
        return size;
    return {};
  }

  bool mayCopyBefore(OpOperand &init) const { return static_cast<bool>(sizeOfCopyBefore(init)); }

  // Whether a use that stands before an update, or before its value is passed on, leaves the memory to that: it reads,
  // or it gets a copy because of what comes later.
  bool leavesMemory(OpOperand &use) const {
    return isa<AsyncCloneOp, AsyncLoadOp, AsyncTransferOp, AsyncDispatchOp>(use.getOwner()) || mayCopyBefore(use);
  }

  // Whether nothing needs the value any more after this use.
  bool isLastUse(OpOperand &use) const {
    return isReachedOnce(use) && llvm::all_of(use.get().getUses(), [&](OpOperand &other) {
             return &other == &use || (leavesMemory(other) && stands(other.getOwner(), /*before=*/use.getOwner())) ||
                    areAlternatives(use, other);
           });
  }

  // What a loop carries and updates has memory of its own, which goes from one turn to the next: it is taken over from
  // before the loop, where nothing needs it any more, or else copied there once.
  void giveMemory(LoopLikeOpInterface loop) {
    for (OpOperand &init : loop.getInitsMutable())
      if (Value size = sizeOfCopyBefore(init); size && !movesOwn(init))
        clone(init, size, "a loop updates a tensor that others use, too");
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
    if (!isOwn(use.get()))
      clone(use, size,
            passed->sources(use.get()).empty() ? "a dispatch updates a tensor that is not the program's own"
                                               : "a dispatch updates a tensor that control flow may share with others");
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

  const ValueForwarding *passed = nullptr;
  llvm::DenseSet<Value> owned; // of those that are passed on
  llvm::MapVector<Value, Value> updatedSizes;
  llvm::DenseSet<Value> inGlobals;
};
} // namespace
} // namespace kiln::Stream
