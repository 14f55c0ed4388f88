#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/Dims.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace kiln::Stream {
#define GEN_PASS_DEF_CONVERTTOSTREAMPASS
#include "kiln/compiler/Dialect/Stream/Transforms/StreamPasses.h.inc"

//===--- Executables ---------------------------------------------------------------------------------------------===//

// A push constant as the type that the body wants: constants are index or i64, others travel as their bits.
static Value fromConstant(OpBuilder &builder, Location loc, Value constant, Type type) {
  if (constant.getType() == type)
    return constant;
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value value = constant;
  if (bits != constant.getType())
    value = arith::TruncIOp::create(builder, loc, bits, value);
  return bits == type ? value : arith::BitcastOp::create(builder, loc, type, value);
}

static Value toConstant(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (type.isIndex() || type.isInteger(64))
    return value;
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(type.getIntOrFloatBitWidth()), value);
  if (value.getType().isInteger(64))
    return value;
  return arith::ExtUIOp::create(builder, loc, builder.getI64Type(), value);
}

static MemRefType memoryOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

// The extents that the flow phase has tied to an argument or to a returned value.
static ValueRange tiedDims(Flow::TensorTieShapeOp tie) {
  return tie ? ValueRange(tie.getResultDims()) : ValueRange();
}

namespace {
// Rewrites a function from tensors to tensors into one on bindings. `tied` is as in flow.dispatch.
class ExecutableConverter {
public:
  explicit ExecutableConverter(Flow::ExecutableOp flowOp) : flowOp(flowOp), loc(flowOp.getLoc()), builder(flowOp) {}

  void run(ArrayRef<int64_t> tied) {
    auto executable = ExecutableOp::create(builder, loc, flowOp.getSymName());
    auto inner = flowOp.getInnerModule();
    inner->moveBefore(&executable.getBody().front(), executable.getBody().front().begin());
    auto func = *inner.getOps<func::FuncOp>().begin();
    body = &func.getBody().front();
    ret = cast<func::ReturnOp>(body->getTerminator());
    for (BlockArgument arg : body->getArguments())
      (isa<RankedTensorType>(arg.getType()) ? tensors : scalars).push_back(arg);
    addArguments(tied);
    builder.setInsertionPointToStart(body);
    for (BlockArgument scalar : scalars)
      scalar.replaceAllUsesWith(fromConstant(builder, loc, newArg[scalar], scalar.getType()));
    readInputs();
    writeOutputs();
    removeTensors();
    func.setFunctionType(builder.getFunctionType(types, {}));
    func->setAttr("access", builder.getArrayAttr(access));
    flowOp.erase();
  }

private:
  Value addArgument(Value old, Type type) {
    types.push_back(type);
    Value added = body->addArgument(type, loc);
    if (old)
      newArg[old] = added;
    return added;
  }

  // Bindings of the tensor arguments, bindings of the results that have none yet, constants.
  void addArguments(ArrayRef<int64_t> tied) {
    auto binding = BindingType::get(builder.getContext());
    access.assign(tensors.size(), builder.getStringAttr("readonly"));
    for (BlockArgument tensor : tensors)
      addArgument(tensor, binding);
    for (unsigned i = 0; i < ret.getNumOperands(); ++i) {
      int64_t target = i < tied.size() ? tied[i] : -1;
      if (target >= 0) {
        // Operand numbers of the dispatch are argument numbers; tensors come first.
        access[target] = builder.getStringAttr("readwrite");
        resultBindings.push_back(newArg[tensors[target]]);
      } else {
        access.push_back(builder.getStringAttr("writeonly"));
        resultBindings.push_back(addArgument({}, binding));
      }
    }
    for (BlockArgument scalar : scalars)
      addArgument(scalar, scalar.getType().isIndex() ? Type(builder.getIndexType()) : builder.getI64Type());
  }

  void readInputs() {
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      Flow::TensorTieShapeOp tie;
      for (Operation *user : tensor.getUsers())
        if (auto op = dyn_cast<Flow::TensorTieShapeOp>(user))
          tie = op;
      Value span = BindingSubspanOp::create(builder, loc, memoryOf(tensor.getType()), newArg[tensor], tiedDims(tie));
      bool writable = access[i] == builder.getStringAttr("readwrite");
      Value value =
          bufferization::ToTensorOp::create(builder, loc, tensor.getType(), span, /*restrict=*/true, writable);
      memory[newArg[tensor]] = span;
      tensor.replaceAllUsesWith(value);
      if (tie) {
        tie.replaceAllUsesWith(value);
        ties.insert(tie); // erased later: the builder may stand at it
      }
    }
  }

  // Their memory is made at the top, where their extents are known as well.
  void writeOutputs() {
    OpBuilder end(ret);
    for (auto [result, target] : llvm::zip(ret.getOperands(), resultBindings)) {
      auto tie = result.getDefiningOp<Flow::TensorTieShapeOp>();
      Value &span = memory[target];
      if (!span)
        span = BindingSubspanOp::create(builder, loc, memoryOf(result.getType()), target, tiedDims(tie));
      bufferization::MaterializeInDestinationOp::create(end, loc, /*result=*/Type(), tie ? tie.getOperand() : result,
                                                        span, /*restrict=*/true, /*writable=*/true);
      if (tie)
        ties.insert(tie);
    }
    func::ReturnOp::create(end, loc);
  }

  void removeTensors() {
    ret.erase();
    for (Operation *tie : ties)
      if (tie->use_empty())
        tie->erase();
    body->eraseArguments(0, tensors.size() + scalars.size());
  }

  Flow::ExecutableOp flowOp;
  Location loc;
  OpBuilder builder;
  Block *body = nullptr;
  func::ReturnOp ret;
  SmallVector<BlockArgument> tensors, scalars; // as they were
  SmallVector<Type> types;                     // of the new arguments
  SmallVector<Attribute> access;
  SmallVector<Value> resultBindings;
  DenseMap<Value, Value> newArg, memory;
  SetVector<Operation *> ties;
};
} // namespace

//===--- The host program ----------------------------------------------------------------------------------------===//

namespace {
// Converts one function. Sizes of all tensors are computed first, while the program is still about tensors.
class HostConverter {
public:
  explicit HostConverter(Operation *func) : func(func), resource(ResourceType::get(func->getContext())) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    LogicalResult ok = success();
    func->walk<WalkOrder::PreOrder>([&](Operation *op) {
      ops.push_back(op);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            if (failed(ok) || failed(computeSize(arg)))
              ok = failure();
      for (Value result : op->getResults())
        if (failed(ok) || failed(computeSize(result)))
          ok = failure();
    });
    if (failed(ok))
      return failure();
    for (Operation *op : ops)
      if (op != func && failed(convert(op)))
        return failure();
    for (Operation *op : llvm::reverse(toErase))
      op->erase();
    return convertRest();
  }

private:
  LogicalResult computeSize(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return success();
    OpBuilder builder(func->getContext());
    Operation *giver = isa<BlockArgument>(value) ? value.getParentBlock()->getParentOp() : value.getDefiningOp();
    if (isa_and_nonnull<scf::SCFDialect>(giver->getDialect()) || isa<Util::GlobalLoadOp>(giver)) {
      // The extents of what control flow or a global gives are known where they are tied to it. What goes to nobody has
      // lost its ties, and nobody asks for its size.
      for (Operation *user : value.getUsers()) {
        if (auto tie = dyn_cast<Flow::TensorTieShapeOp>(user)) {
          builder.setInsertionPoint(tie);
          sizes[value] = sizeFrom(builder, value, tie.getResultDims());
          return success();
        }
      }
      if (value.use_empty())
        return success();
    }
    // Before the op, which may need the size itself.
    if (Operation *op = value.getDefiningOp())
      builder.setInsertionPoint(op);
    else
      builder.setInsertionPointAfterValue(value);
    FailureOr<SmallVector<Value>> dims = Flow::dynamicDims(builder, value);
    if (failed(dims))
      return failure();
    sizes[value] = sizeFrom(builder, value, *dims);
    return success();
  }

  static Value sizeFrom(OpBuilder &builder, Value tensor, ValueRange dims) {
    Location loc = tensor.getLoc();
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t staticPart = HAL::elementByteWidth(type.getElementType());
    for (int64_t extent : type.getShape())
      if (!ShapedType::isDynamic(extent))
        staticPart *= extent;
    Value size = arith::ConstantIndexOp::create(builder, loc, staticPart);
    for (Value dim : dims)
      size = arith::MulIOp::create(builder, loc, size, dim);
    return size;
  }

  // Sizes are asked for by the tensor that the source program had; a use that was replaced is found by its new value.
  Value sizeOf(Value value) { return sizes.lookup(value); }

  LogicalResult convert(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto import = dyn_cast<HAL::TensorImportOp>(op))
      return finish(op, TensorImportOp::create(builder, loc, resource, import.getSource(), import.getDonated()));
    if (auto exportOp = dyn_cast<HAL::TensorExportOp>(op)) {
      Type encoding = boundaryTypes.lookup(op);
      return finish(op, TensorExportOp::create(builder, loc, exportOp.getType(), exportOp.getSource(),
                                               sizeOf(exportOp.getSource()), encoding, exportOp.getDynamicDims()));
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
        return finish(op, AsyncConstantOp::create(builder, loc, resource, elements, sizeOf(constant.getResult())));
      return success();
    }
    if (auto constant = dyn_cast<Util::UnfoldableConstantOp>(op)) {
      if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
        return finish(op, AsyncConstantOp::create(builder, loc, resource, elements, sizeOf(constant.getResult())));
      return success();
    }
    if (auto parameter = dyn_cast<Flow::TensorParameterOp>(op))
      return finish(
          op, AsyncConstantOp::create(builder, loc, resource, parameter.getParameter(), sizeOf(parameter.getResult())));
    if (isa<Flow::TensorReshapeOp, Flow::TensorTieShapeOp>(op)) {
      Value source = op->getOperand(0);
      carry(op->getResult(0), source);
      op->getResult(0).replaceAllUsesWith(source);
      toErase.push_back(op);
      return success();
    }
    if (auto transfer = dyn_cast<Flow::TensorTransferOp>(op))
      return finish(op, AsyncTransferOp::create(builder, loc, resource, transfer.getOperand(),
                                                sizeOf(transfer.getOperand()), transfer.getTarget()));
    if (isa<Flow::TensorEmptyOp>(op))
      return finish(op, AsyncAllocaOp::create(builder, loc, resource, sizeOf(op->getResult(0))));
    if (auto splat = dyn_cast<Flow::TensorSplatOp>(op))
      return finish(op, AsyncSplatOp::create(builder, loc, resource, splat.getValue(), sizeOf(splat.getResult())));
    if (auto load = dyn_cast<Flow::TensorLoadOp>(op))
      return convertLoad(load);
    if (auto dispatch = dyn_cast<Flow::DispatchOp>(op))
      return convertDispatch(dispatch);
    if (auto store = dyn_cast<Util::GlobalStoreOp>(op))
      return convertStore(store);
    return success();
  }

  LogicalResult finish(Operation *op, Operation *replacement) {
    for (auto [from, to] : llvm::zip(op->getResults(), replacement->getResults())) {
      carry(to, from);
      from.replaceAllUsesWith(to);
    }
    toErase.push_back(op);
    return success();
  }

  // The size of the tensor `from` is that of `to`.
  void carry(Value to, Value from) {
    if (Value size = sizes.lookup(from); size && !sizes.contains(to))
      sizes[to] = size;
  }

  LogicalResult convertLoad(Flow::TensorLoadOp load) {
    OpBuilder builder(load);
    Location loc = load.getLoc();
    auto type = cast<RankedTensorType>(boundaryTypes.lookup(load));
    SmallVector<Value> dims = loadDims.lookup(load);
    Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [i, index] : llvm::enumerate(load.getIndices())) {
      Value extent =
          dims.empty() ? arith::ConstantIndexOp::create(builder, loc, type.getDimSize(i)).getResult() : dims[i];
      offset = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, offset, extent), index);
    }
    Value width = arith::ConstantIndexOp::create(builder, loc, HAL::elementByteWidth(type.getElementType()));
    offset = arith::MulIOp::create(builder, loc, offset, width);
    return finish(load, AsyncLoadOp::create(builder, loc, load.getType(), load.getSource(), offset));
  }

  LogicalResult convertDispatch(Flow::DispatchOp dispatch) {
    OpBuilder builder(dispatch);
    Location loc = dispatch.getLoc();
    SmallVector<Value> constants, operands, operandSizes, resultSizes;
    for (Value arg : dispatch.getArgs()) {
      if (sizes.contains(arg)) {
        operands.push_back(arg);
        operandSizes.push_back(sizeOf(arg));
      } else {
        constants.push_back(toConstant(builder, loc, arg));
      }
    }
    for (Value result : dispatch.getResults())
      resultSizes.push_back(sizeOf(result));
    SmallVector<Type> types(dispatch.getNumResults(), resource);
    return finish(dispatch, AsyncDispatchOp::create(builder, loc, types, dispatch.getEntry(), constants, operands,
                                                    operandSizes, resultSizes, dispatch.getTied()));
  }

  // What a global holds is memory that nobody writes any more: a copy, unless the program has just computed it there.
  // Copies that are not needed go away once it is known which memory loops update.
  LogicalResult convertStore(Util::GlobalStoreOp store) {
    Value value = store.getValue(), size = sizeOf(value);
    if (!size || isa_and_nonnull<AsyncDispatchOp, AsyncSplatOp, AsyncAllocaOp>(value.getDefiningOp()))
      return success();
    OpBuilder builder(store);
    store.getValueMutable().assign(AsyncCloneOp::create(builder, store.getLoc(), resource, value, size));
    return success();
  }

  // What is left only passes tensors on, as control flow and identities do: results and block arguments change type.
  LogicalResult convertRest() {
    WalkResult result = func->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto hasTensors = [](auto values) { return llvm::any_of(values.getTypes(), llvm::IsaPred<RankedTensorType>); };
      bool passesOn = hasTensors(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          passesOn |= hasTensors(ValueRange(block.getArguments()));
      if (!passesOn || isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::ExecuteRegionOp, Util::OptimizationBarrierOp,
                           Util::GlobalLoadOp, arith::SelectOp>(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName() << "' passes tensors on, which is not supported there";
      return WalkResult::interrupt();
    });
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([&](RankedTensorType) { return resource; });
    convertValueTypes(func, types);
    return failure(result.wasInterrupted());
  }

public:
  // What is asked of tensors' types later, noted before anything is converted: those that are exported or loaded from,
  // and the extents that linearize a load's indices.
  LogicalResult prepare() {
    LogicalResult ok = success();
    func->walk([&](HAL::TensorExportOp op) { boundaryTypes[op] = op.getExportedType(); });
    func->walk([&](Flow::TensorLoadOp load) {
      boundaryTypes[load] = load.getSource().getType();
      if (cast<RankedTensorType>(load.getSource().getType()).hasStaticShape())
        return;
      OpBuilder builder(load);
      FailureOr<SmallVector<Value>> dims = Flow::allDims(builder, load.getSource());
      if (failed(dims))
        ok = failure();
      else
        loadDims[load] = *dims;
    });
    return ok;
  }

private:
  Operation *func;
  Type resource;
  DenseMap<Value, Value> sizes;
  DenseMap<Operation *, Type> boundaryTypes;
  DenseMap<Operation *, SmallVector<Value>> loadDims;
  SmallVector<Operation *> toErase;
};

class ConvertToStreamPass : public impl::ConvertToStreamPassBase<ConvertToStreamPass> {
public:
  void runOnOperation() override {
    // Which operands an executable updates is said where it is launched, everywhere the same.
    llvm::StringMap<SmallVector<int64_t>> tied;
    getOperation().walk([&](Flow::DispatchOp dispatch) {
      tied[dispatch.getEntry().getRootReference().getValue()] = llvm::to_vector(dispatch.getTied());
    });
    for (Operation &op : llvm::make_early_inc_range(*getOperation().getBody())) {
      if (!isa<Util::FuncOp, Util::InitializerOp>(op))
        continue;
      HostConverter converter(&op);
      if (failed(converter.prepare()) || failed(converter.run()))
        return signalPassFailure();
    }
    for (auto global : getOperation().getOps<Util::GlobalOp>())
      if (isa<RankedTensorType>(global.getType()))
        global.setType(ResourceType::get(&getContext()));
    for (auto executable : llvm::make_early_inc_range(getOperation().getOps<Flow::ExecutableOp>()))
      ExecutableConverter(executable).run(tied[executable.getSymName()]);
  }
};
} // namespace
} // namespace kiln::Stream
