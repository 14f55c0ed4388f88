#include "kiln/runtime/vm/hal_module.h"

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/native_binding.h"
#include "kiln/runtime/vm/program_objects.h"

namespace kiln::vm {

using hal::Binding;
using hal::Buffer;
using hal::BufferUsage;
using hal::BufferView;
using hal::CommandBuffer;
using hal::CommandBufferMode;
using hal::Device;
using hal::ElementType;
using hal::Executable;
using hal::Fence;
using hal::MemoryAccess;
using hal::SlotRange;

namespace {

// Arrays of a call whose length the program decides: on the stack up to a usual size.
template <typename T, size_t inlineCount> class CallArray {
public:
  explicit CallArray(size_t count) : items(few.data(), count) {
    if (count > inlineCount) {
      many.resize(count);
      items = many;
    }
  }
  CallArray(const CallArray &) = delete;
  T &operator[](size_t i) { return items[i]; }
  std::span<T> span() const { return items; }

private:
  std::array<T, inlineCount> few;
  std::vector<T> many;
  std::span<T> items;
};

Result<ElementType> elementType(uint32_t number) {
  if (auto type = hal::elementTypeFromNumber(number))
    return *type;
  return invalidArgument("there is no element type {}", number);
}

// "4x?xf32": -1 is a dimension that the program does not fix.
std::string expectedText(ElementType type, std::span<const uint64_t> shape) {
  std::string text;
  for (uint64_t extent : shape)
    text += static_cast<int64_t>(extent) < 0 ? "?x" : fmt::format("{}x", extent);
  return text + std::string(hal::elementTypeName(type));
}

// Why a view is not what the program takes. Only called where it is not.
Status viewMismatch(const BufferView &view, std::string_view label, ElementType type, std::span<const uint64_t> shape) {
  std::string reasons;
  auto reason = [&](const std::string &text) { reasons += (reasons.empty() ? "" : "; ") + text; };
  if (view.elementType() != type)
    reason(fmt::format("the element type is {}, not {}", hal::elementTypeName(view.elementType()),
                       hal::elementTypeName(type)));
  if (view.rank() != shape.size()) {
    reason(fmt::format("the rank is {}, not {}", view.rank(), shape.size()));
  } else {
    for (size_t i = 0; i < shape.size(); ++i)
      if (static_cast<int64_t>(shape[i]) >= 0 && shape[i] != view.dimension(i))
        reason(fmt::format("dimension {} is {}, not {}", i, view.dimension(i), shape[i]));
  }
  return invalidArgument("{}: expected {}, got {} ({})", label, expectedText(type, shape), view.typeText(), reasons);
}

Status wasDonated(std::string_view label) {
  return failedPrecondition("{}: its memory was given away to an earlier call", label);
}

bool shareMemory(const Buffer &a, const Buffer &b) {
  return a.allocation() == b.allocation() && a.allocationOffset() < b.allocationOffset() + b.byteLength() &&
         b.allocationOffset() < a.allocationOffset() + a.byteLength();
}

// The functions of hal_imports.def, under its names.
class HalModule final : public NativeModule {
public:
  HalModule(std::vector<Ref<Device>> devices, Ref<ParameterSet> parameters)
      : NativeModule("hal", schema::kHalVersion), devices(std::move(devices)),
        parameters(parameters ? std::move(parameters) : makeRef<ParameterSet>()) {}

  Status registerFunctions() {
#define KILN_HAL_IMPORT(Name, name, signature)                                                                         \
  KILN_RETURN_IF_ERROR(addBound<&HalModule::call##Name>(*this, std::string_view(name).substr(4), signature, *this));
#include "kiln/schema/hal_imports.def"
    return okStatus();
  }

  std::optional<Result<AnyRef>> copyForSession(const AnyRef &object) const override {
    if (object.as<Device>() || object.as<Executable>() || object.as<Fence>())
      return object;
    if (auto *commands = object.as<CommandBuffer>())
      return shareRecording(*commands);
    if (auto *buffer = object.as<Buffer>())
      return copyMemory(*buffer);
    if (auto *view = object.as<BufferView>(); view && !allows(view->buffer()->access(), MemoryAccess::Write))
      return object;
    return std::nullopt;
  }

private:
  static Result<AnyRef> shareRecording(CommandBuffer &commands) {
    if (!commands.isFinalized() || commands.mode() != CommandBufferMode::Replay)
      return failedPrecondition("the commands that it holds are not recorded for being executed many times");
    return AnyRef(Ref<CommandBuffer>::share(&commands));
  }

  static Result<AnyRef> copyMemory(Buffer &buffer) {
    if (!allows(buffer.access(), MemoryAccess::Write))
      return AnyRef(Ref<Buffer>::share(&buffer));
    if (buffer.allocation() != &buffer)
      return failedPrecondition("it holds a part of memory of which another part may be used elsewhere");
    KILN_ASSIGN_OR_RETURN(Ref<Buffer> copy, buffer.clone());
    return AnyRef(std::move(copy));
  }

  // A buffer, or the error, which says what the memory was asked for where there was not enough.
  static Result<Ref<Buffer>> orWhatFor(Result<Ref<Buffer>> buffer, std::string_view purpose) {
    if (buffer.ok() || buffer.status().code() != StatusCode::ResourceExhausted) [[likely]]
      return buffer;
    return std::move(buffer).status().withContext(purpose);
  }

  Result<Ref<Device>> callDeviceGet(uint32_t index) {
    if (index >= devices.size())
      return notFound("the program needs device {}; the session has {}", index,
                      devices.empty() ? "none" : fmt::format("{}", devices.size()));
    return devices[index];
  }

  Result<Ref<Executable>> callExecutableCreate(Device &device, ProgramExecutable &program) {
    KILN_ASSIGN_OR_RETURN(uint32_t index, callExecutableVariantIndex(device, program));
    std::vector<hal::ExpectedExport> exports;
    return device.createExecutable(sourceOf(program.info(), index, exports));
  }

  Result<uint32_t> callExecutableVariantIndex(Device &device, ProgramExecutable &program) {
    const ExecutableInfo &info = program.info();
    std::string refusals;
    for (uint32_t i = 0; i < info.variants.size(); ++i) {
      std::vector<hal::ExpectedExport> exports;
      Status check = device.checkExecutable(sourceOf(info, i, exports));
      if (check.ok())
        return i;
      refusals += fmt::format("\n  {} ({}): {}", info.variants[i].target, info.variants[i].format, check.message());
    }
    return failedPrecondition("device '{}' can run no variant of executable '{}'{}{}", device.uri(), info.name,
                              refusals.empty() ? ", which has none" : "; the module holds:", refusals);
  }

  // Refers to `exports`, which it fills.
  static hal::ExecutableSource sourceOf(const ExecutableInfo &info, uint32_t index,
                                        std::vector<hal::ExpectedExport> &exports) {
    const VariantInfo &variant = info.variants[index];
    for (const ExecutableExportInfo &entry : variant.exports)
      exports.push_back({entry.name, entry.bindingCount, entry.constantCount, entry.access});
    hal::ExecutableSource source;
    source.name = info.name;
    source.format = variant.format;
    source.bytes = std::as_bytes(std::span(variant.bytes));
    source.cpu = variant.cpu;
    source.cpuFeatures = variant.cpuFeatures;
    source.exports = exports;
    return source;
  }

  Result<AnyRef> callDeviceEndTurn(Device &device, Fence *inFlight, Fence &submitted, Buffer *transient) {
    if (device.queueCount() == 0) {
      KILN_RETURN_IF_ERROR(submitted.waitWithin(CallLimit::current()));
      return inFlight ? AnyRef(Ref<Fence>::share(inFlight)) : AnyRef();
    }
    if (transient)
      device.releaseOrdered(&submitted, *transient);
    Fence *both[] = {inFlight, &submitted};
    KILN_ASSIGN_OR_RETURN(Ref<Fence> rest, Fence::join(both)->waitUntilFewer(kMostInFlight, CallLimit::current()));
    return AnyRef(std::move(rest));
  }

  static Result<BufferUsage> bufferUsage(uint32_t number) {
    if (number > 1)
      return invalidArgument("there is no buffer usage {}", number);
    return static_cast<BufferUsage>(number);
  }
  static std::string_view purposeOf(BufferUsage usage) {
    return usage == BufferUsage::Transient ? "memory of intermediate values" : "memory of a result";
  }

  Result<Ref<Buffer>> callDeviceQueueAlloca(Device &device, Fence *wait, uint32_t number, uint64_t length) {
    KILN_ASSIGN_OR_RETURN(BufferUsage usage, bufferUsage(number));
    return orWhatFor(device.allocateOrdered(wait, usage, length), purposeOf(usage));
  }

  Result<Ref<Buffer>> callBufferAllocate(Device &device, uint32_t number, uint64_t length) {
    KILN_ASSIGN_OR_RETURN(BufferUsage usage, bufferUsage(number));
    return orWhatFor(device.allocator().allocate(usage, length), purposeOf(usage));
  }

  Result<Ref<Buffer>> callBufferConstant(Device &device, Rodata &rodata, uint64_t offset, uint64_t length) {
    std::string_view bytes = rodata.bytes();
    if (offset > bytes.size() || length > bytes.size() - offset)
      return outOfRange("a constant of {} bytes has no {} bytes at {}", bytes.size(), length, offset);
    hal::HostMemory memory;
    memory.data = const_cast<char *>(bytes.data() + offset);
    memory.length = length;
    memory.access = MemoryAccess::Read;
    memory.checkReadable = [keep = Ref<Rodata>::share(&rodata)] { return keep->checkReadable(); };
    return orWhatFor(device.allocator().importHost(std::move(memory)), "memory of a constant");
  }

  Result<Ref<Buffer>> callParameterLoad(Device &device, Rodata &scope, Rodata &key, uint64_t length) {
    return orWhatFor(parameters->load(device, scope.bytes(), key.bytes(), length), "memory of a parameter");
  }

  Result<Ref<Buffer>> callBufferTransfer(Device &device, Buffer &buffer, uint64_t offset, uint64_t length) {
    KILN_ASSIGN_OR_RETURN(hal::MappedMemory bytes, buffer.map(MemoryAccess::Read, offset, length));
    KILN_ASSIGN_OR_RETURN(Ref<Buffer> copy,
                          orWhatFor(device.allocator().allocate(BufferUsage::Result, length), "memory of a transfer"));
    KILN_RETURN_IF_ERROR(copy->write(0, bytes.bytes()));
    KILN_RETURN_IF_ERROR(buffer.checkReadable());
    return copy;
  }

  Status callBufferSeal(Buffer &buffer) {
    buffer.seal();
    return okStatus();
  }

  Result<uint64_t> callBufferLength(Buffer &buffer) { return buffer.byteLength(); }

  Result<uint64_t> callBufferLoad(Buffer &buffer, uint64_t offset, uint32_t width) {
    if (width != 1 && width != 2 && width != 4 && width != 8)
      return invalidArgument("a value of {} bytes cannot be loaded; 1, 2, 4 or 8 can", width);
    uint64_t value = 0;
    KILN_RETURN_IF_ERROR(buffer.read(offset, std::as_writable_bytes(std::span(&value, 1)).first(width)));
    return value;
  }

  Result<Ref<BufferView>> callBufferViewCreate(Buffer &buffer, uint64_t offset, uint64_t length, uint32_t type,
                                               Repeated shape) {
    KILN_ASSIGN_OR_RETURN(ElementType element, elementType(type));
    auto bytes = Ref<Buffer>::share(&buffer);
    if (offset != 0 || length != buffer.byteLength()) {
      KILN_ASSIGN_OR_RETURN(bytes, Buffer::subspan(std::move(bytes), offset, length));
    }
    return BufferView::create(std::move(bytes), element, shape.values);
  }

  Result<Ref<Buffer>> callBufferViewBuffer(BufferView &view) { return view.sharedBuffer(); }

  Status callBufferViewAssert(BufferView &view, Rodata &label, uint32_t type, Repeated shape) {
    bool equal = static_cast<uint32_t>(view.elementType()) == type && view.rank() == shape.values.size();
    for (size_t i = 0; equal && i < shape.values.size(); ++i)
      equal = static_cast<int64_t>(shape.values[i]) < 0 || shape.values[i] == view.dimension(i);
    if (view.isDonated())
      return wasDonated(label.bytes());
    if (equal) [[likely]]
      return okStatus();
    KILN_ASSIGN_OR_RETURN(ElementType element, elementType(type));
    return viewMismatch(view, label.bytes(), element, shape.values);
  }

  Status callBufferViewDonate(BufferView &view, Rodata &label, Repeated others) {
    Buffer &buffer = *view.buffer();
    if (!allows(buffer.access(), MemoryAccess::Write))
      return invalidArgument("{}: it is given away to be updated, but its memory may only be read", label.bytes());
    for (uint32_t i = 0; i < others.count; ++i) {
      auto *other = others.refs[i]->as<BufferView>();
      if (!other)
        return invalidArgument("view {} of a donation is a {}; a hal.buffer_view is needed", i,
                               others.refs[i]->typeName());
      if (shareMemory(buffer, *other->buffer()))
        return invalidArgument("{}: it is given away to be updated, and another argument has the same memory",
                               label.bytes());
    }
    return view.donate() ? okStatus() : wasDonated(label.bytes());
  }

  Result<uint64_t> callBufferViewDim(BufferView &view, uint32_t index) {
    if (index >= view.rank())
      return outOfRange("a {} has no dimension {}", view.typeText(), index);
    return view.dimension(index);
  }

  Result<Ref<CommandBuffer>> callCommandBufferCreate(Device &device, uint32_t mode, uint32_t slots) {
    if (mode > 1)
      return invalidArgument("there is no command buffer mode {}", mode);
    return device.createCommandBuffer(static_cast<CommandBufferMode>(mode), slots);
  }

  Status callCommandBufferFill(CommandBuffer &commands, uint32_t slot, uint64_t offset, uint64_t length,
                               uint64_t pattern, uint32_t width) {
    return commands.fill({slot, offset, length}, pattern, width);
  }

  Status callCommandBufferCopy(CommandBuffer &commands, uint32_t sourceSlot, uint64_t sourceOffset, uint32_t targetSlot,
                               uint64_t targetOffset, uint64_t length) {
    return commands.copy({sourceSlot, sourceOffset, length}, targetSlot, targetOffset);
  }

  Status callCommandBufferDispatch(CommandBuffer &commands, Executable &executable, uint32_t ordinal, uint64_t x,
                                   uint64_t y, uint64_t z, uint32_t constantCount, Repeated rest) {
    if (constantCount > rest.values.size() || (rest.values.size() - constantCount) % 3 != 0)
      return invalidArgument("{} numbers follow a dispatch with {} constants; its bindings take three each",
                             rest.values.size(), constantCount);
    std::span<const uint64_t> numbers = rest.values.subspan(constantCount);
    CallArray<SlotRange, 16> bindings(numbers.size() / 3);
    for (size_t i = 0; i < numbers.size() / 3; ++i) {
      if (numbers[3 * i] > UINT32_MAX)
        return outOfRange("binding {} of a dispatch names slot {}", i, numbers[3 * i]);
      bindings[i] = {static_cast<uint32_t>(numbers[3 * i]), numbers[3 * i + 1], numbers[3 * i + 2]};
    }
    hal::Dispatch dispatch;
    dispatch.executable = &executable;
    dispatch.exportOrdinal = ordinal;
    dispatch.workgroupCount[0] = x;
    dispatch.workgroupCount[1] = y;
    dispatch.workgroupCount[2] = z;
    dispatch.constants = rest.values.first(constantCount);
    dispatch.bindings = bindings.span();
    return commands.dispatch(dispatch);
  }

  Status callCommandBufferBarrier(CommandBuffer &commands) { return commands.barrier(); }

  Status callCommandBufferFinalize(CommandBuffer &commands) { return commands.finalize(); }

  Result<Ref<Fence>> callDeviceExecute(Device &device, Fence *wait, CommandBuffer &commands, Repeated table) {
    return callDeviceQueueExecute(device, Device::kAnyQueue, wait, commands, table);
  }

  Result<Ref<Fence>> callDeviceQueueExecute(Device &device, uint64_t queues, Fence *wait, CommandBuffer &commands,
                                            Repeated table) {
    CallArray<Binding, 16> bindings(table.count);
    for (uint32_t i = 0; i < table.count; ++i) {
      const AnyRef &buffer = *table.refs[i];
      bindings[i] = {buffer.as<Buffer>(), table.values[2 * i], table.values[2 * i + 1]};
      if (!bindings[i].buffer && buffer)
        return invalidArgument("slot {} of the binding table is a {}; a hal.buffer is needed", i, buffer.typeName());
    }
    return device.execute(wait, &commands, bindings.span(), queues);
  }

  Result<Ref<Fence>> callFenceJoin(Repeated fences) {
    CallArray<Fence *, 16> list(fences.count);
    for (uint32_t i = 0; i < fences.count; ++i) {
      list[i] = fences.refs[i]->as<Fence>();
      if (!list[i] && *fences.refs[i])
        return invalidArgument("entry {} of a join is a {}; a hal.fence is needed", i, fences.refs[i]->typeName());
    }
    return Fence::join(list.span());
  }

  Status callFenceAwait(Fence *fence) { return fence ? fence->waitWithin(CallLimit::current()) : okStatus(); }

  // This many keep a device busy while the host makes the next one.
  static constexpr uint32_t kMostInFlight = 4;

  const std::vector<Ref<Device>> devices;
  const Ref<ParameterSet> parameters;
};

} // namespace

Result<Ref<NativeModule>> createHalModule(std::vector<Ref<hal::Device>> devices, Ref<ParameterSet> parameters) {
  Ref<HalModule> module = makeRef<HalModule>(std::move(devices), std::move(parameters));
  KILN_RETURN_IF_ERROR(module->registerFunctions());
  return Ref<NativeModule>(module);
}

} // namespace kiln::vm
