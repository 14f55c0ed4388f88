// What stands behind the opaque handles of kiln.h. Internal to the C API.
#ifndef KILN_RUNTIME_CAPI_HANDLES_H
#define KILN_RUNTIME_CAPI_HANDLES_H

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "kiln/base/call_limit.h"
#include "kiln/base/status.h"
#include "kiln/runtime/capi/kiln.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/module/module.h"
#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/runtime/vm/any_ref.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln::capi {

enum class HandleKind : uint8_t {
  None,
  Status,
  Instance,
  Device,
  Module,
  NativeModule,
  Program,
  Session,
  Function,
  Fence,
  CallLimit,
  Parameters,
  Reference,
};

// The objects that a program holds. A handle is an odd number and no address: a place in this table, and how many
// objects stood there before. So anything that is no live handle is recognized as such without being looked into: one
// that was released before, one of another kind, or no handle at all. All functions may be called on any thread.
class HandleTable {
public:
  // The count of a handle that is never released.
  static constexpr uint32_t kPermanent = UINT32_MAX;

  // A new handle, which takes the caller's reference over; its count belongs to the caller. `type` is that of a
  // reference, else null. Throws std::bad_alloc, and takes nothing over then.
  static void *add(HandleKind kind, const RefCounted *object, const vm::RefType *type, uint32_t count = 1);
  // The object, retained; null where the handle is no live one of the kind.
  static vm::AnyRef find(HandleKind kind, const void *handle);
  // False where the handle is no live one of the kind.
  static bool retain(HandleKind kind, const void *handle);
  static bool release(HandleKind kind, const void *handle) { return release(kind, handle, nullptr); }
  // The same; where this was the handle's last count, its object is handed over.
  static bool release(HandleKind kind, const void *handle, vm::AnyRef *last);
};

struct StatusObject final : RefCounted {
  StatusObject(StatusCode code, std::string message) : code(code), message(std::move(message)) {}
  const StatusCode code;
  const std::string message;
};

struct InstanceObject final : RefCounted {
  // Counts from 1; never that of two instances.
  const uint64_t number = nextNumber();
  std::mutex mutex;
  hal::DriverRegistry drivers; // guarded

private:
  static uint64_t nextNumber() {
    static std::atomic<uint64_t> last{0};
    return ++last;
  }
};

// Objects of two instances are never used together; 0 is of no instance, and goes with all.
inline Status checkInstance(uint64_t have, uint64_t needed, std::string_view what) {
  if (have == needed || have == 0 || needed == 0)
    return okStatus();
  return invalidArgument("{} belongs to another kiln_instance_t; make both with devices of one instance", what);
}

struct ProgramObject;
struct SessionObject;
struct FunctionObject;
struct FenceObject;

// The object and the name of each type of handle.
template <typename Handle> struct HandleTraits;
#define KILN_HANDLE(handle, HandleObject, Kind)                                                                        \
  template <> struct HandleTraits<handle> {                                                                            \
    using Object = HandleObject;                                                                                       \
    static constexpr HandleKind kind = HandleKind::Kind;                                                               \
    static constexpr const char *name = #handle;                                                                       \
  };
KILN_HANDLE(kiln_status_t, StatusObject, Status)
KILN_HANDLE(kiln_instance_t, InstanceObject, Instance)
KILN_HANDLE(kiln_device_t, hal::Device, Device)
KILN_HANDLE(kiln_module_t, vm::Module, Module)
KILN_HANDLE(kiln_native_module_t, vm::NativeModule, NativeModule)
KILN_HANDLE(kiln_program_t, ProgramObject, Program)
KILN_HANDLE(kiln_session_t, SessionObject, Session)
KILN_HANDLE(kiln_function_t, FunctionObject, Function)
KILN_HANDLE(kiln_fence_t, FenceObject, Fence)
KILN_HANDLE(kiln_call_limit_t, CallLimit, CallLimit)
KILN_HANDLE(kiln_parameters_t, ParameterSet, Parameters)
#undef KILN_HANDLE

template <typename Handle> Handle *addHandle(const typename HandleTraits<Handle>::Object *object) {
  return static_cast<Handle *>(HandleTable::add(HandleTraits<Handle>::kind, object, nullptr));
}
// Takes the reference over.
template <typename Handle> Handle *giveHandle(Ref<typename HandleTraits<Handle>::Object> object) {
  Handle *handle = addHandle<Handle>(object.get());
  (void)object.leak();
  return handle;
}
// Null where the handle is not live.
template <typename Handle> Ref<typename HandleTraits<Handle>::Object> findHandle(const Handle *handle) {
  using Object = typename HandleTraits<Handle>::Object;
  const RefCounted *object = HandleTable::find(HandleTraits<Handle>::kind, handle).leak();
  return Ref<Object>::adopt(static_cast<Object *>(const_cast<RefCounted *>(object)));
}

// What is wrong with a handle that is not live.
std::string describeBadHandle(const void *handle, const char *typeName);

// The object of an argument of a function that returns a status.
template <typename Handle>
Result<Ref<typename HandleTraits<Handle>::Object>> argument(const Handle *handle, const char *name) {
  Ref<typename HandleTraits<Handle>::Object> object = findHandle(handle);
  if (!object)
    return invalidArgument("`{}` is {}", name, describeBadHandle(handle, HandleTraits<Handle>::name));
  return object;
}
// An argument that must not be NULL.
template <typename T> Status needed(const T *pointer, const char *name) {
  return pointer ? okStatus() : invalidArgument("`{}` is NULL", name);
}
// An array that may be NULL where it is empty.
inline Status neededArray(const void *pointer, size_t count, const char *name) {
  return pointer || count == 0 ? okStatus() : invalidArgument("`{}` is NULL; {} items are announced", name, count);
}

// The objects of an array of handles in the options, appended to `objects`.
template <typename Handle>
Status readHandles(const char *name, Handle *const *handles, size_t count,
                   std::vector<Ref<typename HandleTraits<Handle>::Object>> &objects) {
  constexpr size_t kMaxObjects = 65536; // more was never meant
  if (count > kMaxObjects)
    return invalidArgument("{} `{}` are announced; at most {} are possible", count, name, kMaxObjects);
  KILN_RETURN_IF_ERROR(neededArray(static_cast<const void *>(handles), count, name));
  for (size_t i = 0; i < count; ++i) {
    Result<Ref<typename HandleTraits<Handle>::Object>> object = argument(handles[i], name);
    if (!object.ok())
      return std::move(object).status().withContext(fmt::format("item {}", i));
    objects.push_back(*std::move(object));
  }
  return okStatus();
}

// Tells the program of a wrong handle that a function without a status was given; see kiln_set_misuse_handler. Needs no
// memory.
void reportMisuse(const char *function, const void *handle, const char *typeName);

// The object of an argument of a function that returns no status; where the handle is not live the program is told, and
// the result is null.
template <typename Handle>
Ref<typename HandleTraits<Handle>::Object> query(const char *function, const Handle *handle) {
  Ref<typename HandleTraits<Handle>::Object> object = findHandle(handle);
  if (!object)
    reportMisuse(function, handle, HandleTraits<Handle>::name);
  return object;
}
template <typename Handle> void retainHandle(const char *function, const Handle *handle) {
  if (handle && !HandleTable::retain(HandleTraits<Handle>::kind, handle))
    reportMisuse(function, handle, HandleTraits<Handle>::name);
}
template <typename Handle> void releaseHandle(const char *function, const Handle *handle) {
  if (handle && !HandleTable::release(HandleTraits<Handle>::kind, handle))
    reportMisuse(function, handle, HandleTraits<Handle>::name);
}

// Makes the status that toHandle gives where there is no memory for another one.
void reserveStatus();
// NULL for success. Never throws after reserveStatus.
kiln_status_t *toHandle(const Status &status);
// Takes the handle over.
Status fromHandle(kiln_status_t *status);
// The status of the exception that is being handled. Rethrows what ends a thread.
Status statusOfException();

// The same as a handle, also where there is no memory for a status.
kiln_status_t *handleOfException();

// Calls a function that returns a Status and turns what it returns or throws into a handle.
template <typename Body> kiln_status_t *guarded(const Body &body) {
  try {
    reserveStatus();
    return toHandle(body());
  } catch (...) {
    return handleOfException();
  }
}

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_HANDLES_H
