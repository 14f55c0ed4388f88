// Status, instance, devices, modules and sessions of the C API.
#include "kiln/runtime/capi/kiln.h"

#include <cstring>

#include "kiln/base/watched_pages.h"
#include "kiln/runtime/capi/handles.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/targets/drivers.h"

using namespace kiln;
using namespace kiln::capi;

#define KILN_CHECK_CODE(name, Name)                                                                                    \
  static_assert(static_cast<int>(KILN_STATUS_##name) == static_cast<int>(StatusCode::Name))
KILN_CHECK_CODE(CANCELLED, Cancelled);
KILN_CHECK_CODE(INVALID_ARGUMENT, InvalidArgument);
KILN_CHECK_CODE(NOT_FOUND, NotFound);
KILN_CHECK_CODE(OUT_OF_RANGE, OutOfRange);
KILN_CHECK_CODE(DATA_LOSS, DataLoss);

namespace kiln::capi {

kiln_status_t *toHandle(const Status &status) {
  if (status.ok())
    return nullptr;
  return new kiln_status_t{status.code(), std::string(status.message())};
}

Status fromHandle(kiln_status_t *handle) {
  if (!handle)
    return okStatus();
  Status status(handle->code, std::move(handle->message));
  delete handle;
  return status;
}

// The caller's options, with zeros for what the caller's header did not have.
template <typename Options> static Result<Options> readOptions(const Options *given) {
  Options options = {};
  if (!given)
    return options;
  if (given->struct_size < sizeof(size_t))
    return invalidArgument("an option struct has size {}: set struct_size to its sizeof", given->struct_size);
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(options)));
  return options;
}

static Result<Ref<hal::Device>> createDevice(kiln_instance_t *instance, const char *uri,
                                             const kiln_device_options_t *given) {
  KILN_ASSIGN_OR_RETURN(kiln_device_options_t options, readOptions(given));
  hal::DeviceOptions deviceOptions;
  switch (options.allocator) {
  case KILN_ALLOCATOR_DIRECT: deviceOptions.allocator = hal::AllocatorKind::Direct; break;
  case KILN_ALLOCATOR_CACHING: deviceOptions.allocator = hal::AllocatorKind::Caching; break;
  case KILN_ALLOCATOR_DEBUG: deviceOptions.allocator = hal::AllocatorKind::Debug; break;
  default: return invalidArgument("there is no allocator {}", static_cast<int>(options.allocator));
  }
  deviceOptions.task.workerCount = options.worker_count;
  return instance->drivers.createDevice(uri, deviceOptions);
}

static Result<std::unique_ptr<kiln_session_t>> createSession(const kiln_session_options_t *given) {
  KILN_ASSIGN_OR_RETURN(kiln_session_options_t options, readOptions(given));
  std::vector<Ref<vm::Module>> modules;
  for (size_t i = 0; i < options.module_count; ++i)
    modules.push_back(Ref<vm::Module>::share(unwrap(options.modules[i])));
  std::vector<Ref<hal::Device>> devices;
  for (size_t i = 0; i < options.device_count; ++i)
    devices.push_back(Ref<hal::Device>::share(unwrap(options.devices[i])));
  std::vector<Ref<vm::NativeModule>> natives;
  KILN_ASSIGN_OR_RETURN(Ref<vm::NativeModule> halModule, vm::createHalModule(std::move(devices)));
  natives.push_back(std::move(halModule));
  for (size_t i = 0; i < options.native_module_count; ++i)
    natives.push_back(Ref<vm::NativeModule>::share(unwrap(options.native_modules[i])));

  vm::SessionOptions sessionOptions;
  if (options.max_call_depth)
    sessionOptions.maxCallDepth = options.max_call_depth;
  if (options.stack_bytes)
    sessionOptions.stackBytes = options.stack_bytes;
  auto handle = std::make_unique<kiln_session_t>();
  KILN_ASSIGN_OR_RETURN(handle->session, vm::Session::create(modules, natives, sessionOptions));
  for (const vm::Function &function : handle->session->exports())
    handle->functions.push_back({function});
  handle->exportCount = handle->functions.size();
  return handle;
}

static Result<const kiln_function_t *> lookup(kiln_session_t *session, const char *name) {
  KILN_ASSIGN_OR_RETURN(vm::Function function, session->session->lookup(name));
  // An export's name stands at one place of its module's metadata, which makes it the function's identity.
  for (const kiln_function_t &known : session->functions)
    if (known.function.name().data() == function.name().data())
      return &known;
  return &session->functions.emplace_back(kiln_function_t{function});
}

static Status call(kiln_session_t *session, const vm::Function &function, std::span<const kiln_value_t> arguments,
                   std::span<kiln_value_t> results) {
  CallValues<vm::Value> in(arguments.size()), out(results.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const kiln_value_t &argument = arguments[i];
    if (argument.kind == KILN_KIND_REF)
      in[i] = vm::Value(shareRef(argument.as.ref));
    else
      in[i] = vm::Value::scalar(static_cast<vm::ValueKind>(argument.kind), scalarBits(argument));
  }
  KILN_RETURN_IF_ERROR(session->session->call(function, in.span(), out.span()));
  for (size_t i = 0; i < results.size(); ++i) {
    auto kind = static_cast<kiln_kind_t>(out[i].kind());
    results[i] = makeScalar(kind, out[i].bits());
    if (kind == KILN_KIND_REF)
      results[i].as.ref = leakRef(out[i].takeRef());
  }
  return okStatus();
}

// Writes *out on success.
template <typename Handle, typename T> static kiln_status_t *give(Result<Ref<T>> result, Handle **out) {
  if (!result.ok())
    return toHandle(result.status());
  *out = reinterpret_cast<Handle *>((*result).leak());
  return nullptr;
}

} // namespace kiln::capi

kiln_status_t *kiln_status_create(kiln_status_code_t code, const char *message) {
  auto own =
      code > KILN_STATUS_OK && code <= KILN_STATUS_DATA_LOSS ? static_cast<StatusCode>(code) : StatusCode::Unknown;
  return new kiln_status_t{own, message ? message : ""};
}
kiln_status_code_t kiln_status_code(const kiln_status_t *status) {
  return status ? static_cast<kiln_status_code_t>(status->code) : KILN_STATUS_OK;
}
const char *kiln_status_message(const kiln_status_t *status) {
  return status ? status->message.c_str() : "";
}
const char *kiln_status_code_name(kiln_status_code_t code) {
  return statusCodeName(static_cast<StatusCode>(code));
}
void kiln_status_free(kiln_status_t *status) {
  delete status;
}

kiln_status_t *kiln_instance_create(uint32_t api_version, kiln_instance_t **out_instance) {
  if (api_version != KILN_API_VERSION)
    return toHandle(unimplemented("the program needs version {} of the C API; this library has version {}", api_version,
                                  KILN_API_VERSION));
  auto *instance = new kiln_instance_t();
  hal::registerDrivers(instance->drivers);
  *out_instance = instance;
  return nullptr;
}
void kiln_instance_release(kiln_instance_t *instance) {
  delete instance;
}

kiln_status_t *kiln_install_page_loss_handler(void) {
  return toHandle(installPageLossHandler());
}

kiln_status_t *kiln_device_create(kiln_instance_t *instance, const char *uri, const kiln_device_options_t *options,
                                  kiln_device_t **out_device) {
  return give(createDevice(instance, uri, options), out_device);
}
// The device's URI is a string of its own, and ends in a null.
const char *kiln_device_uri(const kiln_device_t *device) {
  return unwrap(device)->uri().data();
}
void kiln_device_retain(kiln_device_t *device) {
  unwrap(device)->retain();
}
void kiln_device_release(kiln_device_t *device) {
  if (device)
    unwrap(device)->release();
}

kiln_status_t *kiln_module_load_file(const char *path, kiln_module_t **out_module) {
  return give(vm::Module::loadFile(path), out_module);
}
kiln_status_t *kiln_module_load_memory(const void *bytes, size_t size, const char *name, kiln_release_fn_t release,
                                       void *release_context, kiln_module_t **out_module) {
  std::function<void()> onRelease;
  if (release)
    onRelease = [=] { release(release_context); };
  return give(
      vm::Module::loadMemory({static_cast<const char *>(bytes), size}, std::move(onRelease), name ? name : "memory"),
      out_module);
}
// Strings of the metadata end in a null: its verifier checks that.
const char *kiln_module_name(const kiln_module_t *module) {
  return unwrap(module)->name().data();
}
void kiln_module_retain(kiln_module_t *module) {
  unwrap(module)->retain();
}
void kiln_module_release(kiln_module_t *module) {
  if (module)
    unwrap(module)->release();
}

kiln_status_t *kiln_session_create(const kiln_session_options_t *options, kiln_session_t **out_session) {
  Result<std::unique_ptr<kiln_session_t>> session = createSession(options);
  if (!session.ok())
    return toHandle(session.status());
  *out_session = (*session).release();
  return nullptr;
}
void kiln_session_release(kiln_session_t *session) {
  delete session;
}

kiln_status_t *kiln_session_lookup(kiln_session_t *session, const char *name, const kiln_function_t **out_function) {
  Result<const kiln_function_t *> function = lookup(session, name);
  if (!function.ok())
    return toHandle(function.status());
  *out_function = *function;
  return nullptr;
}
size_t kiln_session_function_count(const kiln_session_t *session) {
  return session->exportCount;
}
const kiln_function_t *kiln_session_function(const kiln_session_t *session, size_t index) {
  return index < session->exportCount ? &session->functions[index] : nullptr;
}

const char *kiln_function_name(const kiln_function_t *function) {
  return function->function.name().data();
}
size_t kiln_function_argument_count(const kiln_function_t *function) {
  return function->function.argumentCount();
}
size_t kiln_function_result_count(const kiln_function_t *function) {
  return function->function.resultCount();
}
kiln_kind_t kiln_function_argument_kind(const kiln_function_t *function, size_t index) {
  return static_cast<kiln_kind_t>(function->function.argumentKinds()[index]);
}
kiln_kind_t kiln_function_result_kind(const kiln_function_t *function, size_t index) {
  return static_cast<kiln_kind_t>(function->function.resultKinds()[index]);
}
const char *kiln_function_attribute(const kiln_function_t *function, const char *key) {
  for (const vm::AttributeInfo &attribute : function->function.attributes())
    if (attribute.key == key)
      return attribute.value.data();
  return nullptr;
}
size_t kiln_function_attribute_count(const kiln_function_t *function) {
  return function->function.attributes().size();
}
void kiln_function_attribute_at(const kiln_function_t *function, size_t index, const char **out_key,
                                const char **out_value) {
  *out_key = function->function.attributes()[index].key.data();
  *out_value = function->function.attributes()[index].value.data();
}

kiln_status_t *kiln_session_call(kiln_session_t *session, const kiln_function_t *function,
                                 const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                                 size_t result_count) {
  Status status = call(session, function->function, {arguments, argument_count}, {results, result_count});
  if (!status.ok())
    for (size_t i = 0; i < result_count; ++i)
      results[i] = {KILN_KIND_REF, {}};
  return toHandle(status);
}
