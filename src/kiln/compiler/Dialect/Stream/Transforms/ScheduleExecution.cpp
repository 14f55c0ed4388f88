#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"
#include "kiln/compiler/Dialect/Stream/Transforms/SubmissionParts.h"
#include "kiln/compiler/Dialect/Stream/Transforms/TurnsAhead.h"
#include "kiln/compiler/Dialect/Stream/Transforms/ValueForwarding.h"
#include "kiln/compiler/Interfaces/ArenaPlan.h"

#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_SCHEDULEEXECUTIONPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

namespace {

// A range of a resource.
struct Span {
  Value resource, offset, size;
};

// Memory that one or more values share, as each updates the one before it in place.
struct Storage {
  explicit Storage(Value size) : size(size) {}

  Value size;
  bool isExternal = false;      // leaves the program
  bool escapes = false;         // is seen outside of the submission
  bool isEarlier = false;       // an earlier submission has allocated it
  unsigned first = 0, last = 0; // the steps of the submission at which it is alive
  Span span;                    // where it is, once that is decided
};

// A resource that a global holds, which an initializer sets before everything that may load it.
void makeGlobal(mlir::ModuleOp module, StringRef name, HAL::AffinityAttr place,
                llvm::function_ref<Operation *(OpBuilder &, Location, Type)> makeResource) {
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  Location loc = module.getLoc();
  Type type = ResourceType::get(module.getContext());
  Util::GlobalOp::create(builder, loc, name, type);
  auto initializer = Util::InitializerOp::create(builder, loc);
  builder.setInsertionPointToStart(&initializer.getBody().emplaceBlock());
  Operation *resource = makeResource(builder, loc, type);
  HAL::setPlace(resource, place);
  Util::GlobalStoreOp::create(builder, loc, resource->getResult(0), name);
  Util::ReturnOp::create(builder, loc);
}

// The constants of a module that a device uses, in one resource.
class ConstantPool {
public:
  int64_t add(ElementsAttr value) {
    auto [it, isNew] = known.try_emplace(value, llvm::alignTo(size, kArenaAlignment));
    if (isNew) {
      values.push_back(value);
      offsets.push_back(it->second);
      int64_t bits = value.getElementType().isIndex() ? 64 : value.getElementType().getIntOrFloatBitWidth();
      size = it->second + value.getNumElements() * llvm::divideCeil(bits, 8);
    }
    return it->second;
  }

  void materialize(mlir::ModuleOp module, HAL::AffinityAttr place) {
    makeGlobal(module, nameOn(HAL::deviceOf(place)), place, [&](OpBuilder &builder, Location loc, Type type) {
      return ResourceConstantsOp::create(builder, loc, type, builder.getArrayAttr(values),
                                         builder.getDenseI64ArrayAttr(offsets), builder.getI64IntegerAttr(size));
    });
  }

  static std::string nameOn(int64_t device) {
    return device == 0 ? "__constants" : "__constants_" + std::to_string(device);
  }

private:
  DenseMap<Attribute, int64_t> known;
  SmallVector<Attribute> values;
  SmallVector<int64_t> offsets;
  int64_t size = 0;
};

// The parameters that a device uses, each in a resource of its own, which an initializer of its own loads. `module` is
// where they are put.
class ParameterPool {
public:
  // The global that holds it.
  StringRef add(Flow::NamedParameterAttr parameter, int64_t bytes, HAL::AffinityAttr place, mlir::ModuleOp module) {
    // Of one size it is the same also where it is read as another type.
    std::string &name = names[{parameter.getScopeName(), parameter.getKey().getValue(), bytes}];
    if (!name.empty())
      return name;
    auto device = HAL::deviceOf(place);
    name = ("__parameter_" + Twine(names.size() - 1)).str() + (device == 0 ? "" : "_" + std::to_string(device));
    makeGlobal(module, name, place, [&](OpBuilder &builder, Location loc, Type type) {
      Value size = arith::ConstantIndexOp::create(builder, loc, bytes);
      return ResourceParameterOp::create(builder, loc, type, parameter.getScopeName(), parameter.getKey(), size);
    });
    return name;
  }

private:
  std::map<std::tuple<StringRef, StringRef, int64_t>, std::string> names;
};

// By device, and with a place on it.
using ConstantPools = std::map<int64_t, std::pair<HAL::AffinityAttr, ConstantPool>>;

// Where the constants of one function are, in all of its blocks.
class FunctionConstants {
public:
  FunctionConstants(Operation *func, ConstantPools &pools, std::map<int64_t, ParameterPool> &parameters) {
    func->walk([&](AsyncConstantOp op) {
      OpBuilder builder(op);
      HAL::AffinityAttr placeOfOp = HAL::placeOf(op);
      int64_t device = HAL::deviceOf(placeOfOp), offset = 0;
      std::string global;
      if (auto parameter = dyn_cast<Flow::NamedParameterAttr>(op.getValue())) {
        auto type = cast<RankedTensorType>(parameter.getType());
        int64_t bytes = llvm::divideCeil(type.getNumElements() * HAL::packedBitWidth(type), 8);
        global = parameters[device].add(parameter, bytes, placeOfOp, func->getParentOfType<mlir::ModuleOp>());
      } else {
        auto &[place, pool] = pools[device];
        place = placeOfOp;
        offset = pool.add(cast<ElementsAttr>(op.getValue()));
        global = ConstantPool::nameOn(device);
      }
      Value resource = Util::GlobalLoadOp::create(builder, op.getLoc(), op.getType(), global);
      known[op] = {resource, arith::ConstantIndexOp::create(builder, op.getLoc(), offset), op.getSize()};
      ops.push_back(op);
    });
  }

  const DenseMap<Value, Span> &spans() const { return known; }

  // When all who use them have been scheduled.
  void erase() {
    for (AsyncConstantOp op : ops)
      op.erase();
  }

private:
  DenseMap<Value, Span> known;
  SmallVector<AsyncConstantOp> ops;
};

// Schedules one block, and those in it. Work is collected until the host needs some of it; then it becomes a
// submission. Loops pass on what the host has not waited for, and branches in them. Before other control flow that
// holds work of its own the host waits, and at the end of its blocks.
class BlockScheduler {
public:
  BlockScheduler(Block &block, const DenseMap<Value, Span> &constants, const ValueForwarding &forwarding,
                 const TurnsAhead &ahead = {})
      : block(block), ahead(ahead), spans(constants), constants(constants), forwarding(forwarding) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<AsyncAllocaOp, AsyncSplatOp, AsyncCloneOp, AsyncDispatchOp>(op)) {
        pending.insert(&op);
      } else if (isa<TensorExportOp>(op)) {
        // Needs where its value is, not what it holds: the submission goes on.
        exports.push_back(&op);
      } else if (auto load = dyn_cast<AsyncLoadOp>(op)) {
        submit(&op);
        await(&op);
        convertLoad(load);
      } else if (auto transfer = dyn_cast<AsyncTransferOp>(op)) {
        submit(&op);
        await(&op);
        convertTransfer(transfer);
      } else if (op.getNumRegions() > 0 && hasDeviceWork(&op)) {
        submit(&op);
        if (failed(carriesTimepoint(&op) ? scheduleAhead(&op) : scheduleInside(&op)))
          return failure();
      } else if (op.hasTrait<OpTrait::IsTerminator>() && carriesTimepoint(&op)) {
        submit(&op);
        setLastOperand(&op);
      } else if (op.hasTrait<OpTrait::IsTerminator>() || isa_and_nonnull<Check::CheckDialect>(op.getDialect())) {
        submit(&op);
        await(&op);
      } else if (usesPending(&op)) {
        submit(&op);
      }
    }
    // Users of erased values have been rewritten, last first.
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    return success();
  }

private:
  LogicalResult scheduleInside(Operation *op) {
    await(op);
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        if (failed(BlockScheduler(inner, constants, forwarding).run()))
          return failure();
    return success();
  }

  // Schedules a loop or a branch so that the host does not wait for all that came before.
  LogicalResult scheduleAhead(Operation *op) {
    if (!isa<scf::IfOp>(op))
      setLastOperand(op);
    for (Region &region : op->getRegions()) {
      Block &inner = region.front();
      TurnsAhead ofBlock = {isa<scf::IfOp>(op) ? ahead.timepoint : inner.getArguments().back(), true};
      if (failed(BlockScheduler(inner, constants, forwarding, ofBlock).run()))
        return failure();
    }
    ahead = {op->getResults().back(), true};
    return success();
  }

  // What a loop begins with, or a block of control flow passes on. Where the host has waited for all, what stands there
  // is reached.
  void setLastOperand(Operation *op) {
    if (ahead.timepoint)
      op->setOperand(op->getNumOperands() - 1, ahead.timepoint);
  }

  static Value timepointOr(OpBuilder &builder, Location loc, Value timepoint) {
    return timepoint ? timepoint
                     : TimepointImmediateOp::create(builder, loc, TimepointType::get(builder.getContext())).getResult();
  }

  // It, or what is in it.
  bool usesPending(Operation *op) {
    WalkResult result = op->walk([&](Operation *inner) {
      bool uses = llvm::any_of(inner->getOperands(), [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return producer && (pending.contains(producer) || llvm::is_contained(exports, producer));
      });
      return uses ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  Span spanOf(Value value, Value size) {
    auto it = spans.find(value);
    if (it != spans.end())
      return it->second;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    return spans[value] = {value, arith::ConstantIndexOp::create(builder, value.getLoc(), 0), size};
  }

  void convertLoad(AsyncLoadOp load) {
    OpBuilder builder(load);
    Value resource = load.getSource(), offset = load.getOffset();
    if (auto it = spans.find(resource); it != spans.end()) {
      resource = it->second.resource;
      offset = arith::AddIOp::create(builder, load.getLoc(), it->second.offset, offset);
    }
    load.replaceAllUsesWith(
        ResourceLoadOp::create(builder, load.getLoc(), load.getType(), resource, offset).getResult());
    dead.push_back(load);
  }

  void convertTransfer(AsyncTransferOp transfer) {
    OpBuilder builder(transfer);
    Span from = spanOf(transfer.getSource(), transfer.getSize());
    auto moved = ResourceTransferOp::create(builder, transfer.getLoc(), transfer.getType(), from.resource, from.offset,
                                            transfer.getSize(), transfer.getTarget());
    transfer.replaceAllUsesWith(moved.getResult());
    dead.push_back(transfer);
  }

  void await(Operation *before) {
    if (!ahead.timepoint)
      return;
    OpBuilder builder(before);
    TimepointAwaitOp::create(builder, before->getLoc(), ahead.timepoint);
    ahead.timepoint = {};
  }

  //===--- One submission
  //------------------------------------------------------------------------------------------===//

  // The size of the result of a pending operation.
  static Value sizeOfResult(OpResult result) {
    Operation *op = result.getOwner();
    if (auto dispatch = dyn_cast<AsyncDispatchOp>(op))
      return dispatch.getResultSizes()[result.getResultNumber()];
    return op->getOperands().back(); // all others have their size last
  }

  // Whether it is a result of the program, or control flow passes it on to become one.
  bool leavesProgram(Value value) const {
    llvm::SetVector<Value> names;
    names.insert(value);
    for (size_t i = 0; i < names.size(); ++i) {
      for (OpOperand &use : names[i].getUses()) {
        if (isa<TensorExportOp, Util::GlobalStoreOp>(use.getOwner()))
          return true;
        names.insert_range(forwarding.targets(use));
      }
    }
    return false;
  }

  // Gives each value its storage: a tied result continues its operand's.
  void assignStorage() {
    for (Operation *op : pending) {
      auto dispatch = dyn_cast<AsyncDispatchOp>(op);
      for (OpResult result : op->getResults()) {
        int64_t tied = dispatch ? dispatch.getTied()[result.getResultNumber()] : -1;
        unsigned index = storages.size();
        Value updated = tied >= 0 ? dispatch.getResources()[tied] : Value();
        if (auto known = storageOf.find(updated); updated && known != storageOf.end()) {
          index = known->second;
        } else {
          storages.emplace_back(sizeOfResult(result));
          storages.back().isEarlier = static_cast<bool>(updated);
          if (updated) {
            storages.back().span = spanOf(updated, storages.back().size);
            storageOf[updated] = index; // so that what still reads it comes first
          }
        }
        storageOf[result] = index;
        for (Operation *user : result.getUsers()) {
          if (pending.contains(user))
            continue;
          storages[index].escapes = true;
          storages[index].isExternal |= leavesProgram(result);
        }
      }
    }
  }

  // The step of each operation: one more than that of the last it depends on. What overwrites memory comes after all
  // that read it before.
  void assignSteps() {
    SmallVector<unsigned> lastWrite(storages.size(), 0), lastRead(storages.size(), 0);
    for (Operation *op : pending) {
      if (isa<AsyncAllocaOp>(op))
        continue;
      unsigned step = 1;
      for (Value operand : op->getOperands())
        if (auto it = storageOf.find(operand); it != storageOf.end())
          step = std::max(step, lastWrite[it->second] + 1);
      for (Value result : op->getResults()) {
        unsigned index = storageOf.lookup(result);
        step = std::max({step, lastWrite[index] + 1, lastRead[index] + 1});
      }
      steps[op] = step;
      lastStep = std::max(lastStep, step);
      auto touch = [&](unsigned index) {
        Storage &storage = storages[index];
        storage.first = storage.first == 0 ? step : std::min(storage.first, step);
        storage.last = std::max(storage.last, step);
      };
      for (Value operand : op->getOperands()) {
        if (auto it = storageOf.find(operand); it != storageOf.end()) {
          lastRead[it->second] = std::max(lastRead[it->second], step);
          touch(it->second);
        }
      }
      for (Value result : op->getResults()) {
        lastWrite[storageOf.lookup(result)] = step;
        touch(storageOf.lookup(result));
      }
    }
  }

  // Escaping values have memory of their own; the others share the arena.
  void allocate(OpBuilder &builder, Location loc) {
    Type type = ResourceType::get(builder.getContext());
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    SmallVector<ArenaValue> fixed, dynamic;
    SmallVector<Storage *> fixedStorages, dynamicStorages;
    for (Storage &storage : storages) {
      if (storage.isEarlier) {
        auto alloc = storage.span.resource.getDefiningOp<ResourceAllocOp>();
        if (alloc && storage.isExternal)
          alloc.setLifetime(Lifetime::External);
        continue;
      }
      if (storage.escapes) {
        Lifetime lifetime = storage.isExternal ? Lifetime::External : Lifetime::Transient;
        auto resource = ResourceAllocOp::create(builder, loc, type, lifetime, orderOfMemory(), storage.size);
        HAL::setPlace(resource, place);
        storage.span = {resource, zero, storage.size};
        continue;
      }
      if (storage.first == 0)
        continue; // nothing touches it
      APInt size;
      if (matchPattern(storage.size, m_ConstantInt(&size))) {
        fixed.push_back({size.getSExtValue(), storage.first, storage.last});
        fixedStorages.push_back(&storage);
      } else {
        dynamic.push_back({0, storage.first, storage.last});
        dynamicStorages.push_back(&storage);
      }
    }
    if (fixed.empty() && dynamic.empty())
      return;

    ArenaPlan plan = planArena(fixed);
    for (auto [storage, offset] : llvm::zip(fixedStorages, plan.offsets))
      storage->span.offset = arith::ConstantIndexOp::create(builder, loc, offset);
    Value arenaSize = arith::ConstantIndexOp::create(builder, loc, plan.size);
    // Slots follow, each as large as the largest value that it holds.
    SmallVector<unsigned> slots = assignSlots(dynamic);
    unsigned slotCount = slots.empty() ? 0 : *llvm::max_element(slots) + 1;
    for (unsigned slot = 0; slot < slotCount; ++slot) {
      Value slotSize;
      for (auto [storage, of] : llvm::zip(dynamicStorages, slots)) {
        if (of != slot)
          continue;
        storage->span.offset = arenaSize;
        slotSize = slotSize ? arith::MaxUIOp::create(builder, loc, slotSize, storage->size) : storage->size;
      }
      Value up = arith::ConstantIndexOp::create(builder, loc, kArenaAlignment - 1);
      Value mask = arith::ConstantIndexOp::create(builder, loc, -kArenaAlignment);
      Value rounded = arith::AndIOp::create(builder, loc, arith::AddIOp::create(builder, loc, slotSize, up), mask);
      arenaSize = arith::AddIOp::create(builder, loc, arenaSize, rounded);
    }
    auto alloc = ResourceAllocOp::create(builder, loc, type, Lifetime::Transient, orderOfMemory(), arenaSize);
    HAL::setPlace(alloc, place);
    arena = alloc;
    for (ArrayRef<Storage *> group : {ArrayRef(fixedStorages), ArrayRef(dynamicStorages)})
      for (Storage *storage : group)
        storage->span = {arena, storage->span.offset, storage->size};
    arenas[arena] = arenaSize;
  }

  // In a loop memory is for what follows earlier turns, so that the arena of one is that of the next.
  Value orderOfMemory() const { return ahead.isInLoop ? start : Value(); }

  // Turns what is pending into submissions before `before`: one for each place.
  void submit(Operation *before) {
    for (Operation *op : exports)
      op->moveBefore(before);
    if (pending.empty()) {
      exports.clear();
      return;
    }
    OpBuilder builder(exports.empty() ? before : exports.front());
    exports.clear();
    Location loc = pending.front()->getLoc();
    Value entry = ahead.timepoint;
    std::vector<SubmissionPart> parts = partsOf(pending.getArrayRef());
    SmallVector<Value> ends, last(parts.size());
    for (auto [i, part] : llvm::enumerate(parts)) {
      SmallVector<Value> waits;
      for (unsigned other : part.after) {
        waits.push_back(ends[other]);
        last[other] = {};
      }
      place = part.place;
      start = waits.empty() ? entry : join(builder, loc, waits);
      pending = std::move(part.ops);
      submitPart(builder, loc);
      ends.push_back(start);
      last[i] = start;
    }
    if (!ahead.isInLoop)
      ahead.timepoint = join(builder, loc, last);
    pending.clear();
  }

  void endTurn(OpBuilder &builder, Location loc) {
    auto end = TimepointEndTurnOp::create(builder, loc, start.getType(), timepointOr(builder, loc, ahead.timepoint),
                                          start, arena);
    HAL::setPlace(end, place);
    ahead.timepoint = end;
  }

  // A timepoint that is reached when all are. What is null is reached already.
  static Value join(OpBuilder &builder, Location loc, ArrayRef<Value> timepoints) {
    llvm::SetVector<Value> different(timepoints.begin(), timepoints.end());
    different.remove(Value());
    if (different.size() < 2)
      return different.empty() ? Value() : different.front();
    return TimepointJoinOp::create(builder, loc, TimepointType::get(builder.getContext()), different.getArrayRef());
  }

  // One submission, which waits for `start`; that is then when it has ended.
  void submitPart(OpBuilder &builder, Location loc) {
    storages.clear();
    storageOf.clear();
    steps.clear();
    lastStep = 0;
    arena = {};
    assignStorage();
    assignSteps();
    allocate(builder, loc);
    for (auto [value, index] : storageOf)
      spans[value] = storages[index].span;
    if (lastStep > 0)
      emitExecute(builder, loc);
    if (lastStep > 0 && ahead.isInLoop)
      endTurn(builder, loc);
    for (Operation *op : pending) {
      for (Value result : op->getResults()) {
        const Storage &storage = storages[storageOf.lookup(result)];
        if (storage.escapes)
          result.replaceUsesWithIf(storage.span.resource,
                                   [&](OpOperand &use) { return !pending.contains(use.getOwner()); });
      }
      dead.push_back(op);
    }
  }

  void emitExecute(OpBuilder &builder, Location loc) {
    // Everything that the commands name, found by emitting them into a region that still sees the outside.
    Value await = timepointOr(builder, loc, start);
    auto scratch = CmdConcurrentOp::create(builder, loc);
    Block &body = scratch.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    std::vector<SmallVector<Operation *, 1>> opsOfStep(lastStep + 1);
    for (Operation *op : pending)
      if (auto it = steps.find(op); it != steps.end())
        opsOfStep[it->second].push_back(op);
    for (ArrayRef<Operation *> ops : llvm::drop_begin(opsOfStep)) {
      OpBuilder target = inner;
      if (ops.size() > 1) {
        auto concurrent = CmdConcurrentOp::create(inner, loc);
        target.setInsertionPointToEnd(&concurrent.getBody().emplaceBlock());
      }
      for (Operation *op : ops)
        emitCommand(target, op);
    }

    llvm::SetVector<Value> resources, scalars;
    body.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (scratch->isAncestor(operand.getParentBlock()->getParentOp()))
          continue;
        if (isa<ResourceType>(operand.getType()))
          resources.insert(operand);
        else if (!def || !def->hasTrait<OpTrait::ConstantLike>())
          scalars.insert(operand);
      }
    });
    SmallVector<Value> sizes =
        llvm::map_to_vector(resources, [&](Value resource) { return sizeOfResource(builder, resource); });
    auto execute = CmdExecuteOp::create(builder, loc, TimepointType::get(builder.getContext()), await,
                                        resources.getArrayRef(), sizes, scalars.getArrayRef());
    Block &target = execute.getBody().emplaceBlock();
    IRMapping mapping;
    for (ArrayRef<Value> group : {resources.getArrayRef(), scalars.getArrayRef()})
      for (Value value : group)
        mapping.map(value, target.addArgument(value.getType(), loc));
    // Constants move in, so that a submission without scalars is the same each time.
    OpBuilder bodyBuilder = OpBuilder::atBlockBegin(&target);
    body.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->hasTrait<OpTrait::ConstantLike>() && !scratch->isAncestor(def) && !mapping.contains(operand))
          mapping.map(operand, bodyBuilder.clone(*def)->getResult(0));
      }
    });
    for (Operation &op : body)
      bodyBuilder.clone(op, mapping);
    scratch.erase();
    HAL::setPlace(execute, place);
    start = execute.getResult();
  }

  Value sizeOfResource(OpBuilder &builder, Value resource) {
    if (Value size = arenas.lookup(resource))
      return size;
    for (auto &[value, span] : spans)
      if (span.resource == resource && !resource.getDefiningOp<Util::GlobalLoadOp>())
        return span.size;
    // All constants together; the runtime knows their size.
    return arith::ConstantIndexOp::create(builder, resource.getLoc(), -1);
  }

  void emitCommand(OpBuilder &builder, Operation *op) {
    Location loc = op->getLoc();
    if (auto splat = dyn_cast<AsyncSplatOp>(op)) {
      Span to = spans[splat.getResult()];
      auto [pattern, width] = patternOf(builder, loc, splat.getValue());
      CmdFillOp::create(builder, loc, to.resource, to.offset, to.size, pattern, width);
    } else if (auto clone = dyn_cast<AsyncCloneOp>(op)) {
      Span from = spanOf(clone.getSource(), clone.getSize()), to = spans[clone.getResult()];
      CmdCopyOp::create(builder, loc, from.resource, from.offset, to.resource, to.offset, clone.getSize());
    } else {
      auto dispatch = cast<AsyncDispatchOp>(op);
      SmallVector<Value> resources, offsets, lengths;
      auto add = [&](const Span &span) {
        resources.push_back(span.resource);
        offsets.push_back(span.offset);
        lengths.push_back(span.size);
      };
      for (auto [operand, size] : llvm::zip(dispatch.getResources(), dispatch.getResourceSizes())) {
        Span span = spanOf(operand, size);
        add({span.resource, span.offset, size});
      }
      for (auto [result, tied] : llvm::zip(dispatch.getResults(), dispatch.getTied()))
        if (tied < 0)
          add(spans[result]);
      CmdDispatchOp::create(builder, loc, dispatch.getEntry(), dispatch.getConstants(), resources, offsets, lengths);
    }
  }

  // A scalar as the bytes of a fill. Only constants and integers reach the device so; other scalars come as their bits.
  std::pair<Value, int32_t> patternOf(OpBuilder &builder, Location loc, Value value) {
    Type type = value.getType();
    int32_t width = type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant))) {
      APInt bits = isa<FloatAttr>(constant) ? cast<FloatAttr>(constant).getValue().bitcastToAPInt()
                                            : cast<IntegerAttr>(constant).getValue();
      return {arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), bits.getZExtValue()), width};
    }
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(type.getIntOrFloatBitWidth()), value);
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    else if (!value.getType().isInteger(64))
      value = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
    return {value, width};
  }

  Block &block;
  llvm::SetVector<Operation *> pending;
  SmallVector<Operation *> exports, dead;
  TurnsAhead ahead;
  DenseMap<Value, Span> spans;
  const DenseMap<Value, Span> &constants;
  const ValueForwarding &forwarding;
  DenseMap<Value, Value> arenas;
  // Of the submission that is being made.
  HAL::AffinityAttr place; // null where it is the first device's
  Value start;             // what it waits for; null where that is nothing
  SmallVector<Storage> storages;
  llvm::MapVector<Value, unsigned> storageOf;
  DenseMap<Operation *, unsigned> steps;
  unsigned lastStep = 0;
  Value arena; // null where it needs none
};

class ScheduleExecutionPass : public impl::ScheduleExecutionPassBase<ScheduleExecutionPass> {
public:
  void runOnOperation() override {
    ConstantPools constants;
    std::map<int64_t, ParameterPool> parameters;
    // First of all, as forwarding holds while operations keep their places.
    for (Operation &op : *getOperation().getBody())
      if (isa<Util::FuncOp, Util::InitializerOp>(op))
        for (Block &block : op.getRegion(0))
          carryTimepoints(block);
    ValueForwarding forwarding(getOperation());
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      if (!isa<Util::FuncOp, Util::InitializerOp>(op))
        continue;
      FunctionConstants located(&op, constants, parameters);
      for (Block &block : op.getRegion(0))
        if (failed(BlockScheduler(block, located.spans(), forwarding).run()))
          return signalPassFailure();
      located.erase();
    }
    for (auto &[device, pool] : constants)
      pool.second.materialize(getOperation(), pool.first);
  }
};
} // namespace
} // namespace kiln::Stream
