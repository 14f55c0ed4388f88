// References and buffer views of the C API.
#include <cstring>

#include "kiln/runtime/capi/handles.h"

using namespace kiln;
using namespace kiln::capi;

#define KILN_ELEMENT_TYPE(Name, text, number, bits)                                                                    \
  static_assert(static_cast<int>(hal::ElementType::Name) == static_cast<int>(KILN_ELEMENT_TYPE_##Name));
#include "kiln/schema/element_type.def"

// The view that a reference stands for; null for anything else.
static hal::BufferView *viewOf(kiln_ref_t ref) {
  if (!ref.object || ref.type != &vm::RefTypeOf<hal::BufferView>::type)
    return nullptr;
  return static_cast<hal::BufferView *>(const_cast<RefCounted *>(static_cast<const RefCounted *>(ref.object)));
}

static Result<hal::ElementType> elementType(kiln_element_type_t type) {
  if (auto known = hal::elementTypeFromNumber(static_cast<uint32_t>(type)))
    return *known;
  return invalidArgument("there is no element type {}", static_cast<int>(type));
}

static Status checkSize(hal::ElementType type, std::span<const uint64_t> shape, size_t size) {
  KILN_ASSIGN_OR_RETURN(uint64_t needed, hal::shapeByteLength(type, shape));
  if (needed != size)
    return invalidArgument("a {} takes {} bytes; {} are given", hal::shapeText(type, shape), needed, size);
  return okStatus();
}

static Result<Ref<hal::BufferView>> createView(hal::Device &device, kiln_element_type_t number,
                                               std::span<const uint64_t> shape, const void *data, size_t size) {
  KILN_ASSIGN_OR_RETURN(hal::ElementType type, elementType(number));
  KILN_RETURN_IF_ERROR(checkSize(type, shape, size));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, device.allocator().allocate(hal::BufferUsage::External, size));
  if (data) {
    KILN_RETURN_IF_ERROR(buffer->write(0, {static_cast<const std::byte *>(data), size}));
  } else if (size) {
    KILN_ASSIGN_OR_RETURN(hal::MappedMemory memory, buffer->map(hal::MemoryAccess::Write));
    std::memset(memory.data(), 0, memory.size());
  }
  return hal::BufferView::create(std::move(buffer), type, shape);
}

static Result<Ref<hal::BufferView>> wrapView(hal::Device &device, kiln_element_type_t number,
                                             std::span<const uint64_t> shape, hal::HostMemory memory) {
  auto checked = [&]() -> Result<hal::ElementType> {
    KILN_ASSIGN_OR_RETURN(hal::ElementType type, elementType(number));
    KILN_RETURN_IF_ERROR(checkSize(type, shape, memory.length));
    return type;
  }();
  if (!checked.ok()) {
    if (memory.release)
      memory.release();
    return std::move(checked).status();
  }
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, device.allocator().importHost(std::move(memory)));
  return hal::BufferView::create(std::move(buffer), *checked, shape);
}

static kiln_status_t *give(Result<Ref<hal::BufferView>> view, kiln_ref_t *out_view) {
  if (!view.ok())
    return toHandle(view.status());
  *out_view = leakRef(vm::AnyRef(*std::move(view)));
  return nullptr;
}

void kiln_ref_retain(kiln_ref_t ref) {
  if (ref.object)
    static_cast<const RefCounted *>(ref.object)->retain();
}
void kiln_ref_release(kiln_ref_t ref) {
  if (ref.object)
    static_cast<const RefCounted *>(ref.object)->release();
}
const char *kiln_ref_type_name(kiln_ref_t ref) {
  return ref.object ? static_cast<const vm::RefType *>(ref.type)->name : "null";
}
int kiln_ref_is_buffer_view(kiln_ref_t ref) {
  return viewOf(ref) != nullptr;
}

kiln_status_t *kiln_buffer_view_create(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                       size_t rank, const void *data, size_t size, kiln_ref_t *out_view) {
  return give(createView(*unwrap(device), type, {shape, rank}, data, size), out_view);
}
kiln_status_t *kiln_buffer_view_wrap(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                     size_t rank, void *data, size_t size, kiln_release_fn_t release,
                                     void *release_context, kiln_ref_t *out_view) {
  hal::HostMemory memory;
  memory.data = data;
  memory.length = size;
  if (release)
    memory.release = [=] { release(release_context); };
  return give(wrapView(*unwrap(device), type, {shape, rank}, std::move(memory)), out_view);
}

kiln_element_type_t kiln_buffer_view_element_type(kiln_ref_t ref) {
  hal::BufferView *view = viewOf(ref);
  return static_cast<kiln_element_type_t>(view ? static_cast<int>(view->elementType()) : 0);
}
size_t kiln_buffer_view_rank(kiln_ref_t ref) {
  hal::BufferView *view = viewOf(ref);
  return view ? view->rank() : 0;
}
uint64_t kiln_buffer_view_dimension(kiln_ref_t ref, size_t index) {
  hal::BufferView *view = viewOf(ref);
  return view && index < view->rank() ? view->dimension(static_cast<uint32_t>(index)) : 0;
}
size_t kiln_buffer_view_byte_size(kiln_ref_t ref) {
  hal::BufferView *view = viewOf(ref);
  return view ? view->byteLength() : 0;
}
const void *kiln_buffer_view_data(kiln_ref_t ref) {
  hal::BufferView *view = viewOf(ref);
  return view ? view->buffer()->hostPointer() : nullptr;
}
kiln_status_t *kiln_buffer_view_read(kiln_ref_t ref, void *target, size_t size) {
  hal::BufferView *view = viewOf(ref);
  if (!view)
    return toHandle(invalidArgument("the reference is {}; a hal.buffer_view is needed", kiln_ref_type_name(ref)));
  if (size != view->byteLength())
    return toHandle(
        invalidArgument("a {} has {} bytes; room is given for {}", view->typeText(), view->byteLength(), size));
  return toHandle(view->buffer()->read(0, {static_cast<std::byte *>(target), size}));
}
