// Memory that runs out in a function of kiln.h is an error of that function, and nothing is lost.
#include "kiln/runtime/capi/kiln.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kiln/runtime/capi/capi_fixture.h"
#include "kiln/runtime/capi/dlpack_abi.h"

namespace {

// How many allocations of this thread succeed before one fails, or all do; -1: all succeed.
thread_local long allocationsLeft = -1;
thread_local bool staysExhausted = false;

} // namespace

// A compiler that inlines one of these takes it for a mismatch of the other.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void *operator new(size_t size) {
  if (allocationsLeft == 0) {
    if (!staysExhausted)
      allocationsLeft = -1;
    throw std::bad_alloc();
  }
  if (allocationsLeft > 0)
    --allocationsLeft;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace kiln::capi::testing;

class CApiFailedAllocations : public CApiFixture {};

void countTensor(DLManagedTensor *tensor) {
  ++*static_cast<int *>(tensor->context);
}

// Each allocation in turn fails, alone and with all that follow.
TEST_F(CApiFailedAllocations, EveryFailedAllocationIsAnError) {
  kiln_value_t in = argument(), out = {};
  float target[4] = {};
  kiln_ref_t made = {};
  kiln_device_t *newDevice = nullptr;
  kiln_module_t *newModule = nullptr;
  kiln_session_t *newOne = nullptr;
  const kiln_function_t *found = nullptr;
  kiln_native_module_t *newNative = nullptr;
  kiln_call_limit_t *limit = nullptr;
  int released = 0, created = 0;
  auto count = [](void *context) { ++*static_cast<int *>(context); };
  const std::vector<std::pair<const char *, std::function<kiln_status_t *()>>> calls = {
      {"device", [&] { return kiln_device_create(instance, "local-sync", nullptr, &newDevice); }},
      {"module",
       [&] {
         ++created;
         return kiln_module_load_memory(bytes.get(), size, "m", count, &released, &newModule);
       }},
      {"session", [&] { return newSession(&newOne); }},
      {"lookup", [&] { return kiln_session_lookup(session, "abs.mix", &found); }},
      {"create",
       [&] {
         return kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &made);
       }},
      {"read", [&] { return kiln_buffer_view_read(view, target, sizeof(target)); }},
      {"call", [&] { return kiln_session_call(session, function, &in, 1, &out, 1); }},
      {"limit",
       [&] {
         kiln_status_t *status = kiln_call_limit_create(KILN_NO_TIMEOUT, &limit);
         kiln_call_limit_release(std::exchange(limit, nullptr));
         return status;
       }},
      {"submit",
       [&] {
         kiln_fence_t *fence = nullptr;
         kiln_status_t *status = kiln_session_submit(session, function, &in, 1, nullptr, &fence);
         if (!status) {
           allocationsLeft = -1;
           EXPECT_EQ(textOf(kiln_fence_wait(fence, KILN_NO_TIMEOUT)), "");
         }
         kiln_fence_release(fence);
         return status;
       }},
      {"program",
       [&] {
         kiln_session_options_t options = sessionOptions();
         kiln_program_t *program = nullptr;
         kiln_status_t *status = kiln_program_create(&options, &program);
         if (status)
           return status;
         options = {};
         options.struct_size = sizeof(options);
         options.program = program;
         status = kiln_session_create(&options, &newOne);
         kiln_program_release(program);
         return status;
       }},
      {"export",
       [&] {
         DLManagedTensorVersioned *tensor = nullptr;
         kiln_status_t *status = kiln_buffer_view_to_dlpack(view, &tensor);
         if (tensor)
           tensor->deleter(tensor);
         return status;
       }},
      {"import",
       [&] {
         int64_t extents[2] = {2, 2}, strides[2] = {1, 2};
         DLManagedTensor tensor = {{target, 1, 0, 2, {2, 32, 1}, extents, strides, 0}, &released, countTensor};
         ++created;
         return kiln_buffer_view_from_dlpack_unversioned(device, &tensor, KILN_ELEMENT_TYPE_F32, &made);
       }},
      {"native", [&] { return kiln_native_module_create("n", &newNative); }},
      {"add", [&] { return kiln_native_module_add(newNative, "f", "rI_r", returnNothing, nullptr); }},
  };
  for (const auto &[name, call] : calls)
    for (bool stays : {false, true}) {
      staysExhausted = stays;
      long allocations = 0;
      for (;; ++allocations) {
        ASSERT_LT(allocations, 100'000) << name;
        allocationsLeft = allocations;
        kiln_status_t *status = call();
        allocationsLeft = -1;
        kiln_status_code_t code = kiln_status_code(status);
        std::string message = textOf(status);
        if (code == KILN_STATUS_OK || code == KILN_STATUS_ALREADY_EXISTS)
          break;
        ASSERT_EQ(code, KILN_STATUS_RESOURCE_EXHAUSTED) << name << ", allocation " << allocations << ": " << message;
      }
      for (kiln_ref_t *ref : {&made, &out.as.ref}) {
        kiln_ref_release(*ref);
        *ref = {};
      }
      kiln_device_release(std::exchange(newDevice, nullptr));
      kiln_module_release(std::exchange(newModule, nullptr));
      kiln_session_release(std::exchange(newOne, nullptr));
    }
  kiln_native_module_release(newNative);
  EXPECT_EQ(released, created) << "memory is given back for each module and tensor, whether it was loaded or not";
  EXPECT_TRUE(misuses.empty()) << misuses.front();
}

} // namespace
