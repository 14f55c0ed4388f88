#include "kiln/compiler/Dialect/HAL/Transforms/CommandBufferRecorder.h"
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"

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

    // The device, the executables and the recorded command buffers are globals that the first initializer sets.
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    auto executables = llvm::to_vector(module.getOps<ExecutableOp>());
    bool hasWork = false;
    module.walk([&](Operation *op) { hasWork |= isa_and_nonnull<Stream::StreamDialect>(op->getDialect()); });
    if (!hasWork && executables.empty())
      return;
    Location loc = module.getLoc();
    Util::GlobalOp::create(builder, loc, kDevice, device);
    for (ExecutableOp executable : executables) {
      Util::GlobalOp::create(builder, loc, executableGlobal(executable.getSymName()),
                             ExecutableType::get(&getContext()));
      if (variantsOf(executable).size() > 1)
        Util::GlobalOp::create(builder, loc, variantGlobal(executable.getSymName()), i32);
    }
    auto initializer = Util::InitializerOp::create(builder, loc);
    Block &setup = initializer.getBody().emplaceBlock();
    auto setupBuilder = OpBuilder::atBlockEnd(&setup);
    Value index = arith::ConstantIntOp::create(setupBuilder, loc, i32, 0);
    Value theDevice = DeviceGetOp::create(setupBuilder, loc, device, index);
    Util::GlobalStoreOp::create(setupBuilder, loc, theDevice, kDevice);
    for (ExecutableOp executable : executables) {
      Value loaded = ExecutableCreateOp::create(setupBuilder, loc, ExecutableType::get(&getContext()), theDevice,
                                                FlatSymbolRefAttr::get(executable.getSymNameAttr()));
      Util::GlobalStoreOp::create(setupBuilder, loc, loaded, executableGlobal(executable.getSymName()));
      if (variantsOf(executable).size() == 1)
        continue;
      Value variant = ExecutableVariantIndexOp::create(setupBuilder, loc, i32, theDevice,
                                                       FlatSymbolRefAttr::get(executable.getSymNameAttr()));
      Util::GlobalStoreOp::create(setupBuilder, loc, variant, variantGlobal(executable.getSymName()));
    }
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
  Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  }

  Value getDevice(OpBuilder &builder, Location loc) {
    return Util::GlobalLoadOp::create(builder, loc, device, kDevice);
  }

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
      replace(op, BufferAllocateOp::create(builder, loc, buffer, getDevice(builder, loc), usage, alloc.getSize()));
    } else if (auto constants = dyn_cast<Stream::ResourceConstantsOp>(op)) {
      Value rodata = Util::RodataOp::create(builder, loc, Util::BufferType::get(&getContext()), constants.getValues());
      Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
      Value size = arith::ConstantIndexOp::create(builder, loc, constants.getSize());
      replace(op, BufferConstantOp::create(builder, loc, buffer, getDevice(builder, loc), rodata, zero, size));
    } else if (auto load = dyn_cast<Stream::ResourceLoadOp>(op)) {
      convertLoad(load);
    } else if (isa<Stream::TimepointImmediateOp>(op)) {
      replace(op, Util::NullOp::create(builder, loc, fence));
    } else if (auto await = dyn_cast<Stream::TimepointAwaitOp>(op)) {
      FenceAwaitOp::create(builder, loc, await.getTimepoint());
      dead.push_back(op);
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
    CommandBufferRecorder recorder(op, context->options.dispatchRepeatCount);
    Value commands;
    if (op.getScalars().empty()) {
      // The same at each call: recorded once, by the initializer, into a global.
      std::string name = "__command_buffer_" + std::to_string(commandBuffers++);
      Type type = CommandBufferType::get(&getContext());
      OpBuilder globals(setup.getParentOp());
      Util::GlobalOp::create(globals, loc, name, type);
      OpBuilder setupBuilder(setup.getTerminator());
      FailureOr<Value> recorded = recorder.record(setupBuilder, getDevice(setupBuilder, loc), /*mode=*/0);
      if (failed(recorded))
        return failure();
      Util::GlobalStoreOp::create(setupBuilder, loc, *recorded, name);
      commands = Util::GlobalLoadOp::create(builder, loc, type, name);
    } else {
      FailureOr<Value> recorded = recorder.record(builder, getDevice(builder, loc), /*mode=*/1);
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
    replace(op,
            DeviceExecuteOp::create(builder, loc, fence, getDevice(builder, loc), op.getAwait(), commands, bindings));
    return success();
  }

  static constexpr const char *kDevice = "__device";

  const CompilerContext *context;
  Type i32, buffer, fence, device;
  SmallVector<Operation *> dead;
  int commandBuffers = 0;
};
} // namespace

std::unique_ptr<Pass> createConvertToHALPass(const CompilerContext &context) {
  return std::make_unique<ConvertToHALPass>(context);
}

} // namespace kiln::HAL
