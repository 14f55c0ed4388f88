// Sessions and functions of the C API.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kiln/runtime/capi/options.h"
#include "kiln/runtime/capi/values.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/session.h"

using namespace kiln;
using namespace kiln::capi;

namespace kiln::capi {

// A function that the program has a handle of. An export's name stands at one place of its module's metadata, which
// makes it the function's identity.
struct KnownFunction {
  const char *name;
  const kiln_function_t *handle;
};

struct SessionObject final : RefCounted {
  std::unique_ptr<vm::Session> session;
  size_t exportCount = 0; // the first of `functions`; the others were looked up in other modules

  std::mutex mutex;
  std::vector<KnownFunction> functions; // guarded; released with the session's handle
  bool released = false;                // guarded
};

struct FunctionObject final : RefCounted {
  FunctionObject(Ref<SessionObject> session, vm::Function function) : session(std::move(session)), function(function) {}
  const Ref<SessionObject> session;
  const vm::Function function;
};

} // namespace kiln::capi

namespace {

// More of a kind of object was never meant.
constexpr size_t kMaxObjects = 65536;

// The objects of an array of handles in the options.
template <typename Handle>
Status readHandles(const char *name, Handle *const *handles, size_t count,
                   std::vector<Ref<typename HandleTraits<Handle>::Object>> &objects) {
  if (count > kMaxObjects)
    return invalidArgument("{} `{}` are announced; at most {} are possible", count, name, kMaxObjects);
  KILN_RETURN_IF_ERROR(neededArray(handles, count, name));
  for (size_t i = 0; i < count; ++i) {
    Result<Ref<typename HandleTraits<Handle>::Object>> object = argument(handles[i], name);
    if (!object.ok())
      return std::move(object).status().withContext(fmt::format("item {}", i));
    objects.push_back(*std::move(object));
  }
  return okStatus();
}

Result<kiln_session_options_t> readSessionOptions(const kiln_session_options_t *given) {
  const OptionField fields[] = {KILN_OPTION_FIELD(kiln_session_options_t, struct_size),
                                KILN_OPTION_FIELD(kiln_session_options_t, modules),
                                KILN_OPTION_FIELD(kiln_session_options_t, module_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, devices),
                                KILN_OPTION_FIELD(kiln_session_options_t, device_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, native_modules),
                                KILN_OPTION_FIELD(kiln_session_options_t, native_module_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, max_call_depth),
                                KILN_OPTION_FIELD(kiln_session_options_t, stack_bytes)};
  return readOptions("kiln_session_options_t", given, fields);
}

// A function of the session as a handle that lives as long as the session's. The session's mutex is held.
const kiln_function_t *addFunction(const Ref<SessionObject> &session, const vm::Function &function) {
  session->functions.reserve(session->functions.size() + 1);
  const kiln_function_t *handle = giveHandle<kiln_function_t>(makeRef<FunctionObject>(session, function));
  session->functions.push_back({function.name().data(), handle});
  return handle;
}

void releaseFunctions(SessionObject &session) {
  std::vector<KnownFunction> functions;
  {
    std::lock_guard lock(session.mutex);
    session.released = true;
    functions = std::exchange(session.functions, {});
  }
  for (const KnownFunction &function : functions)
    HandleTable::release(HandleKind::Function, function.handle);
}

Status createSession(const kiln_session_options_t *given, kiln_session_t **out) {
  KILN_RETURN_IF_ERROR(needed(out, "out_session"));
  KILN_ASSIGN_OR_RETURN(kiln_session_options_t options, readSessionOptions(given));
  std::vector<Ref<vm::Module>> modules;
  std::vector<Ref<hal::Device>> devices;
  std::vector<Ref<vm::NativeModule>> natives(1);
  KILN_RETURN_IF_ERROR(readHandles("modules", options.modules, options.module_count, modules));
  KILN_RETURN_IF_ERROR(readHandles("devices", options.devices, options.device_count, devices));
  KILN_RETURN_IF_ERROR(readHandles("native_modules", options.native_modules, options.native_module_count, natives));
  KILN_ASSIGN_OR_RETURN(natives.front(), vm::createHalModule(std::move(devices)));

  vm::SessionOptions sessionOptions;
  if (options.max_call_depth)
    sessionOptions.maxCallDepth = options.max_call_depth;
  if (options.stack_bytes)
    sessionOptions.stackBytes = options.stack_bytes;
  auto object = makeRef<SessionObject>();
  KILN_ASSIGN_OR_RETURN(object->session, vm::Session::create(modules, natives, sessionOptions));
  try {
    std::lock_guard lock(object->mutex);
    for (const vm::Function &function : object->session->exports())
      addFunction(object, function);
    object->exportCount = object->functions.size();
    *out = giveHandle<kiln_session_t>(object);
  } catch (...) {
    releaseFunctions(*object); // they hold the session
    throw;
  }
  return okStatus();
}

Status lookup(kiln_session_t *handle, const char *name, const kiln_function_t **out) {
  KILN_ASSIGN_OR_RETURN(Ref<SessionObject> session, argument(handle, "session"));
  KILN_RETURN_IF_ERROR(needed(name, "name"));
  KILN_RETURN_IF_ERROR(needed(out, "out_function"));
  KILN_ASSIGN_OR_RETURN(vm::Function function, session->session->lookup(name));
  std::lock_guard lock(session->mutex);
  if (session->released)
    return failedPrecondition("the session was released meanwhile");
  for (const KnownFunction &known : session->functions)
    if (known.name == function.name().data()) {
      *out = known.handle;
      return okStatus();
    }
  *out = addFunction(session, function);
  return okStatus();
}

Status readArgument(const kiln_value_t &argument, vm::Value &value) {
  switch (argument.kind) {
  case KILN_KIND_REF: {
    KILN_ASSIGN_OR_RETURN(vm::AnyRef object, refArgument(argument.as.ref));
    value = vm::Value(std::move(object));
    return okStatus();
  }
  case KILN_KIND_I32:
  case KILN_KIND_I64:
  case KILN_KIND_F32:
  case KILN_KIND_F64:
    value = vm::Value::scalar(static_cast<vm::ValueKind>(argument.kind), scalarBits(argument));
    return okStatus();
  }
  return invalidArgument("there is no kind {}", static_cast<int>(argument.kind));
}

Status call(kiln_session_t *sessionHandle, const kiln_function_t *functionHandle,
            std::span<const kiln_value_t> arguments, std::span<kiln_value_t> results) {
  KILN_ASSIGN_OR_RETURN(Ref<SessionObject> session, argument(sessionHandle, "session"));
  KILN_ASSIGN_OR_RETURN(Ref<FunctionObject> function, argument(functionHandle, "function"));
  if (function->session.get() != session.get())
    return invalidArgument("function '{}' belongs to another session", function->function.name());
  KILN_RETURN_IF_ERROR(neededArray(arguments.data(), arguments.size(), "arguments"));
  KILN_RETURN_IF_ERROR(neededArray(results.data(), results.size(), "results"));
  // Before anything is read or made for them: what is counted here may be any number.
  if (arguments.size() != function->function.argumentCount() || results.size() != function->function.resultCount())
    return session->session->checkCounts(function->function, arguments.size(), results.size());
  std::ranges::fill(results, kiln_value_t{KILN_KIND_REF, {}});
  CallValues<vm::Value> in(arguments.size()), out(results.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (Status status = readArgument(arguments[i], in[i]); !status.ok())
      return std::move(status).withContext(fmt::format("argument {} of @{}", i, function->function.name()));
  KILN_RETURN_IF_ERROR(session->session->call(function->function, in.span(), out.span()));
  try {
    for (size_t i = 0; i < results.size(); ++i) {
      auto kind = static_cast<kiln_kind_t>(out[i].kind());
      results[i] = makeScalar(kind, out[i].bits());
      if (kind == KILN_KIND_REF)
        results[i].as.ref = giveRef(out[i].takeRef());
    }
  } catch (...) {
    for (kiln_value_t &result : results) {
      if (result.kind == KILN_KIND_REF)
        kiln_ref_release(result.as.ref);
      result = {KILN_KIND_REF, {}};
    }
    throw;
  }
  return okStatus();
}

} // namespace

kiln_status_t *kiln_session_create(const kiln_session_options_t *options, kiln_session_t **out_session) {
  return guarded([&] { return createSession(options, out_session); });
}
void kiln_session_release(kiln_session_t *session) {
  vm::AnyRef last;
  if (session && !HandleTable::release(HandleKind::Session, session, &last))
    reportMisuse(__func__, session, "kiln_session_t");
  if (last)
    releaseFunctions(*static_cast<SessionObject *>(const_cast<RefCounted *>(last.pointer())));
}

kiln_status_t *kiln_session_lookup(kiln_session_t *session, const char *name, const kiln_function_t **out_function) {
  return guarded([&] { return lookup(session, name, out_function); });
}
size_t kiln_session_function_count(const kiln_session_t *session) {
  Ref<SessionObject> object = query(__func__, session);
  return object ? object->exportCount : 0;
}
const kiln_function_t *kiln_session_function(const kiln_session_t *session, size_t index) {
  Ref<SessionObject> object = query(__func__, session);
  if (!object || index >= object->exportCount)
    return nullptr;
  std::lock_guard lock(object->mutex);
  return object->released ? nullptr : object->functions[index].handle;
}

const char *kiln_function_name(const kiln_function_t *function) {
  Ref<FunctionObject> object = query(__func__, function);
  return object ? object->function.name().data() : "";
}
size_t kiln_function_argument_count(const kiln_function_t *function) {
  Ref<FunctionObject> object = query(__func__, function);
  return object ? object->function.argumentCount() : 0;
}
size_t kiln_function_result_count(const kiln_function_t *function) {
  Ref<FunctionObject> object = query(__func__, function);
  return object ? object->function.resultCount() : 0;
}
static kiln_kind_t kindAt(std::string_view kinds, size_t index) {
  return static_cast<kiln_kind_t>(index < kinds.size() ? kinds[index] : 0);
}
kiln_kind_t kiln_function_argument_kind(const kiln_function_t *function, size_t index) {
  Ref<FunctionObject> object = query(__func__, function);
  return kindAt(object ? object->function.argumentKinds() : std::string_view(), index);
}
kiln_kind_t kiln_function_result_kind(const kiln_function_t *function, size_t index) {
  Ref<FunctionObject> object = query(__func__, function);
  return kindAt(object ? object->function.resultKinds() : std::string_view(), index);
}
// Strings of the metadata end in a null: its verifier checks that.
const char *kiln_function_attribute(const kiln_function_t *function, const char *key) {
  Ref<FunctionObject> object = query(__func__, function);
  if (object && key)
    for (const vm::AttributeInfo &attribute : object->function.attributes())
      if (attribute.key == key)
        return attribute.value.data();
  return nullptr;
}
size_t kiln_function_attribute_count(const kiln_function_t *function) {
  Ref<FunctionObject> object = query(__func__, function);
  return object ? object->function.attributes().size() : 0;
}
void kiln_function_attribute_at(const kiln_function_t *function, size_t index, const char **out_key,
                                const char **out_value) {
  Ref<FunctionObject> object = query(__func__, function);
  bool exists = object && index < object->function.attributes().size();
  if (out_key)
    *out_key = exists ? object->function.attributes()[index].key.data() : nullptr;
  if (out_value)
    *out_value = exists ? object->function.attributes()[index].value.data() : nullptr;
}

kiln_status_t *kiln_session_call(kiln_session_t *session, const kiln_function_t *function,
                                 const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                                 size_t result_count) {
  return guarded([&] { return call(session, function, {arguments, argument_count}, {results, result_count}); });
}

kiln_status_t *kiln_call_limit_create(uint64_t timeout_nanoseconds, kiln_call_limit_t **out_limit) {
  return guarded([&]() -> Status {
    KILN_RETURN_IF_ERROR(needed(out_limit, "out_limit"));
    *out_limit = giveHandle<kiln_call_limit_t>(makeRef<CallLimit>(Deadline::after(timeout_nanoseconds)));
    return okStatus();
  });
}
void kiln_call_limit_cancel(kiln_call_limit_t *limit) {
  if (Ref<CallLimit> object = query(__func__, limit))
    object->cancel();
}
void kiln_call_limit_release(kiln_call_limit_t *limit) {
  releaseHandle(__func__, limit);
}

kiln_status_t *kiln_session_call_within(kiln_call_limit_t *limit, kiln_session_t *session,
                                        const kiln_function_t *function, const kiln_value_t *arguments,
                                        size_t argument_count, kiln_value_t *results, size_t result_count) {
  return guarded([&]() -> Status {
    KILN_ASSIGN_OR_RETURN(Ref<CallLimit> object, argument(limit, "limit"));
    CallLimit::Scope scope(*object);
    return call(session, function, {arguments, argument_count}, {results, result_count});
  });
}
