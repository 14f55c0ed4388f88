// Buffer views as arguments of functions that return a status. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_VIEW_ARGUMENT_H
#define KILN_RUNTIME_CAPI_VIEW_ARGUMENT_H

#include <algorithm>
#include <span>

#include "kiln/runtime/capi/values.h"
#include "kiln/runtime/vm/hal_types.h"

namespace kiln::capi {

// The view that a reference is to, whose memory is still that of who holds it.
inline Result<Ref<hal::BufferView>> viewArgument(kiln_ref_t ref) {
  KILN_ASSIGN_OR_RETURN(vm::AnyRef object, refArgument(ref));
  Ref<hal::BufferView> view = object.get<hal::BufferView>();
  if (!view)
    return invalidArgument("the reference is {}; a hal.buffer_view is needed", object.typeName());
  if (view->isDonated())
    return failedPrecondition("the memory of this {} was given away to a call", view->typeText());
  return view;
}
// Whether an object may be given to a session of the instance.
inline Status checkInstance(const vm::AnyRef &object, uint64_t instance) {
  if (auto *view = object.as<hal::BufferView>())
    return checkInstance(view->buffer()->instance(), instance, "the buffer view");
  if (auto *buffer = object.as<hal::Buffer>())
    return checkInstance(buffer->instance(), instance, "the buffer");
  if (auto *device = object.as<hal::Device>())
    return checkInstance(device->allocator().instance(), instance, "the device");
  return okStatus();
}
// A copy of its elements takes so many bytes.
inline Status checkCopySize(const hal::BufferView &view, const void *memory, size_t size, const char *name) {
  if (size != view.byteLength())
    return invalidArgument("a {} has {} bytes; `{}` has {}", view.typeText(), view.byteLength(), name, size);
  return neededArray(memory, size, name);
}
// Native code relies on 0 or 1 in the bytes of truth values.
inline Status checkTruthValues(hal::ElementType type, const void *memory, size_t size) {
  if (type != hal::ElementType::I1 || !memory)
    return okStatus();
  std::span bytes(static_cast<const uint8_t *>(memory), size);
  auto bad = std::ranges::find_if(bytes, [](uint8_t byte) { return byte > 1; });
  if (bad == bytes.end())
    return okStatus();
  return invalidArgument("element {} of a tensor of i1 is the byte {}; only 0 and 1 are truth values",
                         bad - bytes.begin(), *bad);
}

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_VIEW_ARGUMENT_H
