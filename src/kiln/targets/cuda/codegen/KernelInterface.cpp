#include "kiln/targets/cuda/codegen/KernelInterface.h"

#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/TransformOps/WorkgroupDistribution.h"
#include "kiln/schema/executable_abi.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/targets/cuda/codegen/CudaPasses.h"
#include "kiln/targets/cuda/codegen/CudaTarget.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

namespace {

class KernelBuilder {
public:
  KernelBuilder(func::FuncOp function, const LLVMTypeConverter &converter)
      : function(function), converter(converter), b(function.getContext()), i64(b.getI64Type()),
        generic(LLVM::LLVMPointerType::get(b.getContext())),
        hasBarriers(function.walk([](gpu::BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted()),
        global(LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Global))) {}

  LogicalResult build() {
    HAL::ExecutableExportOp exportOp = findExport(function);
    if (!exportOp)
      return function.emitOpError("is no dispatch: it has no export");
    ArrayRef<HAL::BindingAccess> bindings = exportOp.getLayout().getBindings();
    int64_t constants = exportOp.getLayout().getConstants();
    if (int64_t(bindings.size()) + constants > kGpuMostParameters)
      return function.emitOpError("has ") << bindings.size() << " bindings and " << constants
                                          << " constants; a kernel can take " << kGpuMostParameters;
    Block &entry = function.getFunctionBody().front();
    SmallVector<Attribute> tensorMaps;
    while (tensorMaps.size() < function.getNumArguments()) {
      Attribute map = function.getArgAttr(tensorMaps.size(), tensorMapAttr);
      if (!map)
        break;
      tensorMaps.push_back(map);
    }
    unsigned local = tensorMaps.size();
    bool hasLocal = function.getNumArguments() != local;
    if (hasLocal && (function.getNumArguments() != local + 1 || !function.getArgAttr(local, localMemoryArgAttr)))
      return function.emitOpError("is a dispatch, and must have no arguments; what it uses are ops of hal.interface");
    if (function.getNumResults() != 0)
      return function.emitOpError("is a dispatch, and must have no results");

    SmallVector<DictionaryAttr> attributes;
    SmallVector<Value> bindingArguments, constantArguments, countArguments;
    for (HAL::BindingAccess access : bindings) {
      bindingArguments.push_back(entry.addArgument(global, function.getLoc()));
      attributes.push_back(bindingAttributes(access == HAL::BindingAccess::ReadOnly));
    }
    const llvm::BitVector wide = findWideConstants(constants);
    for (int64_t i = 0; i < constants + 3; ++i) {
      const bool isNarrow = i < constants && !wide.test(i);
      Value argument = entry.addArgument(isNarrow ? b.getI32Type() : i64, function.getLoc());
      (i < constants ? constantArguments : countArguments).push_back(argument);
      attributes.push_back(b.getDictionaryAttr(b.getNamedAttr("llvm.noundef", b.getUnitAttr())));
    }
    Value scratch = entry.addArgument(global, function.getLoc());
    attributes.push_back(b.getDictionaryAttr({}));

    for (unsigned i = 0; i < tensorMaps.size(); ++i) {
      entry.getArgument(i).replaceAllUsesWith(entry.addArgument(generic, function.getLoc()));
      attributes.push_back(tensorMapAttributes());
    }
    if (!tensorMaps.empty())
      function->setAttr(tensorMapsAttr, b.getArrayAttr(tensorMaps));

    SmallVector<cf::AssertOp> assertions;
    function.walk([&](cf::AssertOp op) { assertions.push_back(op); });
    Value failedWord, dispatch;
    if (!assertions.empty()) {
      failedWord = entry.addArgument(global, function.getLoc());
      dispatch = entry.addArgument(i64, function.getLoc());
      attributes.append(2, b.getDictionaryAttr({}));
    }

    b.setInsertionPointToStart(&entry);
    if (hasLocal)
      replaceLocalMemory(entry.getArgument(local), scratch);
    entry.eraseArguments(0, local + (hasLocal ? 1 : 0));
    function.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
    function.setAllArgAttrs(attributes);

    WalkResult result = function.walk([&](Operation *op) {
      b.setInsertionPoint(op);
      if (auto subspan = dyn_cast<HAL::InterfaceBindingSubspanOp>(op))
        return WalkResult(replaceSubspan(subspan, bindingArguments));
      if (auto constant = dyn_cast<HAL::InterfaceConstantLoadOp>(op))
        return WalkResult(replaceConstant(constant, constantArguments));
      if (auto memory = dyn_cast<gpu::DynamicSharedMemoryOp>(op))
        replaceSharedMemory(memory);
      if (auto count = dyn_cast<HAL::InterfaceWorkgroupCountOp>(op)) {
        count.replaceAllUsesWith(toIndex(op->getLoc(), countArguments[count.getDimension()]));
        count.erase();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (CudaTarget::of(function).generation() >= 90)
      awaitEarlierKernels();
    reportFailures(assertions, failedWord, dispatch);
    markKernel();
    return success();
  }

private:
  // Those of which the kernel uses more than 32 bits.
  llvm::BitVector findWideConstants(int64_t constants) {
    llvm::BitVector wide(constants);
    function.walk([&](HAL::InterfaceConstantLoadOp op) {
      if (int64_t(op.getOrdinal()) < constants && (op.getType().isIndex() || op.getType().getIntOrFloatBitWidth() > 32))
        wide.set(op.getOrdinal());
    });
    return wide;
  }

  DictionaryAttr bindingAttributes(bool readOnly) {
    NamedAttrList list;
    list.set("llvm.noundef", b.getUnitAttr());
    list.set("llvm.align", b.getI64IntegerAttr(KILN_BINDING_ALIGNMENT));
    // LLVM takes it that nobody else writes memory behind such a pointer, while at a barrier other threads may have.
    if (readOnly || !hasBarriers)
      list.set("llvm.noalias", b.getUnitAttr());
    if (readOnly)
      list.set("llvm.readonly", b.getUnitAttr());
    return list.getDictionary(b.getContext());
  }

  // A launch need not wait for the kernels before it to end: this one does, and lets those after it be launched. What a
  // kernel does before it uses memory comes before, where it says so.
  void awaitEarlierKernels() {
    if (function->hasAttr(startsEarlyAttr))
      return;
    b.setInsertionPointToStart(&function.getFunctionBody().front());
    NVVM::GriddepcontrolOp::create(b, function.getLoc(), NVVM::GridDepActionKind::launch_dependents);
    kiln::awaitEarlierKernels(b, function);
  }

  // Passed by value, and read where the launch has put it.
  DictionaryAttr tensorMapAttributes() {
    NamedAttrList list;
    list.set("llvm.align", b.getI64IntegerAttr(64));
    list.set("llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kGpuTensorMapBytes)));
    list.set("nvvm.grid_constant", b.getUnitAttr());
    return list.getDictionary(b.getContext());
  }

  // A thread whose assertion fails says so and goes on, since others may wait for it. Of all that fail in a dispatch
  // the first in the text is told, whichever thread is first.
  void reportFailures(ArrayRef<cf::AssertOp> assertions, Value word, Value dispatch) {
    llvm::SetVector<Attribute> messages;
    for (cf::AssertOp op : assertions) {
      Location loc = op.getLoc();
      messages.insert(op.getMsgAttr());
      int64_t number = llvm::find(messages, op.getMsgAttr()) - messages.begin();
      Block *before = op->getBlock(), *after = before->splitBlock(op), *report = b.createBlock(after);
      Value failure = LLVM::OrOp::create(b, loc, dispatch, constant(loc, number));
      LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::umin, word, failure, LLVM::AtomicOrdering::monotonic,
                                "device");
      cf::BranchOp::create(b, loc, after);
      b.setInsertionPointToEnd(before);
      cf::CondBranchOp::create(b, loc, op.getArg(), after, report);
      op.erase();
    }
    if (!messages.empty())
      function->setAttr(assertionsAttr, b.getArrayAttr(messages.getArrayRef()));
  }

  Value constant(Location loc, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  }

  Value toIndex(Location loc, Value value) { return arith::IndexCastOp::create(b, loc, b.getIndexType(), value); }

  // Shared memory where it fits, else the block's part of the scratch memory.
  void replaceLocalMemory(BlockArgument argument, Value scratch) {
    Location loc = argument.getLoc();
    auto type = cast<MemRefType>(argument.getType());
    int64_t bytes = type.getNumElements();
    Value pointer;
    if (bytes <= CudaTarget::sharedBytes) {
      OpBuilder top = OpBuilder::atBlockBegin(function->getBlock());
      auto array = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
      auto memory = LLVM::GlobalOp::create(top, loc, array, /*isConstant=*/false, LLVM::Linkage::Internal,
                                           (function.getName() + "_shared").str(), Attribute(), KILN_BINDING_ALIGNMENT,
                                           static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
      pointer = LLVM::AddressOfOp::create(b, loc, memory);
    } else {
      int64_t stride = llvm::alignTo(bytes, 256);
      function->setAttr(scratchBytesAttr, b.getI64IntegerAttr(stride));
      Value block = NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
      Value offset = LLVM::MulOp::create(b, loc, LLVM::ZExtOp::create(b, loc, i64, block), constant(loc, stride));
      pointer = LLVM::GEPOp::create(b, loc, global, b.getI8Type(), scratch, offset);
    }
    pointer = LLVM::AddrSpaceCastOp::create(b, loc, generic, pointer);
    Value descriptor = MemRefDescriptor::fromStaticShape(b, loc, converter, type, pointer);
    argument.replaceAllUsesWith(converter.materializeSourceConversion(b, loc, type, descriptor));
  }

  void replaceSharedMemory(gpu::DynamicSharedMemoryOp op) {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getType());
    Value pointer = dynamicSharedMemory(b, function);
    int64_t bytes = function->getAttrOfType<IntegerAttr>(dynamicSharedBytesAttr).getInt();
    Value fields[] = {pointer, pointer, constant(loc, 0), constant(loc, bytes), constant(loc, 1)};
    Value descriptor = MemRefDescriptor::pack(b, loc, converter, type, fields);
    op.replaceAllUsesWith(converter.materializeSourceConversion(b, loc, type, descriptor));
    op.erase();
  }

  LogicalResult replaceSubspan(HAL::InterfaceBindingSubspanOp op, ArrayRef<Value> arguments) {
    auto type = dyn_cast<MemRefType>(op.getType());
    if (!type || !type.getLayout().isIdentity())
      return op.emitOpError("must have a memref type without a layout, since a binding is contiguous");
    if (!converter.convertType(type))
      return op.emitOpError("has a type that memory on a GPU cannot hold: ") << type;
    if (op.getBinding() >= arguments.size())
      return op.emitOpError("names binding ") << op.getBinding() << " of a dispatch that has " << arguments.size();
    Location loc = op.getLoc();
    SmallVector<Value> sizes;
    auto dynamic = op.getDynamicDims().begin();
    for (int64_t extent : type.getShape())
      sizes.push_back(ShapedType::isDynamic(extent) ? converter.materializeTargetConversion(b, loc, i64, *dynamic++)
                                                    : constant(loc, extent));
    SmallVector<Value> strides(sizes.size());
    Value stride = constant(loc, 1);
    for (size_t d = sizes.size(); d-- > 0;) {
      strides[d] = stride;
      if (d > 0)
        stride = LLVM::MulOp::create(b, loc, stride, sizes[d], LLVM::IntegerOverflowFlags::nsw);
    }
    Value pointer = LLVM::AddrSpaceCastOp::create(b, loc, generic, arguments[op.getBinding()]);
    SmallVector<Value> fields{pointer, pointer, constant(loc, 0)};
    llvm::append_range(fields, sizes);
    llvm::append_range(fields, strides);
    Value descriptor = MemRefDescriptor::pack(b, loc, converter, type, fields);
    op.replaceAllUsesWith(converter.materializeSourceConversion(b, loc, type, descriptor));
    op.erase();
    return success();
  }

  LogicalResult replaceConstant(HAL::InterfaceConstantLoadOp op, ArrayRef<Value> arguments) {
    if (op.getOrdinal() >= arguments.size())
      return op.emitOpError("names constant ") << op.getOrdinal() << " of a dispatch that has " << arguments.size();
    Location loc = op.getLoc();
    Value value = arguments[op.getOrdinal()];
    Type type = op.getType();
    if (type.isIndex()) {
      value = toIndex(loc, value);
    } else {
      unsigned width = type.getIntOrFloatBitWidth();
      if (width > 64)
        return op.emitOpError("is wider than a push constant, which has 64 bits: ") << type;
      if (width < value.getType().getIntOrFloatBitWidth())
        value = arith::TruncIOp::create(b, loc, b.getIntegerType(width), value);
      if (value.getType() != type)
        value = arith::BitcastOp::create(b, loc, type, value);
    }
    op.replaceAllUsesWith(value);
    op.erase();
    return success();
  }

  void markKernel() {
    int32_t threads = 1;
    if (auto attr = function->getAttrOfType<IntegerAttr>(threadsAttr))
      threads = attr.getInt();
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr({threads, 1, 1}));
    if (auto blocks = function->getAttrOfType<IntegerAttr>(blocksPerMultiprocessorAttr))
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), blocks);
    if (auto cluster = function->getAttrOfType<IntegerAttr>(clusterBlocksAttr))
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        b.getDenseI32ArrayAttr({int32_t(cluster.getInt()), 1, 1}));
  }

  func::FuncOp function;
  const LLVMTypeConverter &converter;
  OpBuilder b;
  Type i64;
  LLVM::LLVMPointerType generic;
  bool hasBarriers;
  LLVM::LLVMPointerType global;
};

} // namespace

Value dynamicSharedMemory(OpBuilder &b, func::FuncOp function) {
  constexpr StringLiteral name = "kiln_shared";
  constexpr int64_t alignment = 1024;
  Operation *module = function->getParentOp();
  auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(module, b.getStringAttr(name));
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(function->getBlock());
    global = LLVM::GlobalOp::create(top, function.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                    /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(), alignment,
                                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  }
  return LLVM::AddressOfOp::create(b, function.getLoc(), global);
}

void awaitEarlierKernels(OpBuilder &b, func::FuncOp function) {
  // LLVM's intrinsic says that it does nothing to memory, so that loads could move before it.
  LLVM::InlineAsmOp::create(b, function.getLoc(), TypeRange(), ValueRange(), "griddepcontrol.wait;", "~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
  function->setAttr(startsEarlyAttr, b.getUnitAttr());
}

LogicalResult makeKernel(func::FuncOp function, const LLVMTypeConverter &converter) {
  return KernelBuilder(function, converter).build();
}

} // namespace kiln
