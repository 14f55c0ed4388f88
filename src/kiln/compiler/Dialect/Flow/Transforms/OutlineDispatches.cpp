#include "kiln/compiler/Dialect/Flow/Transforms/DescribeDispatch.h"
#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/InitUse.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_OUTLINEDISPATCHESPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {
// What a region becomes: the function's arguments stand for `captured`, in order.
struct Outlined {
  SmallVector<Value> captured;
  SmallVector<int64_t> tied;
};

class OutlineDispatchesPass : public impl::OutlineDispatchesPassBase<OutlineDispatchesPass> {
public:
  void runOnOperation() override {
    executables.clear();
    SymbolTable symbols(getOperation());
    SmallVector<Operation *> functions;
    for (Operation &op : *getOperation().getBody())
      if (isa<FunctionOpInterface, Util::InitializerOp>(op))
        functions.push_back(&op);
    // Initializers have no names of their own, and count on from each other.
    llvm::StringMap<int> counts;
    for (Operation *func : functions) {
      auto named = dyn_cast<SymbolOpInterface>(func);
      std::string prefix = (named ? named.getName() : "initializer").str() + "_dispatch_";
      int &count = counts[prefix];
      SmallVector<DispatchRegionOp> regions;
      func->walk([&](DispatchRegionOp region) { regions.push_back(region); });
      for (DispatchRegionOp region : regions)
        if (failed(outline(region, func, prefix, count, symbols)))
          return signalPassFailure();
    }
  }

private:
  // An init that is only overwritten is nothing to capture: it becomes an empty tensor of the same shape.
  static LogicalResult dropUnusedInits(DispatchRegionOp region) {
    for (Operation &op : region.getBody().front()) {
      auto destination = dyn_cast<DestinationStyleOpInterface>(op);
      if (!destination || !isa<linalg::LinalgOp>(op))
        continue;
      for (OpOperand &init : destination.getDpsInitsMutable()) {
        Operation *producer = init.get().getDefiningOp();
        if (needsInit(init) || (producer && region->isAncestor(producer)))
          continue;
        auto type = cast<RankedTensorType>(init.get().getType());
        OpBuilder outside(region);
        FailureOr<SmallVector<Value>> dims = dynamicDims(outside, init.get());
        if (failed(dims))
          return failure();
        OpBuilder builder(&op);
        init.set(tensor::EmptyOp::create(builder, op.getLoc(), type, *dims));
      }
    }
    return success();
  }

  // Where result `value` leaves the region, if it is followed from each op to what that op updates; may be null.
  static OpOperand *updatedOperand(DispatchRegionOp region, Value value) {
    OpOperand *operand = nullptr;
    while (auto result = dyn_cast<OpResult>(value)) {
      Operation *op = result.getOwner();
      if (!region->isProperAncestor(op))
        break;
      if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        operand = &insert.getDestMutable();
      else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
        operand = destination.getTiedOpOperand(result);
      else
        return nullptr;
      value = operand->get();
    }
    return operand;
  }

  // Counted in the region: a weight may have users in thousands of them.
  static bool isUsedOnce(DispatchRegionOp region, Value value) {
    int64_t uses = 0;
    region.getBody().walk([&](Operation *op) { uses += llvm::count(op->getOperands(), value); });
    return uses == 1;
  }

  // Whether the operation stores to some elements of this operand's tensor, and the others are to stay as they are.
  static bool updatesPart(OpOperand &operand) {
    return isa<tensor::InsertSliceOp>(operand.getOwner()) ||
           (isa<linalg::LinalgOp>(operand.getOwner()) && !reachesWholeResult(operand));
  }

  // A tensor of which a part is updated may be read elsewhere in the region, too. Under another name for what is
  // updated, the stream phase copies it; within the kernel the copy would be of the whole tensor in each workgroup.
  static LogicalResult separateUpdates(DispatchRegionOp region) {
    for (Value result : region.getBody().front().getTerminator()->getOperands()) {
      OpOperand *updated = updatedOperand(region, result);
      if (!updated || !updatesPart(*updated) || isUsedOnce(region, updated->get()))
        continue;
      OpBuilder outside(region);
      FailureOr<SmallVector<Value>> dims = dynamicDims(outside, updated->get());
      if (failed(dims))
        return failure();
      updated->set(TensorReshapeOp::create(outside, updated->getOwner()->getLoc(), updated->get().getType(),
                                           updated->get(), *dims));
    }
    return success();
  }

  // The captured tensor that result `value` updates in place, or -1. It must serve for nothing else in the region.
  static int64_t tiedOperand(DispatchRegionOp region, Value value, ArrayRef<Value> captured) {
    OpOperand *updated = updatedOperand(region, value);
    if (updated)
      value = updated->get();
    auto it = llvm::find(captured, value);
    return it != captured.end() && isUsedOnce(region, value) ? it - captured.begin() : -1;
  }

  static Outlined analyze(DispatchRegionOp region) {
    llvm::SetVector<Value> tensors, scalars;
    region->walk([&](Operation *op) {
      if (op == region)
        return;
      for (Value operand : op->getOperands()) {
        if (region->isAncestor(operand.getParentRegion()->getParentOp()))
          continue;
        (isa<RankedTensorType>(operand.getType()) ? tensors : scalars).insert(operand);
      }
    });
    Outlined outlined;
    outlined.captured = tensors.takeVector();
    for (Value result : region.getBody().front().getTerminator()->getOperands())
      outlined.tied.push_back(tiedOperand(region, result, outlined.captured));
    // Two results cannot update one operand.
    for (unsigned i = 0; i < outlined.tied.size(); ++i)
      if (llvm::is_contained(ArrayRef(outlined.tied).take_front(i), outlined.tied[i]))
        outlined.tied[i] = -1;
    llvm::append_range(outlined.captured, scalars);
    return outlined;
  }

  LogicalResult outline(DispatchRegionOp region, Operation *host, StringRef prefix, int &count, SymbolTable &symbols) {
    if (failed(dropUnusedInits(region)) || failed(separateUpdates(region)))
      return failure();
    Outlined outlined = analyze(region);
    // The extents of all tensors follow, each value once.
    OpBuilder builder(region);
    llvm::SetVector<Value> operands(outlined.captured.begin(), outlined.captured.end());
    SmallVector<SmallVector<Value>> operandDims;
    for (Value value : outlined.captured) {
      operandDims.emplace_back();
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      FailureOr<SmallVector<Value>> dims = dynamicDims(builder, value);
      if (failed(dims))
        return failure();
      operandDims.back() = *dims;
      operands.insert(dims->begin(), dims->end());
    }
    operands.insert(region.getResultDims().begin(), region.getResultDims().end());

    std::string description = describeDispatch(region);
    ExecutableOp executable = buildExecutable(region, operands.getArrayRef(), operandDims, prefix, count, description);
    std::string text = textOf(executable);
    auto [known, isNew] = executables.try_emplace(text, executable);
    if (isNew) {
      symbols.insert(executable, Block::iterator(host));
      ++count;
    } else {
      executable.erase();
      executable = known->second;
    }
    auto func = *executable.getInnerModule().getOps<func::FuncOp>().begin();
    if (DictionaryAttr work = describeWork(region, operands.getArrayRef()); !work.empty())
      func->setAttr(workAttr, work);
    addNodes(func, nodesOf(region));
    auto entry = SymbolRefAttr::get(executable.getSymNameAttr(), {FlatSymbolRefAttr::get(func.getSymNameAttr())});
    auto dispatch = DispatchOp::create(builder, region.getLoc(), region.getResultTypes(), entry, operands.getArrayRef(),
                                       region.getResultDims(), outlined.tied);
    region.replaceAllUsesWith(dispatch);
    region.erase();
    return success();
  }

  ExecutableOp buildExecutable(DispatchRegionOp region, ArrayRef<Value> operands,
                               ArrayRef<SmallVector<Value>> operandDims, StringRef prefix, int number,
                               StringRef description) {
    OpBuilder builder(region.getContext());
    Location loc = region.getLoc();
    std::string name = (prefix + Twine(number)).str();
    auto executable = ExecutableOp::create(builder, loc, name);
    builder.setInsertionPointToStart(&executable.getBody().front());
    auto inner = mlir::ModuleOp::create(builder, loc);
    builder.setInsertionPointToStart(inner.getBody());
    auto type = builder.getFunctionType(ValueRange(operands).getTypes(), region.getResultTypes());
    auto func = func::FuncOp::create(builder, loc, name + "_" + description.str(), type);
    Block *body = func.addEntryBlock();
    builder.setInsertionPointToStart(body);

    IRMapping mapping;
    for (auto [operand, arg] : llvm::zip(operands, body->getArguments()))
      mapping.map(operand, arg);
    auto mapAll = [&](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); });
    };
    for (auto [i, dims] : llvm::enumerate(operandDims)) {
      if (!dims.empty())
        mapping.map(operands[i],
                    TensorTieShapeOp::create(builder, loc, operands[i].getType(), body->getArgument(i), mapAll(dims)));
    }
    SmallVector<Value> results;
    for (Operation &op : region.getBody().front()) {
      if (isa<ReturnOp>(op))
        results = mapAll(op.getOperands());
      else
        builder.clone(op, mapping);
    }
    for (auto [i, result] : llvm::enumerate(results)) {
      ValueRange dims = region.getDimsOfResult(i);
      if (!dims.empty())
        result = TensorTieShapeOp::create(builder, loc, result.getType(), result, mapAll(dims));
    }
    func::ReturnOp::create(builder, loc, results);
    return executable;
  }

  // To those of other dispatches of the same executable.
  static void addNodes(func::FuncOp func, ArrayRef<StringAttr> nodes) {
    llvm::SmallSetVector<Attribute, 8> all;
    if (auto before = func->getAttrOfType<ArrayAttr>(nodesAttr))
      all.insert_range(before);
    all.insert_range(nodes);
    if (!all.empty())
      func->setAttr(nodesAttr, ArrayAttr::get(func.getContext(), all.getArrayRef()));
  }

  // What an executable computes, as text that does not depend on its name; equal texts share an executable.
  static std::string textOf(ExecutableOp executable) {
    auto func = *executable.getInnerModule().getOps<func::FuncOp>().begin();
    std::string name = func.getSymName().str(), text;
    func.setSymName("f");
    llvm::raw_string_ostream os(text);
    func->print(os, OpPrintingFlags().useLocalScope());
    func.setSymName(name);
    return text;
  }

  llvm::StringMap<ExecutableOp> executables;
};
} // namespace
} // namespace kiln::Flow
