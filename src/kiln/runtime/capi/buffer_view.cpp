// References and buffer views of the C API.
#include <cstring>

#include "kiln/runtime/capi/release_call.h"
#include "kiln/runtime/capi/view_argument.h"

using namespace kiln;
using namespace kiln::capi;

#define KILN_ELEMENT_TYPE(Name, text, number, bits)                                                                    \
  static_assert(static_cast<int>(hal::ElementType::Name) == static_cast<int>(KILN_ELEMENT_TYPE_##Name));
#include "kiln/schema/element_type.def"

namespace {

// The view that a reference stands for, retained; null for anything else, of which the program is told where it is no
// live reference.
Ref<hal::BufferView> viewOf(const char *function, kiln_ref_t ref) {
  vm::AnyRef object = findRef(ref);
  if (!object && ref.object)
    reportMisuse(function, ref.object, "kiln_ref_t");
  return object.get<hal::BufferView>();
}

// What both ways of making a view are given.
struct ViewArguments {
  kiln_device_t *device;
  kiln_element_type_t type;
  const uint64_t *shape;
  size_t rank;
  size_t size;
  kiln_ref_t *out;
};

struct CheckedView {
  Ref<hal::Device> device;
  hal::ElementType type;
  std::span<const uint64_t> shape;
};

Result<CheckedView> check(const ViewArguments &given) {
  KILN_RETURN_IF_ERROR(needed(given.out, "out_view"));
  CheckedView view;
  KILN_ASSIGN_OR_RETURN(view.device, argument(given.device, "device"));
  KILN_RETURN_IF_ERROR(neededArray(given.shape, given.rank, "shape"));
  if (given.rank > hal::BufferView::kMaxRank)
    return invalidArgument("a tensor of rank {} was asked for; at most {} dimensions are possible", given.rank,
                           hal::BufferView::kMaxRank);
  std::optional<hal::ElementType> type = hal::elementTypeFromNumber(static_cast<uint32_t>(given.type));
  if (!type)
    return invalidArgument("there is no element type {}", static_cast<int>(given.type));
  view.type = *type;
  view.shape = {given.shape, given.rank};
  KILN_ASSIGN_OR_RETURN(uint64_t bytes, hal::shapeByteLength(view.type, view.shape));
  if (bytes != given.size)
    return invalidArgument("a {} takes {} bytes; {} are given", hal::shapeText(view.type, view.shape), bytes,
                           given.size);
  return view;
}

Status giveView(const CheckedView &checked, Ref<hal::Buffer> buffer, kiln_ref_t *out) {
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view,
                        hal::BufferView::create(std::move(buffer), checked.type, checked.shape));
  *out = giveRef(vm::AnyRef(std::move(view)));
  return okStatus();
}

Status createView(const ViewArguments &given, const void *data) {
  KILN_ASSIGN_OR_RETURN(CheckedView checked, check(given));
  KILN_RETURN_IF_ERROR(checkTruthValues(checked.type, data, given.size));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer,
                        checked.device->allocator().allocate(hal::BufferUsage::External, given.size));
  if (data) {
    KILN_RETURN_IF_ERROR(buffer->write(0, {static_cast<const std::byte *>(data), given.size}));
  } else if (given.size) {
    KILN_ASSIGN_OR_RETURN(hal::MappedMemory memory, buffer->map(hal::MemoryAccess::Write));
    std::memset(memory.data(), 0, memory.size());
  }
  return giveView(checked, std::move(buffer), given.out);
}

Status wrapView(const ViewArguments &given, hal::HostMemory memory) {
  KILN_ASSIGN_OR_RETURN(CheckedView checked, check(given));
  KILN_RETURN_IF_ERROR(neededArray(memory.data, given.size, "data"));
  KILN_RETURN_IF_ERROR(checkTruthValues(checked.type, memory.data, given.size));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, checked.device->allocator().importHost(std::move(memory)));
  return giveView(checked, std::move(buffer), given.out);
}

Status readView(kiln_ref_t ref, void *target, size_t size) {
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, viewArgument(ref));
  KILN_RETURN_IF_ERROR(checkCopySize(*view, target, size, "target"));
  return view->buffer()->read(0, {static_cast<std::byte *>(target), size});
}

Status writeView(kiln_ref_t ref, const void *source, size_t size) {
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view, viewArgument(ref));
  KILN_RETURN_IF_ERROR(checkCopySize(*view, source, size, "source"));
  KILN_RETURN_IF_ERROR(checkTruthValues(view->elementType(), source, size));
  return view->buffer()->write(0, {static_cast<const std::byte *>(source), size});
}

} // namespace

void kiln_ref_retain(kiln_ref_t ref) {
  if (ref.object && !HandleTable::retain(HandleKind::Reference, ref.object))
    reportMisuse(__func__, ref.object, "kiln_ref_t");
}
void kiln_ref_release(kiln_ref_t ref) {
  if (ref.object && !HandleTable::release(HandleKind::Reference, ref.object))
    reportMisuse(__func__, ref.object, "kiln_ref_t");
}
const char *kiln_ref_type_name(kiln_ref_t ref) {
  vm::AnyRef object = findRef(ref);
  if (!object && ref.object)
    reportMisuse(__func__, ref.object, "kiln_ref_t");
  return object.typeName(); // a type lives as long as the program
}
int kiln_ref_is_buffer_view(kiln_ref_t ref) {
  return viewOf(__func__, ref).get() != nullptr;
}

kiln_status_t *kiln_buffer_view_create(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                       size_t rank, const void *data, size_t size, kiln_ref_t *out_view) {
  return guarded([&] { return createView({device, type, shape, rank, size, out_view}, data); });
}
kiln_status_t *kiln_buffer_view_wrap(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                     size_t rank, void *data, size_t size, kiln_release_fn_t release,
                                     void *release_context, kiln_ref_t *out_view) {
  return guarded([&] {
    hal::HostMemory memory;
    memory.data = data;
    memory.length = size;
    memory.release = releaseOnce(release, release_context);
    return wrapView({device, type, shape, rank, size, out_view}, std::move(memory));
  });
}

kiln_element_type_t kiln_buffer_view_element_type(kiln_ref_t ref) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return static_cast<kiln_element_type_t>(view ? static_cast<int>(view->elementType()) : 0);
}
size_t kiln_buffer_view_rank(kiln_ref_t ref) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return view ? view->rank() : 0;
}
uint64_t kiln_buffer_view_dimension(kiln_ref_t ref, size_t index) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return view && index < view->rank() ? view->dimension(static_cast<uint32_t>(index)) : 0;
}
size_t kiln_buffer_view_byte_size(kiln_ref_t ref) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return view ? view->byteLength() : 0;
}
const void *kiln_buffer_view_data(kiln_ref_t ref) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return view && !view->isDonated() ? view->buffer()->hostPointer() : nullptr;
}
kiln_status_t *kiln_buffer_view_read(kiln_ref_t ref, void *target, size_t size) {
  return guarded([&] { return readView(ref, target, size); });
}
void *kiln_buffer_view_mutable_data(kiln_ref_t ref) {
  Ref<hal::BufferView> view = viewOf(__func__, ref);
  return view && !view->isDonated() && hal::allows(view->buffer()->access(), hal::MemoryAccess::Write)
             ? view->buffer()->hostPointer()
             : nullptr;
}
kiln_status_t *kiln_buffer_view_write(kiln_ref_t ref, const void *source, size_t size) {
  return guarded([&] { return writeView(ref, source, size); });
}
