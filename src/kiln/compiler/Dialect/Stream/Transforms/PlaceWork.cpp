#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_PLACEWORKPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

// Made where it is used.
static bool isPlaceless(Operation *op) {
  return isa_and_nonnull<AsyncConstantOp, AsyncSplatOp, AsyncAllocaOp>(op);
}

namespace {
class PlaceWorkPass : public impl::PlaceWorkPassBase<PlaceWorkPass> {
public:
  void runOnOperation() override {
    SmallVector<AsyncTransferOp> transfers;
    WalkResult checked = getOperation()->walk([&](AsyncTransferOp op) {
      auto target = dyn_cast<HAL::AffinityAttr>(op.getTarget());
      if (!target || !target.getDeviceIndex()) {
        op.emitError() << "transfers to " << op.getTarget() << ", which is no device of a session";
        return WalkResult::interrupt();
      }
      transfers.push_back(op);
      return WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    if (transfers.empty())
      return;
    SmallVector<AsyncDispatchOp> dispatches;
    getOperation()->walk<WalkOrder::PreOrder>([&](AsyncDispatchOp op) { dispatches.push_back(op); });
    for (AsyncDispatchOp dispatch : dispatches)
      HAL::setPlace(dispatch, choosePlace(dispatch));
    for (AsyncDispatchOp dispatch : dispatches)
      for (auto [operand, size] : llvm::zip(dispatch.getResourcesMutable(), dispatch.getResourceSizes()))
        bring(operand, size, HAL::placeOf(dispatch));
    for (AsyncTransferOp transfer : transfers)
      elide(transfer);
    llvm::SmallPtrSet<Operation *, 8> copied;
    for (const auto &entry : copies)
      copied.insert(entry.first.first);
    for (Operation *op : copied)
      if (op->use_empty())
        op->erase();
    copies.clear();
    checked = getOperation()->walk([&](Operation *op) { return WalkResult(checkOperands(op)); });
    if (checked.wasInterrupted())
      signalPassFailure();
  }

private:
  // Of what has one; nothing for what may be anywhere.
  static std::optional<HAL::AffinityAttr> placeOfValue(Value value) {
    Operation *op = value.getDefiningOp();
    if (isPlaceless(op))
      return std::nullopt;
    if (auto transfer = dyn_cast_if_present<AsyncTransferOp>(op))
      return HAL::normalized(cast<HAL::AffinityAttr>(transfer.getTarget()));
    // What control flow, globals and callers give lies on the first device.
    return op && isa<AsyncDispatchOp>(op) ? HAL::placeOf(op) : HAL::AffinityAttr();
  }

  // Where its operands are; one that has none in any place runs where all that use it do.
  static HAL::AffinityAttr choosePlace(AsyncDispatchOp dispatch) {
    for (Value operand : dispatch.getResources())
      if (auto place = placeOfValue(operand))
        return *place;
    std::optional<HAL::AffinityAttr> ofUsers;
    for (Operation *user : dispatch->getUsers()) {
      HAL::AffinityAttr place;
      if (auto next = dyn_cast<AsyncDispatchOp>(user))
        for (Value operand : llvm::reverse(next.getResources()))
          if (auto other = operand.getDefiningOp() == dispatch ? std::nullopt : placeOfValue(operand))
            place = *other;
      if (ofUsers && *ofUsers != place)
        return {};
      ofUsers = place;
    }
    return ofUsers.value_or(HAL::AffinityAttr());
  }

  void bring(OpOperand &operand, Value size, HAL::AffinityAttr place) {
    OpBuilder builder(operand.getOwner());
    std::optional<HAL::AffinityAttr> now = placeOfValue(operand.get());
    if (!now)
      operand.set(madeAt(operand.get(), place));
    else if (HAL::deviceOf(*now) != HAL::deviceOf(place))
      operand.set(AsyncTransferOp::create(builder, operand.getOwner()->getLoc(), operand.get().getType(), operand.get(),
                                          size, place ? place : firstDevice(builder)));
  }

  static HAL::AffinityAttr firstDevice(OpBuilder &builder) {
    return HAL::AffinityAttr::get(builder.getContext(), FlatSymbolRefAttr::get(builder.getContext(), "__device_0"), {});
  }

  // The same value, made there.
  Value madeAt(Value value, HAL::AffinityAttr place) {
    Operation *op = value.getDefiningOp();
    if (HAL::placeOf(op) == place)
      return value;
    Operation *&made = copies[{op, place}];
    if (!made) {
      OpBuilder builder(op);
      made = builder.clone(*op);
      HAL::setPlace(made, place);
    }
    return made->getResult(0);
  }

  // Between queues of a device there is nothing to move.
  void elide(AsyncTransferOp transfer) {
    HAL::AffinityAttr target = HAL::normalized(cast<HAL::AffinityAttr>(transfer.getTarget()));
    std::optional<HAL::AffinityAttr> source = placeOfValue(transfer.getSource());
    if (source && HAL::deviceOf(*source) != HAL::deviceOf(target))
      return;
    transfer.replaceAllUsesWith(source ? transfer.getSource() : madeAt(transfer.getSource(), target));
    transfer.erase();
  }

  static LogicalResult checkOperands(Operation *op) {
    if (isa<AsyncDispatchOp, AsyncTransferOp, AsyncLoadOp>(op))
      return success();
    for (Value operand : op->getOperands())
      if (isa<ResourceType>(operand.getType()))
        if (auto place = placeOfValue(operand); place && HAL::deviceOf(*place) != 0)
          return op->emitError() << "'" << op->getName() << "' is given what lies on device " << HAL::deviceOf(*place)
                                 << "; only what was transferred to the first device leaves the work of its own";
    return success();
  }

  DenseMap<std::pair<Operation *, Attribute>, Operation *> copies;
};
} // namespace
} // namespace kiln::Stream
