#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"
#include "kiln/compiler/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_PLACEOPSPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

static constexpr const char *kDefaultAffinity = "stream.affinity.default";

// Holds nothing that was computed: whoever uses it can make it.
static bool isPlaceless(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto fill = dyn_cast_if_present<linalg::FillOp>(op))
    return isPlaceless(fill.getDpsInits()[0]);
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

static bool becomesLoop(Operation *op) {
  return isa<StableHLO::SortOp, LinalgExt::ScanOp, LinalgExt::SortOp, LinalgExt::TopkOp, LinalgExt::TopkV2Op,
             LinalgExt::MapStoreOp, LinalgExt::ScatterOp>(op);
}

namespace {
class PlaceOpsPass : public impl::PlaceOpsPassBase<PlaceOpsPass> {
public:
  void runOnOperation() override {
    places.clear();
    bool hasPlaces = getOperation()->hasAttr(kDefaultAffinity);
    getOperation()->walk(
        [&](Operation *op) { hasPlaces |= op->hasAttr(HAL::kAffinity) || isa<Flow::TensorTransferOp>(op); });
    if (!hasPlaces)
      return;
    FailureOr<HAL::AffinityAttr> place = takePlace(getOperation(), kDefaultAffinity, HAL::AffinityAttr());
    for (Operation &op : *getOperation().getBody())
      if (isa<FunctionOpInterface>(op) && (failed(place) || failed(placeOps(&op, *place))))
        return signalPassFailure();
  }

private:
  // Removes the attribute. The first device, in any of its queues, is no place of its own.
  static FailureOr<HAL::AffinityAttr> takePlace(Operation *op, StringRef name, HAL::AffinityAttr otherwise) {
    Attribute attr = op->removeAttr(name);
    return attr ? normalize(op, attr) : FailureOr(otherwise);
  }

  static FailureOr<HAL::AffinityAttr> normalize(Operation *op, Attribute attr) {
    auto place = dyn_cast<HAL::AffinityAttr>(attr);
    if (auto promise = dyn_cast<HAL::PromiseAttr>(attr))
      place = HAL::AffinityAttr::get(op->getContext(), promise.getDevice(), promise.getQueues());
    if (!place)
      return op->emitError() << "'" << op->getName() << "' has an affinity that is none: " << attr
                             << "; write #hal.device.affinity<@__device_1>, or with queues <@__device_1, [0]>";
    if (!place.getDeviceIndex())
      return op->emitError() << "'" << op->getName() << "' has an affinity to " << place.getDevice()
                             << ", which is no device; they are @__device_0 and so on, in the order of --device";
    for (int64_t queue : place.getQueues())
      if (queue < 0 || queue > 63)
        return op->emitError() << "'" << op->getName() << "' has an affinity to queue " << queue
                               << "; queues have numbers from 0 to 63";
    return HAL::normalized(place);
  }

  // Those inside of `holder` that have no place of their own are at `place`.
  LogicalResult placeOps(Operation *holder, HAL::AffinityAttr place) {
    FailureOr<HAL::AffinityAttr> own = takePlace(holder, HAL::kAffinity, place);
    if (failed(own))
      return failure();
    for (Region &region : holder->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(block))
          if (failed(placeOp(&op, *own)))
            return failure();
    return success();
  }

  LogicalResult placeOp(Operation *op, HAL::AffinityAttr place) {
    if (auto transfer = dyn_cast<Flow::TensorTransferOp>(op)) {
      FailureOr<HAL::AffinityAttr> target = normalize(op, transfer.getTarget());
      if (failed(target))
        return failure();
      transfer.setTargetAttr(*target ? *target : firstDevice());
      places[transfer.getResult()] = *target;
      return success();
    }
    StringRef dialect = op->getName().getDialectNamespace();
    bool computes =
        llvm::is_contained({"arith", "math", "tensor", "linalg", "tosa", "stablehlo", "iree_linalg_ext"}, dialect) &&
        !op->hasTrait<OpTrait::IsTerminator>();
    bool hasBody = llvm::is_contained({"tensor", "linalg", "stablehlo", "iree_linalg_ext"}, dialect) &&
                   !isa<StableHLO::WhileOp>(op);
    bool isControlFlow = op->getNumRegions() > 0 && !hasBody;
    if (isControlFlow && failed(placeOps(op, place)))
      return failure();
    FailureOr<HAL::AffinityAttr> own = takePlace(op, HAL::kAffinity, place);
    if (failed(own))
      return failure();
    // The host reads memory wherever it is. What callers, globals and control flow have is the first device's.
    if (isa<tensor::DimOp, tensor::ExtractOp, StableHLO::ConstantOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      return success();
    HAL::AffinityAttr needed = computes && !isControlFlow ? *own : HAL::AffinityAttr();
    if (needed && becomesLoop(op))
      return op->emitError() << "'" << op->getName() << "' has an affinity to " << needed
                             << ", and becomes a loop of the host, whose tensors are the first device's; give it "
                                "#hal.device.affinity<@__device_0>";
    bool isGiven = false;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) && !isPlaceless(operand.get())) {
        bring(operand, needed);
        isGiven = true;
      }
    // What uses no tensor has nothing to say where it is: it is computed on the first device, and brought.
    for (Value result : op->getResults())
      if (needed && isGiven && isa<TensorType>(result.getType()))
        places[result] = needed;
    return success();
  }

  void bring(OpOperand &operand, HAL::AffinityAttr needed) {
    // The transfer of a constant says where what uses it is.
    if (places.lookup(operand.get()) == needed)
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(Flow::TensorTransferOp::create(builder, operand.getOwner()->getLoc(), operand.get().getType(),
                                               operand.get(), ValueRange(), needed ? needed : firstDevice()));
  }

  HAL::AffinityAttr firstDevice() {
    return HAL::AffinityAttr::get(&getContext(), FlatSymbolRefAttr::get(&getContext(), "__device_0"), {});
  }

  DenseMap<Value, HAL::AffinityAttr> places; // of what is not the first device's
};
} // namespace
} // namespace kiln
