// What tests of the C API have in common: one of everything, alive.
#ifndef KILN_RUNTIME_CAPI_CAPI_FIXTURE_H
#define KILN_RUNTIME_CAPI_CAPI_FIXTURE_H

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/runtime/capi/capi_test_module.h"
#include "kiln/runtime/capi/kiln.h"
#include "gtest/gtest.h"

namespace kiln::capi::testing {

// Frees the status; "" for success.
inline std::string textOf(kiln_status_t *status) {
  std::string text = status ? kiln_status_message(status) : "";
  kiln_status_free(status);
  return text;
}
inline void must(kiln_status_t *status) {
  ASSERT_EQ(textOf(status), "");
}

inline kiln_status_t *returnNothing(void *, const kiln_value_t *, size_t, kiln_value_t *, size_t) {
  return nullptr;
}

class CApiFixture : public ::testing::Test {
protected:
  // The device, and the function that the compiled @fail() calls.
  explicit CApiFixture(const char *deviceUri = "local-sync", kiln_native_fn_t fail = returnNothing,
                       void *failContext = nullptr)
      : uri(deviceUri), fail(fail), failContext(failContext) {}

  void SetUp() override {
    kiln_set_misuse_handler(
        [](void *context, const char *function, const char *message) {
          static_cast<std::vector<std::string> *>(context)->push_back(std::string(function) + ": " + message);
        },
        &misuses);
    bytes.reset(makeTestModule(&size));
    must(kiln_instance_create(KILN_API_VERSION, &instance));
    must(kiln_device_create(instance, uri, nullptr, &device));
    must(kiln_module_load_memory(bytes.get(), size, "test.vmfb", nullptr, nullptr, &module));
    native = newHost(fail, failContext);
    must(newSession(&session));
    must(kiln_session_lookup(session, "abs", &function));
    must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &view));
  }
  void TearDown() override {
    kiln_ref_release(view);
    kiln_session_release(session);
    kiln_native_module_release(native);
    kiln_module_release(module);
    kiln_device_release(device);
    kiln_instance_release(instance);
    kiln_set_misuse_handler(nullptr, nullptr);
  }

  // What the test module imports, doing nothing but for @fail.
  static kiln_native_module_t *newHost(kiln_native_fn_t fail, void *context) {
    kiln_native_module_t *host = nullptr;
    must(kiln_native_module_create("host", &host));
    for (auto [name, signature] : {std::pair("scale", "fi_f"), {"mix", "IFr_rFI"}, {"sum", "I*_I"}})
      must(kiln_native_module_add(host, name, signature, returnNothing, nullptr));
    must(kiln_native_module_add(host, "fail", "_", fail, context));
    return host;
  }
  kiln_session_options_t sessionOptions() {
    kiln_session_options_t options = {};
    options.struct_size = sizeof(options);
    options.modules = &module;
    options.module_count = 1;
    options.devices = &device;
    options.device_count = 1;
    options.native_modules = &native;
    options.native_module_count = 1;
    return options;
  }
  kiln_status_t *newSession(kiln_session_t **out) {
    kiln_session_options_t options = sessionOptions();
    return kiln_session_create(&options, out);
  }
  static const kiln_function_t *lookUp(kiln_session_t *session, const char *name) {
    const kiln_function_t *found = nullptr;
    must(kiln_session_lookup(session, name, &found));
    return found;
  }
  kiln_value_t argument() const {
    kiln_value_t value = {};
    value.kind = KILN_KIND_REF;
    value.as.ref = view;
    return value;
  }

  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  const char *const uri;
  const kiln_native_fn_t fail;
  void *const failContext;
  std::vector<std::string> misuses; // "function: message"
  const float numbers[4] = {-1, 2, -3, 4};
  const uint64_t shape[2] = {4, 7}; // the second for a rank that is wrong
  std::unique_ptr<void, Free> bytes;
  size_t size = 0;
  kiln_instance_t *instance = nullptr;
  kiln_device_t *device = nullptr;
  kiln_module_t *module = nullptr;
  kiln_native_module_t *native = nullptr;
  kiln_session_t *session = nullptr;
  const kiln_function_t *function = nullptr;
  kiln_ref_t view = {};
};

} // namespace kiln::capi::testing

#endif // KILN_RUNTIME_CAPI_CAPI_FIXTURE_H
