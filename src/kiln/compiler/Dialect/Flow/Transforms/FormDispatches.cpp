#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/ElementwiseFusion.h"
#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"
#include "kiln/compiler/Dialect/Flow/Transforms/RowGroups.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Interfaces/ConvolutionLoops.h"
#include "kiln/compiler/Interfaces/InitUse.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

// Computed on the host or turned into a command of the device, not a launch.
static bool isDispatchable(Operation *op) {
  if (isa<linalg::FillOp>(op))
    return false;
  if (isa<linalg::LinalgOp>(op))
    return true;
  if (isa<tensor::EmptyOp, tensor::DimOp, tensor::RankOp, tensor::CastOp, tensor::ExtractOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::BitcastOp, tensor::ReshapeOp>(op))
    return false;
  return isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

// Cheap producers that each dispatch computes for itself.
static bool isCloneable(Operation *op) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return true;
  return op->hasTrait<OpTrait::ConstantLike>() && !isa<ShapedType>(op->getResult(0).getType());
}

// Whether the user of a cheap producer needs none of its memory: it starts from the value, or inserts it. What a
// generic reads of a fill is already folded in; another operation would have to lay out the whole tensor in each
// workgroup.
static bool takesClone(OpOperand &use) {
  // What a part is inserted into is memory of the device's, which the other parts go to as well.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner()))
    return insert.getDest() != use.get();
  auto type = dyn_cast<RankedTensorType>(use.get().getType());
  if (!type || (use.get().getDefiningOp<tensor::EmptyOp>() && type.hasStaticShape()))
    return true;
  // A workgroup fills its tiles only, which are not all of an output that the operation stores to in some places.
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.isDpsInit(&use) && (use.get().getDefiningOp<tensor::EmptyOp>() || reachesWholeResult(use));
}

static bool hasReduction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0;
}

// Whether `consumer` computes each element of its results from one element, at the same place, of `value`.
static bool isElementwiseConsumer(Operation *consumer, Value value) {
  auto generic = dyn_cast<linalg::GenericOp>(consumer);
  if (!generic || generic.getNumLoops() != generic.getNumParallelLoops() || generic.hasIndexSemantics())
    return false;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (operand.get() != value)
      continue;
    if (!generic.isDpsInput(&operand) || !generic.getMatchingIndexingMap(&operand).isIdentity())
      return false;
  }
  return llvm::all_of(generic.getDpsInitsMutable(),
                      [&](OpOperand &init) { return generic.getMatchingIndexingMap(&init).isIdentity(); });
}

// Whether `consumer` could compute what `producer` makes of one element, or what it has of one row, where it uses it:
// what is used again and again, as by a product, is better stored.
static bool couldFuse(linalg::LinalgOp producer, linalg::LinalgOp consumer, Value value) {
  SmallVector<unsigned> reductions;
  consumer.getReductionDims(reductions);
  if (reductions.empty())
    return true;
  return llvm::any_of(consumer.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = consumer.getMatchingIndexingMap(input);
    if (input->get() != value)
      return false;
    if (producer.getNumReductionLoops() == 0)
      return map.isPermutation();
    return llvm::none_of(reductions, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  });
}

// Whether `consumer` would compute `value` again for each of many results.
static bool isInputComputedAgain(linalg::LinalgOp consumer, Value value) {
  return llvm::any_of(consumer->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() == value && isComputedAgain(&operand, DispatchLimits());
  });
}

// The operation whose result `value` is, also in another shape.
static linalg::LinalgOp findProducer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto producer = dyn_cast<linalg::LinalgOp>(op))
      return producer;
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, TensorReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

// The same of the inputs that `value` is.
static std::optional<int64_t> countUses(linalg::LinalgOp consumer, Value value) {
  int64_t most = 1;
  for (OpOperand *input : consumer.getDpsInputOperands()) {
    if (input->get() != value)
      continue;
    std::optional<int64_t> uses = countUses(consumer, input);
    if (!uses)
      return std::nullopt;
    most = std::max(most, *uses);
  }
  return most;
}

// What an operation is called now, and where the user wrote it: most names have become that of the generic operation.
static std::string nameOf(Operation *op) {
  std::string name = "'" + op->getName().getStringRef().str() + "'";
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (const StringRef node = Util::nodeOf(op->getLoc()); !node.empty())
    return name + " of node '" + node.str() + "'";
  return place ? name + " of line " + std::to_string(place.getLine()) : name;
}
static std::string bytesOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return "a tensor";
  return std::to_string(type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8)) + " bytes";
}
// "in each call", or of an operation in a loop "in each turn".
static std::string howOften(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>() ? " in each turn" : " in each call";
}

// What a user is told of an operation that gets `value` through memory.
static std::string whyNotFused(linalg::LinalgOp producer, linalg::LinalgOp consumer, Value value) {
  std::string text = "stores the result of " + nameOf(producer) + " and loads it for " + nameOf(consumer) + ": ";
  llvm::SmallPtrSet<Operation *, 4> users(value.user_begin(), value.user_end());
  if (users.size() > 1)
    return text + std::to_string(users.size()) + " operations use it";
  if (value.getDefiningOp() != producer)
    return text + "it has another shape there";
  bool isInOrder = consumer.getNumReductionLoops() != 0 || isElementwiseConsumer(consumer, value);
  return text + (isInOrder ? "one dispatch cannot hold both" : "its elements are not used one by one, in their order");
}

// The same where a product gets it, which would compute an element again for each use.
static std::string whatIsStored(linalg::LinalgOp producer, linalg::LinalgOp consumer, Value value) {
  std::optional<int64_t> uses = countUses(consumer, value);
  return "stores the result of " + nameOf(producer) + ", " + bytesOf(value.getType()) + "," + howOften(producer) +
         " and loads it for " + nameOf(consumer) + ", which uses each element " +
         (!uses        ? "as often as only a call knows"
          : *uses == 1 ? "once"
                       : std::to_string(*uses) + " times");
}

// The operations that load what `copy`, a slice or padding, stores; none where something has to have it in memory, such
// as the caller or what updates it.
static llvm::SetVector<Operation *> findLoads(Operation *copy) {
  llvm::SetVector<Operation *> loads;
  SmallVector<Value> views{copy->getResult(0)};
  while (!views.empty()) {
    for (OpOperand &use : views.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto destination = dyn_cast<DestinationStyleOpInterface>(user);
      if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp, TensorReshapeOp>(user))
        views.push_back(user->getResult(0));
      else if (isDispatchable(user) && !(destination && destination.isDpsInit(&use)))
        loads.insert(user);
      else if (!isa<tensor::DimOp>(user))
        return {};
    }
  }
  return loads;
}

static std::string whatIsCopied(Operation *copy, ArrayRef<Operation *> loads) {
  std::string who =
      loads.size() == 1 ? nameOf(loads.front()) + " loads it" : std::to_string(loads.size()) + " operations load it";
  return "copies " + bytesOf(copy->getResult(0).getType()) + howOften(copy) + ": the result of " + nameOf(copy) +
         " is stored, and " + who;
}

namespace {
class FormDispatchesPass : public impl::FormDispatchesPassBase<FormDispatchesPass> {
public:
  explicit FormDispatchesPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    laysOutPadding = limits->laysOutPadding;
    keptRowBytes = limits->keptRowBytes;
    reassociates = limits->reassociates;
    for (Operation &op : *getOperation().getBody()) {
      if (!isa<FunctionOpInterface, Util::InitializerOp>(op))
        continue;
      if (failed(resolveDims(&op)))
        return signalPassFailure();
      // Blocks of loops too; the list is made first, as regions are added to them.
      SmallVector<Block *> blocks;
      op.walk([&](Block *block) {
        if (!isa<linalg::LinalgOp, tensor::PadOp, tensor::GenerateOp>(block->getParentOp()))
          blocks.push_back(block);
      });
      for (Block *block : blocks)
        if (failed(formInBlock(*block)))
          return signalPassFailure();
      if (failed(resolveDims(&op)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult formInBlock(Block &block) {
    llvm::SmallPtrSet<Operation *, 16> grouped;
    std::vector<SmallVector<Operation *>> groups;
    // Operations with a reduction choose first, so that what follows them is theirs.
    for (bool rootsWithReduction : {true, false}) {
      for (Operation &op : block) {
        if (!isDispatchable(&op) || grouped.contains(&op))
          continue;
        if (hasReduction(&op) != rootsWithReduction)
          continue;
        SmallVector<Operation *> rows = rootsWithReduction ? findRows(&op) : SmallVector<Operation *>();
        if (!rows.empty() && llvm::none_of(rows, [&](Operation *member) { return grouped.contains(member); })) {
          if (reassociates)
            divideLast(rows);
          grouped.insert_range(rows);
          groups.push_back(std::move(rows));
          continue;
        }
        SmallVector<Operation *> group{&op};
        grouped.insert(&op);
        if (Operation *pad = laysOutPadding ? findOwnPadding(&op) : nullptr; pad && grouped.insert(pad).second)
          group.insert(group.begin(), pad);
        if (rootsWithReduction && llvm::all_of(cast<linalg::LinalgOp>(op).getDpsInitsMutable(), reachesWholeResult)) {
          // A dispatch stands where its last operation stood, so that only the first of its users can join it.
          for (Operation *user = findFirstUser(group); user && !grouped.contains(user); user = findFirstUser(group)) {
            if (!isOnlyElementwiseUser(group.back(), user) && !canJoinRows(user, group))
              break;
            group.push_back(user);
            grouped.insert(user);
          }
        }
        if (Operation *insert = findOwnInsert(group); insert && grouped.insert(insert).second)
          group.push_back(insert);
        groups.push_back(std::move(group));
      }
    }
    remarkUnfused(groups);
    for (SmallVector<Operation *> &group : groups) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(group.front()); slice && group.size() == 1)
        group.front() = inLoops(slice);
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(group.front()); insert && group.size() == 1)
        if (Operation *loops = loadedInLoops(insert))
          group.insert(group.begin(), loops);
      if (failed(formGroup(group)))
        return failure();
    }
    return success();
  }

  SmallVector<Operation *> findRows(Operation *root) const {
    SmallVector<Operation *> rows =
        keptRowBytes == 0 ? SmallVector<Operation *>() : findProductsOfRows(root, keptRowBytes, reassociates);
    bool isWhole = llvm::all_of(rows, [](Operation *op) {
      return llvm::all_of(cast<linalg::LinalgOp>(op).getDpsInitsMutable(), reachesWholeResult);
    });
    return isWhole ? rows : SmallVector<Operation *>();
  }

  // Where the result of a group goes, if it is a part of another tensor: it is stored there.
  static Operation *findOwnInsert(ArrayRef<Operation *> group) {
    auto last = dyn_cast<linalg::LinalgOp>(group.back());
    if (!last || last->getNumResults() != 1 || !last->hasOneUse() || last.hasDynamicShape())
      return nullptr;
    auto insert = dyn_cast<tensor::InsertSliceOp>(*last->user_begin());
    const bool isPlain = insert && insert->getBlock() == last->getBlock() && insert.getSource() == last->getResult(0) &&
                         insert.getDestType().hasStaticShape() && insert.hasUnitStride() &&
                         insert.getSourceType().getRank() == insert.getDestType().getRank() &&
                         llvm::none_of(insert.getStaticOffsets(), ShapedType::isDynamic);
    return isPlain && llvm::all_of(last.getDpsInitsMutable(), reachesWholeResult) ? insert : nullptr;
  }

  // The padding of an image of which workgroups read different channels or lines: each lays out what it needs.
  static Operation *findOwnPadding(Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    std::optional<ConvolutionLoops> convolution = linalgOp ? ConvolutionLoops::of(linalgOp) : std::nullopt;
    if (!convolution || convolution->channels)
      return nullptr;
    constexpr int64_t widestWindow = 16; // of a wider one, tiles would have more beside them than inside
    SmallVector<int64_t> extents = linalgOp.getStaticLoopRanges();
    for (unsigned tap : convolution->taps)
      if (ShapedType::isDynamic(extents[tap]) || extents[tap] > widestWindow)
        return nullptr;
    auto pad = op->getOperand(0).getDefiningOp<tensor::PadOp>();
    // A tile of what only a call knows may have any size.
    return pad && pad->hasOneUse() && pad->getBlock() == op->getBlock() && pad.getType().hasStaticShape() &&
                   pad.getSourceType().hasStaticShape()
               ? pad
               : tensor::PadOp();
  }

  void remarkUnfused(ArrayRef<SmallVector<Operation *>> groups) {
    llvm::DenseMap<Operation *, size_t> groupOf;
    for (auto [index, group] : llvm::enumerate(groups))
      for (Operation *op : group)
        groupOf[op] = index;
    for (auto [index, group] : llvm::enumerate(groups)) {
      for (Operation *op : group) {
        if (isa<tensor::ExtractSliceOp, tensor::PadOp>(op))
          remarkCopy(op);
        auto consumer = dyn_cast<linalg::LinalgOp>(op);
        if (!consumer)
          continue;
        for (Value value : llvm::SetVector<Value>(op->operand_begin(), op->operand_end())) {
          linalg::LinalgOp producer = findProducer(value);
          auto found = producer ? groupOf.find(producer) : groupOf.end();
          if (found == groupOf.end() || found->second == index)
            continue;
          if (couldFuse(producer, consumer, value))
            addRemark(Util::Cost::NotFused, op, whyNotFused(producer, consumer, value));
          else if (!hasReduction(groups[found->second].front()) &&
                   (isInputComputedAgain(consumer, value) || countUses(consumer, value).value_or(1) < kManyUses))
            addRemark(Util::Cost::NotFused, op, whatIsStored(producer, consumer, value));
        }
      }
    }
  }

  void remarkCopy(Operation *op) {
    if (llvm::SetVector<Operation *> loads = findLoads(op); !loads.empty())
      addRemark(Util::Cost::Copy, op, whatIsCopied(op, loads.getArrayRef()));
  }

  void addRemark(Util::Cost cost, Operation *op, const std::string &text) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    Util::addRemark(getOperation(), cost, op->getLoc(), function ? function.getName() : "", text);
  }

  // Whether `user` is an elementwise operation on the result of `op`, and its only use.
  static bool isOnlyElementwiseUser(Operation *op, Operation *user) {
    return op->getNumResults() == 1 &&
           llvm::all_of(op->getResult(0).getUsers(), [&](Operation *other) { return other == user; }) &&
           isElementwiseConsumer(user, op->getResult(0));
  }

  // Moves a group into a region that stands where its last operation stood.
  LogicalResult formGroup(ArrayRef<Operation *> group) {
    Operation *last = group.back();
    OpBuilder builder(last);
    SmallVector<Value> results, dims;
    for (Operation *op : group) {
      for (Value result : op->getResults()) {
        bool usedOutside =
            llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(group, user); });
        if (!usedOutside)
          continue;
        results.push_back(result);
        FailureOr<SmallVector<Value>> extents = dynamicDims(builder, result);
        if (failed(extents))
          return failure();
        llvm::append_range(dims, *extents);
      }
    }
    if (results.empty()) {
      for (Operation *op : llvm::reverse(group))
        op->erase();
      return success();
    }

    auto region = DispatchRegionOp::create(builder, group.front()->getLoc(), ValueRange(results).getTypes(), dims);
    Block &body = region.getBody().emplaceBlock();
    for (Operation *op : group)
      op->moveBefore(&body, body.end());
    builder.setInsertionPointToEnd(&body);
    ReturnOp::create(builder, last->getLoc(), results);
    for (auto [result, replacement] : llvm::zip(results, region.getResults()))
      result.replaceUsesWithIf(replacement, [&](OpOperand &use) { return !region->isAncestor(use.getOwner()); });
    cloneProducers(region);
    return success();
  }

  // Clones what is cheap into the region, producers of producers too.
  static void cloneProducers(DispatchRegionOp region) {
    Block &body = region.getBody().front();
    llvm::SetVector<Operation *> producers;
    std::function<void(Operation *)> collect = [&](Operation *op) {
      op->walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands()) {
          Operation *producer = operand.get().getDefiningOp();
          if (!producer || region->isAncestor(producer) || !isCloneable(producer) || producers.contains(producer) ||
              !takesClone(operand))
            continue;
          collect(producer);
          producers.insert(producer);
        }
      });
    };
    for (Operation &op : body)
      collect(&op);
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    IRMapping mapping;
    for (Operation *producer : producers)
      builder.clone(*producer, mapping);
    for (Operation *producer : producers)
      for (Value result : producer->getResults())
        result.replaceUsesWithIf(mapping.lookup(result), [&](OpOperand &use) {
          return region->isProperAncestor(use.getOwner()) && takesClone(use);
        });
  }

  const CompilerContext *context;
  bool laysOutPadding = false;
  bool reassociates = false;
  int64_t keptRowBytes = 0;
};
} // namespace

std::unique_ptr<Pass> createFormDispatchesPass(const CompilerContext &context) {
  return std::make_unique<FormDispatchesPass>(context);
}
} // namespace kiln::Flow
