// Instance, devices and modules of the C API.
#include "kiln/runtime/capi/kiln.h"

#include "kiln/base/watched_pages.h"
#include "kiln/runtime/capi/handles.h"
#include "kiln/runtime/capi/options.h"
#include "kiln/runtime/capi/release_call.h"
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

static Status createDevice(kiln_instance_t *handle, const char *uri, const kiln_device_options_t *given,
                           kiln_device_t **out) {
  KILN_ASSIGN_OR_RETURN(Ref<InstanceObject> instance, argument(handle, "instance"));
  KILN_RETURN_IF_ERROR(needed(uri, "uri"));
  KILN_RETURN_IF_ERROR(needed(out, "out_device"));
  const OptionField fields[] = {KILN_OPTION_FIELD(kiln_device_options_t, struct_size),
                                KILN_OPTION_FIELD(kiln_device_options_t, allocator),
                                KILN_OPTION_FIELD(kiln_device_options_t, worker_count)};
  KILN_ASSIGN_OR_RETURN(kiln_device_options_t options, readOptions("kiln_device_options_t", given, fields));
  hal::DeviceOptions deviceOptions;
  switch (options.allocator) {
  case KILN_ALLOCATOR_DEFAULT: deviceOptions.allocator = hal::AllocatorKind::Default; break;
  case KILN_ALLOCATOR_DIRECT: deviceOptions.allocator = hal::AllocatorKind::Direct; break;
  case KILN_ALLOCATOR_CACHING: deviceOptions.allocator = hal::AllocatorKind::Caching; break;
  case KILN_ALLOCATOR_DEBUG: deviceOptions.allocator = hal::AllocatorKind::Debug; break;
  default: return invalidArgument("there is no allocator {}", static_cast<int>(options.allocator));
  }
  deviceOptions.task.workerCount = options.worker_count;
  std::lock_guard lock(instance->mutex);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Device> device, instance->drivers.createDevice(uri, deviceOptions));
  device->allocator().setInstance(instance->number);
  *out = giveHandle<kiln_device_t>(std::move(device));
  return okStatus();
}

kiln_status_t *kiln_instance_create(uint32_t api_version, kiln_instance_t **out_instance) {
  return guarded([&]() -> Status {
    if (api_version != KILN_API_VERSION)
      return unimplemented("the program needs version {} of the C API; this library has version {}", api_version,
                           KILN_API_VERSION);
    KILN_RETURN_IF_ERROR(needed(out_instance, "out_instance"));
    Ref<InstanceObject> instance = makeRef<InstanceObject>();
    hal::registerDrivers(instance->drivers);
    *out_instance = giveHandle<kiln_instance_t>(std::move(instance));
    return okStatus();
  });
}
void kiln_instance_release(kiln_instance_t *instance) {
  releaseHandle(__func__, instance);
}

kiln_status_t *kiln_install_page_loss_handler(void) {
  return guarded([] { return installPageLossHandler(); });
}

kiln_status_t *kiln_device_create(kiln_instance_t *instance, const char *uri, const kiln_device_options_t *options,
                                  kiln_device_t **out_device) {
  return guarded([&] { return createDevice(instance, uri, options, out_device); });
}
// The device's URI is a string of its own, and ends in a null.
const char *kiln_device_uri(const kiln_device_t *device) {
  Ref<hal::Device> object = query(__func__, device);
  return object ? object->uri().data() : "";
}
void kiln_device_retain(kiln_device_t *device) {
  retainHandle(__func__, device);
}
void kiln_device_release(kiln_device_t *device) {
  releaseHandle(__func__, device);
}

kiln_status_t *kiln_module_load_file(const char *path, kiln_module_t **out_module) {
  return guarded([&]() -> Status {
    KILN_RETURN_IF_ERROR(needed(path, "path"));
    KILN_RETURN_IF_ERROR(needed(out_module, "out_module"));
    KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module, vm::Module::loadFile(path));
    *out_module = giveHandle<kiln_module_t>(std::move(module));
    return okStatus();
  });
}
kiln_status_t *kiln_module_load_memory(const void *bytes, size_t size, const char *name, kiln_release_fn_t release,
                                       void *release_context, kiln_module_t **out_module) {
  return guarded([&]() -> Status {
    std::function<void()> onRelease = releaseOnce(release, release_context);
    KILN_RETURN_IF_ERROR(neededArray(bytes, size, "bytes"));
    KILN_RETURN_IF_ERROR(needed(out_module, "out_module"));
    KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module, vm::Module::loadMemory({static_cast<const char *>(bytes), size},
                                                                         std::move(onRelease), name ? name : "memory"));
    *out_module = giveHandle<kiln_module_t>(std::move(module));
    return okStatus();
  });
}
kiln_status_t *kiln_module_load_compiled(kiln_register_fn_t registration, kiln_module_t **out_module) {
  return guarded([&]() -> Status {
    KILN_RETURN_IF_ERROR(needed(reinterpret_cast<const void *>(registration), "registration"));
    KILN_RETURN_IF_ERROR(needed(out_module, "out_module"));
    const kiln_compiled_module_t *compiled = registration();
    KILN_RETURN_IF_ERROR(needed(compiled, "the result of `registration`"));
    KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module, vm::Module::fromCompiled(*compiled));
    *out_module = giveHandle<kiln_module_t>(std::move(module));
    return okStatus();
  });
}
// Strings of the metadata end in a null: its verifier checks that.
const char *kiln_module_name(const kiln_module_t *module) {
  Ref<vm::Module> object = query(__func__, module);
  return object ? object->name().data() : "";
}
void kiln_module_retain(kiln_module_t *module) {
  retainHandle(__func__, module);
}
void kiln_module_release(kiln_module_t *module) {
  releaseHandle(__func__, module);
}
