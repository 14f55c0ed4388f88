// Sessions and functions of the C API.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/runtime/capi/options.h"
#include "kiln/runtime/capi/session_object.h"
#include "kiln/runtime/capi/view_argument.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"

using namespace kiln;
using namespace kiln::capi;

namespace {

Result<kiln_session_options_t> readSessionOptions(const kiln_session_options_t *given) {
  const OptionField fields[] = {KILN_OPTION_FIELD(kiln_session_options_t, struct_size),
                                KILN_OPTION_FIELD(kiln_session_options_t, modules),
                                KILN_OPTION_FIELD(kiln_session_options_t, module_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, devices),
                                KILN_OPTION_FIELD(kiln_session_options_t, device_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, native_modules),
                                KILN_OPTION_FIELD(kiln_session_options_t, native_module_count),
                                KILN_OPTION_FIELD(kiln_session_options_t, max_call_depth),
                                KILN_OPTION_FIELD(kiln_session_options_t, stack_bytes),
                                KILN_OPTION_FIELD(kiln_session_options_t, program),
                                KILN_OPTION_FIELD(kiln_session_options_t, limit),
                                KILN_OPTION_FIELD(kiln_session_options_t, parameters)};
  return readOptions("kiln_session_options_t", given, fields);
}

// A function of the session as a handle that lives as long as the session's. The session's mutex is held.
const kiln_function_t *addFunction(const Ref<SessionObject> &session, const vm::Function &function) {
  session->functions.reserve(session->functions.size() + 1);
  const kiln_function_t *handle = giveHandle<kiln_function_t>(makeRef<FunctionObject>(session, function));
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the place of the name is what counts
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

// `instance` is that of the devices.
vm::SessionOptions vmOptions(const kiln_session_options_t &options, uint64_t instance) {
  vm::SessionOptions result;
  result.owner = instance;
  if (options.max_call_depth)
    result.maxCallDepth = options.max_call_depth;
  if (options.stack_bytes)
    result.stackBytes = options.stack_bytes;
  return result;
}

// Null where initializers may take as long as they do.
Result<Ref<CallLimit>> limitOf(const kiln_session_options_t &options) {
  return options.limit ? argument(options.limit, "limit") : Result<Ref<CallLimit>>(Ref<CallLimit>());
}

// What the options ask to be instantiated, as Session::create and Program::create take it.
struct ProgramParts {
  std::vector<Ref<vm::Module>> modules;
  std::vector<Ref<vm::NativeModule>> natives{1};
  uint64_t instance = 0; // of the devices
};

Status checkDevices(std::span<const Ref<hal::Device>> devices) {
  for (size_t i = 1; i < devices.size(); ++i)
    KILN_RETURN_IF_ERROR(checkInstance(devices[i]->allocator().instance(), devices[0]->allocator().instance(),
                                       fmt::format("device {}, '{}',", i, devices[i]->uri())));
  return okStatus();
}

Result<ProgramParts> readParts(const kiln_session_options_t &options) {
  ProgramParts parts;
  std::vector<Ref<hal::Device>> devices;
  KILN_RETURN_IF_ERROR(readHandles("modules", options.modules, options.module_count, parts.modules));
  KILN_RETURN_IF_ERROR(readHandles("devices", options.devices, options.device_count, devices));
  KILN_RETURN_IF_ERROR(
      readHandles("native_modules", options.native_modules, options.native_module_count, parts.natives));
  KILN_RETURN_IF_ERROR(checkDevices(devices));
  parts.instance = devices.empty() ? 0 : devices.front()->allocator().instance();
  Ref<ParameterSet> parameters;
  if (options.parameters) {
    KILN_ASSIGN_OR_RETURN(parameters, argument(options.parameters, "parameters"));
  }
  KILN_ASSIGN_OR_RETURN(parts.natives.front(), vm::createHalModule(std::move(devices), std::move(parameters)));
  return parts;
}

Status createProgram(const kiln_session_options_t *given, kiln_program_t **out) {
  KILN_RETURN_IF_ERROR(needed(out, "out_program"));
  KILN_ASSIGN_OR_RETURN(kiln_session_options_t options, readSessionOptions(given));
  if (options.program)
    return invalidArgument("`program` of the options is for sessions; a program is made of modules");
  KILN_ASSIGN_OR_RETURN(ProgramParts parts, readParts(options));
  KILN_ASSIGN_OR_RETURN(Ref<CallLimit> limit, limitOf(options));
  auto object = makeRef<ProgramObject>();
  object->instance = parts.instance;
  std::optional<CallLimit::Scope> scope;
  if (limit)
    scope.emplace(*limit);
  KILN_ASSIGN_OR_RETURN(object->program,
                        vm::Program::create(parts.modules, parts.natives, vmOptions(options, parts.instance)));
  *out = giveHandle<kiln_program_t>(std::move(object));
  return okStatus();
}

Result<std::unique_ptr<vm::Session>> createVmSession(const kiln_session_options_t &options, uint64_t &instance) {
  if (options.program) {
    KILN_ASSIGN_OR_RETURN(Ref<ProgramObject> object, argument(options.program, "program"));
    if (options.module_count || options.device_count || options.native_module_count || options.parameters)
      return invalidArgument(
          "modules, devices, native modules or parameters are given beside a program, which has its own");
    instance = object->instance;
    return object->program->createSession(vmOptions(options, instance));
  }
  KILN_ASSIGN_OR_RETURN(ProgramParts parts, readParts(options));
  instance = parts.instance;
  return vm::Session::create(parts.modules, parts.natives, vmOptions(options, instance));
}

Status createSession(const kiln_session_options_t *given, kiln_session_t **out) {
  KILN_RETURN_IF_ERROR(needed(out, "out_session"));
  KILN_ASSIGN_OR_RETURN(kiln_session_options_t options, readSessionOptions(given));
  KILN_ASSIGN_OR_RETURN(Ref<CallLimit> limit, limitOf(options));
  auto object = makeRef<SessionObject>();
  std::optional<CallLimit::Scope> scope;
  if (limit)
    scope.emplace(*limit);
  KILN_ASSIGN_OR_RETURN(object->session, createVmSession(options, object->instance));
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

Status readArgument(const kiln_value_t &argument, uint64_t instance, vm::Value &value) {
  switch (argument.kind) {
  case KILN_KIND_REF: {
    KILN_ASSIGN_OR_RETURN(vm::AnyRef object, refArgument(argument.as.ref));
    KILN_RETURN_IF_ERROR(checkInstance(object, instance));
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
  KILN_ASSIGN_OR_RETURN(Ref<FunctionObject> function,
                        calledFunction(sessionHandle, functionHandle, arguments, results));
  SessionObject &session = *function->session;
  if (session.submitted.load() && !session.queue.isOwnThread())
    return failedPrecondition("asynchronous calls of this session have not ended; wait for the fence of the last");
  std::ranges::fill(results, kiln_value_t{KILN_KIND_REF, {}});
  CallOfThread inCall(session);
  CallValues<vm::Value> in(arguments.size()), out(results.size());
  KILN_RETURN_IF_ERROR(readArguments(*function, arguments, in.span()));
  KILN_RETURN_IF_ERROR(session.session->call(function->function, in.span(), out.span()));
  giveResults(out.span(), results);
  return okStatus();
}

} // namespace

namespace kiln::capi {

Result<Ref<FunctionObject>> calledFunction(kiln_session_t *sessionHandle, const kiln_function_t *functionHandle,
                                           std::span<const kiln_value_t> arguments,
                                           std::optional<std::span<kiln_value_t>> results) {
  KILN_ASSIGN_OR_RETURN(Ref<SessionObject> session, argument(sessionHandle, "session"));
  KILN_ASSIGN_OR_RETURN(Ref<FunctionObject> function, argument(functionHandle, "function"));
  if (function->session.get() != session.get())
    return invalidArgument("function '{}' belongs to another session", function->function.name());
  KILN_RETURN_IF_ERROR(neededArray(arguments.data(), arguments.size(), "arguments"));
  if (results)
    KILN_RETURN_IF_ERROR(neededArray(results->data(), results->size(), "results"));
  // Before anything is read or made for them: what is counted here may be any number.
  KILN_RETURN_IF_ERROR(vm::Session::checkCounts(function->function, arguments.size(),
                                                results ? results->size() : function->function.resultCount()));
  return function;
}

Status readArguments(const FunctionObject &function, std::span<const kiln_value_t> arguments,
                     std::span<vm::Value> values) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (Status status = readArgument(arguments[i], function.session->instance, values[i]); !status.ok())
      return std::move(status).withContext(fmt::format("argument {} of @{}", i, function.function.name()));
  return okStatus();
}

void giveResults(std::span<vm::Value> values, std::span<kiln_value_t> results) {
  std::ranges::fill(results, kiln_value_t{KILN_KIND_REF, {}});
  try {
    for (size_t i = 0; i < results.size(); ++i) {
      auto kind = static_cast<kiln_kind_t>(values[i].kind());
      results[i] = makeScalar(kind, values[i].bits());
      if (kind == KILN_KIND_REF)
        results[i].as.ref = giveRef(values[i].takeRef());
    }
  } catch (...) {
    for (kiln_value_t &result : results) {
      if (result.kind == KILN_KIND_REF)
        kiln_ref_release(result.as.ref);
      result = {KILN_KIND_REF, {}};
    }
    throw;
  }
}

} // namespace kiln::capi

kiln_status_t *kiln_program_create(const kiln_session_options_t *options, kiln_program_t **out_program) {
  return guarded([&] { return createProgram(options, out_program); });
}
void kiln_program_retain(kiln_program_t *program) {
  retainHandle(__func__, program);
}
void kiln_program_release(kiln_program_t *program) {
  releaseHandle(__func__, program);
}

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
