// Many calls at the same time, through kiln.h: each thread on a session of its own and on one that all share. Meant for
// ThreadSanitizer; without it, wrong results and crashes are found.
#include "kiln/runtime/capi/kiln.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kiln/runtime/capi/capi_test_module.h"

namespace {

constexpr int kThreads = 8, kCallsOfThread = 1250;
std::atomic<int> misuses{0};

std::string textOf(kiln_status_t *status) {
  std::string text = status ? kiln_status_message(status) : "";
  kiln_status_free(status);
  return text;
}
kiln_status_t *returnNothing(void *, const kiln_value_t *, size_t, kiln_value_t *, size_t) {
  return nullptr;
}

class ConcurrentCalls : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    misuses = 0;
    kiln_set_misuse_handler([](void *, const char *, const char *) { ++misuses; }, nullptr);
    size_t size = 0;
    bytes.reset(makeTestModule(&size));
    must(kiln_instance_create(KILN_API_VERSION, &instance));
    must(kiln_device_create(instance, GetParam(), nullptr, &device));
    must(kiln_module_load_memory(bytes.get(), size, "test.vmfb", nullptr, nullptr, &module));
    must(kiln_native_module_create("host", &native));
    for (auto [name, signature] : {std::pair("scale", "fi_f"), {"mix", "IFr_rFI"}, {"sum", "I*_I"}, {"fail", "_"}})
      must(kiln_native_module_add(native, name, signature, returnNothing, nullptr));
    must(newSession(&shared));
  }
  void TearDown() override {
    kiln_session_release(shared);
    kiln_native_module_release(native);
    kiln_module_release(module);
    kiln_device_release(device);
    kiln_instance_release(instance);
    kiln_set_misuse_handler(nullptr, nullptr);
  }
  static void must(kiln_status_t *status) { ASSERT_EQ(textOf(status), ""); }

  kiln_status_t *newSession(kiln_session_t **out) {
    kiln_session_options_t options = {};
    options.struct_size = sizeof(options);
    options.modules = &module;
    options.module_count = 1;
    options.devices = &device;
    options.device_count = 1;
    options.native_modules = &native;
    options.native_module_count = 1;
    return kiln_session_create(&options, out);
  }

  // Calls @abs on four numbers that start with `number`. What it failed with; a wrong result is a failure of the test.
  std::string callAbs(kiln_session_t *session, float number) {
    const kiln_function_t *abs = nullptr;
    std::string message = textOf(kiln_session_lookup(session, "abs", &abs));
    if (!message.empty())
      return message;
    const float numbers[] = {number, -1, 2, -3};
    kiln_value_t in = {}, out = {};
    in.kind = KILN_KIND_REF;
    message = textOf(
        kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, &kShape, 1, numbers, sizeof(numbers), &in.as.ref));
    if (!message.empty())
      return message;
    message = textOf(kiln_session_call(session, abs, &in, 1, &out, 1));
    kiln_ref_release(in.as.ref);
    if (!message.empty())
      return message;
    float result[4] = {};
    EXPECT_EQ(textOf(kiln_buffer_view_read(out.as.ref, result, sizeof(result))), "");
    EXPECT_EQ(result[0], std::abs(number));
    EXPECT_EQ(result[3], 3);
    kiln_ref_release(out.as.ref);
    return {};
  }

  static constexpr uint64_t kShape = 4;
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> bytes;
  kiln_instance_t *instance = nullptr;
  kiln_device_t *device = nullptr;
  kiln_module_t *module = nullptr;
  kiln_native_module_t *native = nullptr;
  kiln_session_t *shared = nullptr;
};

// A call of the shared session is refused while another thread is in it; every other call succeeds.
TEST_P(ConcurrentCalls, TenThousandOnSharedAndOwnSessions) {
  std::atomic<int> succeeded{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      kiln_session_t *own = nullptr;
      EXPECT_EQ(textOf(newSession(&own)), "");
      for (int i = 0; i < kCallsOfThread; ++i) {
        kiln_device_retain(device);
        kiln_session_t *used = i % 3 == 0 ? shared : own;
        std::string message = callAbs(used, static_cast<float>(-kCallsOfThread * t - i));
        ++(message.empty() ? succeeded : refused);
        if (!message.empty()) {
          EXPECT_EQ(used, shared) << message;
          EXPECT_NE(message.find("another thread is in a call"), std::string::npos) << message;
        }
        kiln_device_release(device);
      }
      kiln_session_release(own);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(succeeded + refused, kThreads * kCallsOfThread);
  EXPECT_GE(succeeded, kThreads * (kCallsOfThread * 2 / 3));
  EXPECT_EQ(misuses, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, ConcurrentCalls, testing::Values("local-sync", "local-task"),
                         [](const auto &info) { return info.index == 0 ? "sync" : "task"; });

} // namespace
