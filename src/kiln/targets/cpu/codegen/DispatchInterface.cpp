#include "kiln/targets/cpu/codegen/DispatchInterface.h"

#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/schema/executable_abi.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

#include <cstddef>
#include <map>

using namespace mlir;

namespace kiln {

namespace {

// Makes the body's arguments on demand, and remembers for each how the ABI function gets its value.
class BodyArguments {
public:
  BodyArguments(func::FuncOp func) : func(func), builder(func.getContext()) {}

  enum class Source { Binding, Constant, WorkgroupID, WorkgroupCount, LocalMemory };

  Value get(Source source, unsigned index, bool readOnly, int64_t bytes) {
    Entry &entry = entries[{source, index}];
    if (!entry.argument) {
      bool isPointer = source == Source::Binding || source == Source::LocalMemory;
      Type type = isPointer ? Type(LLVM::LLVMPointerType::get(func.getContext())) : builder.getI64Type();
      entry.argument = func.getBody().front().addArgument(type, func.getLoc());
      entry.order = order++;
    }
    entry.readOnly &= readOnly;
    entry.bytes = std::max(entry.bytes, bytes);
    return entry.argument;
  }

  // Gives the function its new type and attributes, and builds the values that a caller passes.
  SmallVector<Value> finish(OpBuilder &caller, Location loc, Value dispatch, Value workgroup) {
    SmallVector<std::pair<std::pair<Source, unsigned>, Entry>> sorted(entries.begin(), entries.end());
    llvm::sort(sorted, [](auto &a, auto &b) { return a.second.order < b.second.order; });
    SmallVector<Type> types;
    SmallVector<Value> values;
    SmallVector<DictionaryAttr> attributes;
    for (auto &[key, entry] : sorted) {
      types.push_back(entry.argument.getType());
      attributes.push_back(argumentAttributes(key.first, entry));
      values.push_back(load(caller, loc, key.first, key.second, entry, dispatch, workgroup));
    }
    func.setFunctionType(builder.getFunctionType(types, func.getResultTypes()));
    func.setAllArgAttrs(attributes);
    return values;
  }

private:
  struct Entry {
    BlockArgument argument;
    unsigned order = 0;
    bool readOnly = true;
    int64_t bytes = 0; // known to be there
  };

  DictionaryAttr argumentAttributes(Source source, const Entry &entry) {
    NamedAttrList list;
    list.set("llvm.noundef", builder.getUnitAttr());
    if (source == Source::Binding || source == Source::LocalMemory) {
      list.set("llvm.align", builder.getI64IntegerAttr(KILN_BINDING_ALIGNMENT));
      list.set("llvm.noalias", builder.getUnitAttr());
      list.set("llvm.nonnull", builder.getUnitAttr());
      if (entry.bytes > 0)
        list.set("llvm.dereferenceable", builder.getI64IntegerAttr(entry.bytes));
      if (source == Source::Binding && entry.readOnly)
        list.set("llvm.readonly", builder.getUnitAttr());
    }
    return list.getDictionary(func.getContext());
  }

  Value fieldAddress(OpBuilder &b, Location loc, Value base, size_t offset) {
    if (offset == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)}, LLVM::GEPNoWrapFlags::inbounds);
  }

  // The states do not change while a dispatch runs, so that every load of them is invariant.
  LLVM::LoadOp loadField(OpBuilder &b, Location loc, Type type, Value base, size_t offset) {
    auto load = LLVM::LoadOp::create(b, loc, type, fieldAddress(b, loc, base, offset));
    load.setInvariant(true);
    return load;
  }

  Value load(OpBuilder &b, Location loc, Source source, unsigned index, const Entry &entry, Value dispatch,
             Value workgroup) {
    Type pointer = dispatch.getType();
    switch (source) {
    case Source::Binding:
    case Source::LocalMemory: {
      Value base = workgroup;
      size_t offset = offsetof(kiln_workgroup_state_t, local_memory);
      if (source == Source::Binding) {
        base = loadField(b, loc, pointer, dispatch, offsetof(kiln_dispatch_state_t, bindings));
        offset = index * sizeof(void *);
      }
      LLVM::LoadOp value = loadField(b, loc, pointer, base, offset);
      if (entry.bytes > 0)
        value.setDereferenceableAttr(LLVM::DereferenceableAttr::get(b.getContext(), entry.bytes, /*mayBeNull=*/false));
      return value;
    }
    case Source::Constant: {
      Value base = loadField(b, loc, pointer, dispatch, offsetof(kiln_dispatch_state_t, constants));
      return loadField(b, loc, b.getI64Type(), base, index * sizeof(uint64_t));
    }
    case Source::WorkgroupID:
    case Source::WorkgroupCount: {
      bool isID = source == Source::WorkgroupID;
      size_t start =
          isID ? offsetof(kiln_workgroup_state_t, workgroup_id) : offsetof(kiln_dispatch_state_t, workgroup_count);
      Value narrow = loadField(b, loc, b.getI32Type(), isID ? workgroup : dispatch, start + index * sizeof(uint32_t));
      return LLVM::ZExtOp::create(b, loc, b.getI64Type(), narrow);
    }
    }
    llvm_unreachable("all sources are handled");
  }

  func::FuncOp func;
  Builder builder;
  unsigned order = 0;
  std::map<std::pair<Source, unsigned>, Entry> entries;
};

} // namespace

// Bytes that the binding is known to have; 0 for a dynamic shape.
static int64_t staticBytes(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !type.getElementType().isIntOrFloat())
    return 0;
  return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

static LogicalResult replaceSubspan(HAL::InterfaceBindingSubspanOp op, BodyArguments &arguments,
                                    const LLVMTypeConverter &converter) {
  auto type = dyn_cast<MemRefType>(op.getType());
  if (!type || !type.getLayout().isIdentity())
    return op.emitOpError("must have a memref type without a layout, since a binding is contiguous");
  Type descriptorType = converter.convertType(type);
  if (!descriptorType)
    return op.emitOpError("has a type that memory on the CPU cannot hold: ") << type;

  OpBuilder b(op);
  Location loc = op.getLoc();
  bool readOnly = op.getAccess() == HAL::BindingAccess::ReadOnly;
  Value pointer = arguments.get(BodyArguments::Source::Binding, op.getBinding(), readOnly, staticBytes(type));
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(value));
  };
  SmallVector<Value> sizes;
  auto dynamic = op.getDynamicDims().begin();
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent)
                        ? converter.materializeTargetConversion(b, loc, b.getI64Type(), *dynamic++)
                        : constant(extent));
  SmallVector<Value> strides(sizes.size());
  Value stride = constant(1);
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    if (d > 0)
      stride = LLVM::MulOp::create(b, loc, stride, sizes[d], LLVM::IntegerOverflowFlags::nsw);
  }
  SmallVector<Value> fields{pointer, pointer, constant(0)};
  llvm::append_range(fields, sizes);
  llvm::append_range(fields, strides);
  Value descriptor = MemRefDescriptor::pack(b, loc, converter, type, fields);
  op.replaceAllUsesWith(converter.materializeSourceConversion(b, loc, type, descriptor));
  op.erase();
  return success();
}

static LogicalResult replaceConstant(HAL::InterfaceConstantLoadOp op, BodyArguments &arguments) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value value = arguments.get(BodyArguments::Source::Constant, op.getOrdinal(), true, 0);
  Type type = op.getType();
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(b, loc, type, value);
  } else {
    unsigned width = type.getIntOrFloatBitWidth();
    if (width > 64)
      return op.emitOpError("is wider than a push constant, which has 64 bits: ") << type;
    if (width < 64)
      value = arith::TruncIOp::create(b, loc, b.getIntegerType(width), value);
    if (value.getType() != type)
      value = arith::BitcastOp::create(b, loc, type, value);
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

bool isDispatch(func::FuncOp func) {
  if (func.isExternal())
    return false;
  auto variant = func->getParentOfType<HAL::ExecutableVariantOp>();
  return variant ? isa_and_nonnull<HAL::ExecutableExportOp>(variant.lookupSymbol(func.getName())) : func.isPublic();
}

FailureOr<LLVM::LLVMFuncOp> splitDispatch(func::FuncOp func, const LLVMTypeConverter &converter) {
  auto messages = func->getAttrOfType<ArrayAttr>(assertMessagesAttr);
  if (func.getNumResults() != (messages ? 1 : 0))
    return func.emitOpError("is a dispatch, and must have no results");
  Location loc = func.getLoc();
  BodyArguments arguments(func);
  int64_t localMemoryBytes = 0;
  Block &entry = func.getBody().front();
  if (func.getNumArguments() != 0) {
    auto type = dyn_cast<MemRefType>(entry.getArgument(0).getType());
    if (func.getNumArguments() != 1 || !func.getArgAttr(0, localMemoryArgAttr) || !type || !type.hasStaticShape())
      return func.emitOpError("is a dispatch, and must have no arguments; what it uses are ops of hal.interface");
    localMemoryBytes = staticBytes(type);
    Value pointer = arguments.get(BodyArguments::Source::LocalMemory, 0, false, localMemoryBytes);
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    Value descriptor = MemRefDescriptor::fromStaticShape(b, loc, converter, type, pointer);
    entry.getArgument(0).replaceAllUsesWith(converter.materializeSourceConversion(b, loc, type, descriptor));
    entry.eraseArgument(0);
  }

  WalkResult walk = func.walk([&](Operation *op) {
    LogicalResult result = success();
    if (auto subspan = dyn_cast<HAL::InterfaceBindingSubspanOp>(op)) {
      result = replaceSubspan(subspan, arguments, converter);
    } else if (auto constant = dyn_cast<HAL::InterfaceConstantLoadOp>(op)) {
      result = replaceConstant(constant, arguments);
    } else if (isa<HAL::InterfaceWorkgroupIDOp, HAL::InterfaceWorkgroupCountOp>(op)) {
      OpBuilder b(op);
      auto source = isa<HAL::InterfaceWorkgroupIDOp>(op) ? BodyArguments::Source::WorkgroupID
                                                         : BodyArguments::Source::WorkgroupCount;
      unsigned dimension = op->getAttrOfType<IntegerAttr>("dimension").getInt();
      Value wide = arguments.get(source, dimension, true, 0);
      op->replaceAllUsesWith(
          ValueRange{arith::IndexCastOp::create(b, op->getLoc(), b.getIndexType(), wide).getResult()});
      op->erase();
    }
    return failed(result) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();

  // The ABI function.
  std::string name = func.getName().str();
  OpBuilder b(func);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto abi = LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer}));
  const uint64_t stateBytes[] = {sizeof(kiln_dispatch_state_t), sizeof(kiln_workgroup_state_t)};
  for (unsigned i = 0; i < 2; ++i) {
    abi.setArgAttr(i, "llvm.align", b.getI64IntegerAttr(alignof(void *)));
    abi.setArgAttr(i, "llvm.dereferenceable", b.getI64IntegerAttr(stateBytes[i]));
    for (StringRef attribute : {"llvm.noalias", "llvm.nonnull", "llvm.noundef", "llvm.readonly"})
      abi.setArgAttr(i, attribute, b.getUnitAttr());
  }
  if (localMemoryBytes)
    abi->setAttr(localMemoryBytesAttr, b.getI64IntegerAttr(localMemoryBytes));
  Block *block = abi.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  SmallVector<Value> values = arguments.finish(b, loc, block->getArgument(0), block->getArgument(1));
  std::string bodyName = name + ".body";
  auto call = LLVM::CallOp::create(b, loc, func.getResultTypes(), bodyName, values);
  call.setAlwaysInline(true);
  if (messages) {
    abi->setAttr(assertMessagesAttr, messages);
    func->removeAttr(assertMessagesAttr);
    LLVM::ReturnOp::create(b, loc, call.getResult());
  } else {
    Value zero = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
    LLVM::ReturnOp::create(b, loc, zero);
  }

  func.setName(bodyName);
  func.setPrivate();
  func->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  return abi;
}

} // namespace kiln
