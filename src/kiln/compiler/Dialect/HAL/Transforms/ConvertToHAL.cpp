#include "kiln/compiler/Dialect/HAL/Transforms/CommandBufferRecorder.h"
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/HAL/IR/Places.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"

#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_CONVERTTOHALPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
class ConvertToHALPass : public impl::ConvertToHALPassBase<ConvertToHALPass> {
public:
  explicit ConvertToHALPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    constexpr int64_t mostRepeats = 1 << 16; // Each is a command of its own.
    int64_t repeats = context->options.dispatchRepeatCount;
    if (repeats < 1 || repeats > mostRepeats) {
      emitError(module->getLoc()) << "--kiln-hal-benchmark-dispatch-repeat-count: " << repeats
                                  << " is no number from 1 to " << mostRepeats;
      return signalPassFailure();
    }
    i32 = IntegerType::get(&getContext(), 32);
    buffer = BufferType::get(&getContext());
    fence = FenceType::get(&getContext());
    device = DeviceType::get(&getContext());
    loadedDevices.clear();

    // The device, the executables and the recorded command buffers are globals that the first initializer sets.
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
    bool hasWork = false;
    module.walk([&](Operation *op) { hasWork |= isa_and_nonnull<Stream::StreamDialect>(op->getDialect()); });
    if (!hasWork && executables.empty())
      return;
    Location loc = module.getLoc();
    DeviceUses devices = devicesOf(module, executables);
    for (auto &[number, loaded] : devices) {
      Util::GlobalOp::create(builder, loc, deviceGlobal(number), device);
      for (ExecutableOp executable : loaded) {
        Util::GlobalOp::create(builder, loc, executableGlobal(executable.getSymName(), number),
                               ExecutableType::get(&getContext()));
        if (variantsOf(executable).size() > 1)
          Util::GlobalOp::create(builder, loc, variantGlobal(executable.getSymName(), number), i32);
      }
    }
    auto initializer = Util::InitializerOp::create(builder, loc);
    Block &setup = initializer.getBody().emplaceBlock();
    auto setupBuilder = OpBuilder::atBlockEnd(&setup);
    for (auto &[number, loaded] : devices)
      setUpDevice(setupBuilder, loc, number, loaded.getArrayRef());
    Util::ReturnOp::create(setupBuilder, loc);

    // Host functions: first the ops, then the types of what is only passed on.
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (&op == initializer || !isa<Util::FuncOp, Util::InitializerOp>(op))
        continue;
      SmallVector<Operation *> ops;
      op.walk<WalkOrder::PreOrder>([&](Operation *inner) {
        if (inner->getParentOfType<Stream::CmdExecuteOp>())
          return;
        ops.push_back(inner);
      });
      for (Operation *inner : ops)
        if (failed(convert(inner, setup)))
          return signalPassFailure();
      for (Operation *inner : llvm::reverse(dead))
        inner->erase();
      dead.clear();
    }
    TypeConverter types;
    types.addConversion([](Type type) { return type; });
    types.addConversion([&](Stream::ResourceType) { return buffer; });
    types.addConversion([&](Stream::TimepointType) { return fence; });
    convertValueTypes(module, types);
    for (auto global : module.getOps<Util::GlobalOp>())
      global.setType(types.convertType(global.getType()));
    if (repeats > 1)
      module->setAttr("kiln.dispatch_repeat_count",
                      builder.getStringAttr(std::to_string(context->options.dispatchRepeatCount)));
  }

private:
  // By number, with what each launches.
  using DeviceUses = std::map<int64_t, llvm::SetVector<ExecutableOp>>;

  // The first device is always there. Where others launch something, it loads only what it launches itself.
  static DeviceUses devicesOf(mlir::ModuleOp module, ArrayRef<ExecutableOp> executables) {
    DeviceUses devices;
    devices[0];
    module.walk([&](Operation *op) {
      if (!isa_and_nonnull<Stream::StreamDialect>(op->getDialect()))
        return;
      auto &loaded = devices[deviceOf(placeOf(op))];
      if (auto transfer = dyn_cast<Stream::ResourceTransferOp>(op))
        devices[targetOf(transfer)];
      if (isa<Stream::CmdExecuteOp>(op))
        op->walk([&](Stream::CmdDispatchOp dispatch) {
          if (auto executable = module.lookupSymbol<ExecutableOp>(dispatch.getEntry().getRootReference()))
            loaded.insert(executable);
        });
    });
    if (devices.size() == 1)
      devices[0].insert(executables.begin(), executables.end());
    return devices;
  }

  static int64_t targetOf(Stream::ResourceTransferOp transfer) {
    return deviceOf(dyn_cast<AffinityAttr>(transfer.getTarget()));
  }

  void setUpDevice(OpBuilder &builder, Location loc, int64_t number, ArrayRef<ExecutableOp> executables) {
    Value theDevice = DeviceGetOp::create(builder, loc, device, constant(builder, loc, number));
    Util::GlobalStoreOp::create(builder, loc, theDevice, deviceGlobal(number));
    for (ExecutableOp executable : executables) {
      auto symbol = FlatSymbolRefAttr::get(executable.getSymNameAttr());
      Value loaded = ExecutableCreateOp::create(builder, loc, ExecutableType::get(&getContext()), theDevice, symbol);
      Util::GlobalStoreOp::create(builder, loc, loaded, executableGlobal(executable.getSymName(), number));
      if (variantsOf(executable).size() == 1)
        continue;
      Value variant = ExecutableVariantIndexOp::create(builder, loc, i32, theDevice, symbol);
      Util::GlobalStoreOp::create(builder, loc, variant, variantGlobal(executable.getSymName(), number));
    }
  }

  static std::string deviceGlobal(int64_t number) {
    return number == 0 ? "__device" : "__device_" + std::to_string(number);
  }

  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  }

  // Loaded once in a block, whose ops are converted in order.
  Value getDevice(OpBuilder &builder, Location loc, int64_t number) {
    Value &loaded = loadedDevices[{builder.getInsertionBlock(), number}];
    if (!loaded)
      loaded = Util::GlobalLoadOp::create(builder, loc, device, deviceGlobal(number));
    return loaded;
  }
  // Of what the op is about.
  Value getDevice(OpBuilder &builder, Operation *op) { return getDevice(builder, op->getLoc(), deviceOf(placeOf(op))); }

  void replace(Operation *op, Operation *with) {
    for (auto [from, to] : llvm::zip(op->getResults(), with->getResults()))
      from.replaceAllUsesWith(to);
    dead.push_back(op);
  }

  LogicalResult convert(Operation *op, Block &setup) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto import = dyn_cast<Stream::TensorImportOp>(op)) {
      replace(op, BufferViewBufferOp::create(builder, loc, buffer, import.getSource()));
    } else if (auto exportOp = dyn_cast<Stream::TensorExportOp>(op)) {
      convertExport(exportOp);
    } else if (auto alloc = dyn_cast<Stream::ResourceAllocOp>(op)) {
      Value usage = constant(builder, loc, alloc.getLifetime() == Stream::Lifetime::Transient ? 1 : 0);
      Value theDevice = getDevice(builder, op);
      if (Value await = alloc.getAwait())
        replace(op, DeviceQueueAllocaOp::create(builder, loc, buffer, theDevice, await, usage, alloc.getSize()));
      else
        replace(op, BufferAllocateOp::create(builder, loc, buffer, theDevice, usage, alloc.getSize()));
    } else if (auto constants = dyn_cast<Stream::ResourceConstantsOp>(op)) {
      Value rodata = Util::RodataOp::create(builder, loc, Util::BufferType::get(&getContext()), constants.getValues());
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value size = arith::ConstantIndexOp::create(builder, loc, constants.getSize());
      replace(op, BufferConstantOp::create(builder, loc, buffer, getDevice(builder, op), rodata, zero, size));
    } else if (auto store = dyn_cast<Util::GlobalStoreOp>(op)) {
      // Each session of a program would have a copy of what could still be written.
      auto global = SymbolTable::lookupNearestSymbolFrom<Util::GlobalOp>(op, store.getGlobalAttr());
      if (global->hasAttr(Util::kComputedOnce))
        BufferSealOp::create(builder, loc, store.getValue());
    } else if (auto parameter = dyn_cast<Stream::ResourceParameterOp>(op)) {
      auto text = [&](StringAttr value) {
        return Util::RodataOp::create(builder, loc, Util::BufferType::get(&getContext()), value).getResult();
      };
      replace(op, ParameterLoadOp::create(builder, loc, buffer, getDevice(builder, op), text(parameter.getScopeAttr()),
                                          text(parameter.getKeyAttr()), parameter.getSize()));
    } else if (auto transfer = dyn_cast<Stream::ResourceTransferOp>(op)) {
      replace(op, BufferTransferOp::create(builder, loc, buffer, getDevice(builder, loc, targetOf(transfer)),
                                           transfer.getSource(), transfer.getOffset(), transfer.getSize()));
    } else if (auto join = dyn_cast<Stream::TimepointJoinOp>(op)) {
      replace(op, FenceJoinOp::create(builder, loc, fence, join.getTimepoints()));
    } else if (auto load = dyn_cast<Stream::ResourceLoadOp>(op)) {
      convertLoad(load);
    } else if (isa<Stream::TimepointImmediateOp>(op)) {
      replace(op, Util::NullOp::create(builder, loc, fence));
    } else if (auto await = dyn_cast<Stream::TimepointAwaitOp>(op)) {
      FenceAwaitOp::create(builder, loc, await.getTimepoint());
      dead.push_back(op);
    } else if (auto turn = dyn_cast<Stream::TimepointEndTurnOp>(op)) {
      Value transient = turn.getTransient();
      if (!transient)
        transient = Util::NullOp::create(builder, loc, buffer);
      replace(op, DeviceEndTurnOp::create(builder, loc, fence, getDevice(builder, op), turn.getInFlight(),
                                          turn.getSubmitted(), transient));
    } else if (auto execute = dyn_cast<Stream::CmdExecuteOp>(op)) {
      return convertExecute(execute, setup);
    }
    return success();
  }

  void convertExport(Stream::TensorExportOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getEncoding());
    SmallVector<Value> shape;
    auto dims = op.getDims().begin();
    for (int64_t extent : type.getShape())
      shape.push_back(ShapedType::isDynamic(extent) ? *dims++
                                                    : arith::ConstantIndexOp::create(builder, loc, extent).getResult());
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value elementType = constant(builder, loc, elementTypeNumber(type.getElementType()));
    replace(op, BufferViewCreateOp::create(builder, loc, op.getType(), op.getSource(), zero, op.getSize(), elementType,
                                           shape));
  }

  void convertLoad(Stream::ResourceLoadOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Type type = op.getType();
    Value width = constant(builder, loc, elementByteWidth(type));
    Value bits = BufferLoadOp::create(builder, loc, builder.getI64Type(), op.getSource(), op.getOffset(), width);
    if (type.isIndex()) {
      bits = arith::IndexCastOp::create(builder, loc, type, bits);
    } else {
      Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
      if (!integer.isInteger(64))
        bits = arith::TruncIOp::create(builder, loc, integer, bits);
      if (integer != type)
        bits = arith::BitcastOp::create(builder, loc, type, bits);
    }
    op.replaceAllUsesWith(bits);
    dead.push_back(op);
  }

  LogicalResult convertExecute(Stream::CmdExecuteOp op, Block &setup) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    AffinityAttr place = placeOf(op);
    CommandBufferRecorder recorder(op, context->options.dispatchRepeatCount, deviceOf(place));
    Value commands;
    if (op.getScalars().empty()) {
      // The same at each call: recorded once, by the initializer, into a global.
      std::string name = "__command_buffer_" + std::to_string(commandBuffers++);
      Type type = CommandBufferType::get(&getContext());
      OpBuilder globals(setup.getParentOp());
      Util::GlobalOp::create(globals, loc, name, type);
      OpBuilder setupBuilder(setup.getTerminator());
      FailureOr<Value> recorded = recorder.record(setupBuilder, getDevice(setupBuilder, op), /*mode=*/0);
      if (failed(recorded))
        return failure();
      Util::GlobalStoreOp::create(setupBuilder, loc, *recorded, name);
      commands = Util::GlobalLoadOp::create(builder, loc, type, name);
    } else {
      FailureOr<Value> recorded = recorder.record(builder, getDevice(builder, op), /*mode=*/1);
      if (failed(recorded))
        return failure();
      commands = *recorded;
    }
    SmallVector<Value> bindings;
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    for (auto [resource, size] : llvm::zip(op.getResources(), op.getResourceSizes())) {
      bindings.push_back(resource);
      bindings.push_back(zero);
      // The scheduler leaves the size of the constants' resource to the runtime.
      bindings.push_back(getConstantIntValue(size) == -1
                             ? BufferLengthOp::create(builder, loc, builder.getIndexType(), resource).getResult()
                             : size);
    }
    Value theDevice = getDevice(builder, op);
    if (place && !place.getQueues().empty()) {
      Value queues =
          arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), static_cast<int64_t>(place.getQueueMask()));
      replace(op,
              DeviceQueueExecuteOp::create(builder, loc, fence, theDevice, queues, op.getAwait(), commands, bindings));
    } else {
      replace(op, DeviceExecuteOp::create(builder, loc, fence, theDevice, op.getAwait(), commands, bindings));
    }
    return success();
  }

  const CompilerContext *context;
  Type i32, buffer, fence, device;
  SmallVector<Operation *> dead;
  DenseMap<std::pair<Block *, int64_t>, Value> loadedDevices;
  int commandBuffers = 0;
};
} // namespace

std::unique_ptr<Pass> createConvertToHALPass(const CompilerContext &context) {
  return std::make_unique<ConvertToHALPass>(context);
}

} // namespace kiln::HAL
