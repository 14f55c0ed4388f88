// Whatever a program does wrong with kiln.h is an error: each function with each argument in turn NULL, released, of
// another kind, out of range; structs of other versions; exceptions; threads.
#include "kiln/runtime/capi/kiln.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kiln/base/sanitized.h"
#include "kiln/runtime/capi/capi_fixture.h"
#include "kiln/runtime/capi/dlpack_abi.h"
#include "kiln/runtime/module/test_module.h"

namespace {

using namespace kiln::capi::testing;

std::set<std::string> coveredFunctions;

kiln_status_t *throwException(void *, const kiln_value_t *, size_t, kiln_value_t *, size_t) {
  throw std::runtime_error("thrown by the program");
}

const kiln_compiled_module_t *registerNothing() {
  return nullptr;
}

class CApiRobustness : public CApiFixture {
protected:
  CApiRobustness() : CApiFixture("local-sync", throwException) {}
};

template <typename T> constexpr bool isHandle = false;
template <> constexpr bool isHandle<kiln_status_t> = true;
template <> constexpr bool isHandle<kiln_instance_t> = true;
template <> constexpr bool isHandle<kiln_device_t> = true;
template <> constexpr bool isHandle<kiln_module_t> = true;
template <> constexpr bool isHandle<kiln_native_module_t> = true;
template <> constexpr bool isHandle<kiln_parameters_t> = true;
template <> constexpr bool isHandle<kiln_session_t> = true;
template <> constexpr bool isHandle<kiln_function_t> = true;
template <> constexpr bool isHandle<kiln_program_t> = true;
template <> constexpr bool isHandle<kiln_fence_t> = true;
template <> constexpr bool isHandle<kiln_call_limit_t> = true;

// A handle of another kind, and one that was released.
void *releasedHandle() {
  return kiln_status_create(KILN_STATUS_ABORTED, "");
}
const void *wrongHandles(size_t index, const void *otherKind) {
  static void *released = [] {
    void *handle = releasedHandle();
    kiln_status_free(static_cast<kiln_status_t *>(handle));
    return handle;
  }();
  alignas(64) static char memory[64] = {};
  const void *all[] = {nullptr,
                       released,
                       otherKind,
                       memory,
                       memory + 1,
                       reinterpret_cast<void *>(1),
                       reinterpret_cast<void *>(~uintptr_t(0))};
  return index < std::size(all) ? all[index] : memory;
}
constexpr size_t kWrongHandles = 7;

// What stands in the place of an argument: a wrong value, and whether the call must fail for it.
template <typename T> std::vector<T> wrongValues(T right, const void *otherKind) {
  std::vector<T> values;
  if constexpr (std::is_same_v<T, kiln_ref_t>) {
    for (size_t i = 0; i < kWrongHandles; ++i)
      values.push_back({wrongHandles(i, otherKind), right.type});
  } else if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_const_t<std::remove_pointer_t<T>>;
    values.push_back(nullptr);
    if constexpr (isHandle<Pointee>)
      for (size_t i = 1; i < kWrongHandles; ++i)
        values.push_back(static_cast<T>(const_cast<void *>(wrongHandles(i, otherKind))));
  } else if constexpr (std::is_enum_v<T>) {
    values = {static_cast<T>(0), static_cast<T>(99), static_cast<T>(0x7fffffff)};
  } else {
    values = {T(0), T(right + 1), T(~T(0))};
  }
  return values;
}

// Calls `f` with each argument in turn replaced by each wrong value for it. `mayBe` lists, by position, arguments whose
// wrong values may succeed (an optional pointer, any number); of handles and other pointers all others must fail.
template <typename Result, typename... Args>
void sweep(const char *name, Result (*f)(Args...), const std::set<size_t> &mayBe, std::type_identity_t<Args>... right) {
  coveredFunctions.insert(name);
  int otherKind = 0;
  kiln_status_t *other = kiln_status_create(KILN_STATUS_ABORTED, "of another kind");
  std::tuple<Args...> arguments(right...);
  auto position = [&]<size_t i>() {
    using T = std::tuple_element_t<i, std::tuple<Args...>>;
    const void *kind = other;
    if constexpr (std::is_pointer_v<T> && std::is_same_v<std::remove_const_t<std::remove_pointer_t<T>>, kiln_status_t>)
      kind = &otherKind;
    for (T wrong : wrongValues<T>(std::get<i>(arguments), kind)) {
      std::tuple<Args...> changed = arguments;
      std::get<i>(changed) = wrong;
      if constexpr (std::is_same_v<Result, kiln_status_t *>) {
        kiln_status_t *status = std::apply(f, changed);
        if (!mayBe.contains(i)) {
          EXPECT_EQ(kiln_status_code(status), KILN_STATUS_INVALID_ARGUMENT)
              << name << ", argument " << i << ": " << (status ? kiln_status_message(status) : "success");
          EXPECT_STRNE(kiln_status_message(status), "") << name << ", argument " << i;
        }
        kiln_status_free(status);
      } else {
        (void)std::apply(f, changed);
      }
    }
  };
  [&]<size_t... i>(std::index_sequence<i...>) {
    (position.template operator()<i>(), ...);
  }(std::make_index_sequence<sizeof...(Args)>());
  kiln_status_free(other);
}
#define SWEEP(function, mayBe, ...) sweep(#function, function, mayBe __VA_OPT__(, ) __VA_ARGS__)
using May = std::set<size_t>;

void ignoreMisuse(void *, const char *, const char *) {}

TEST_F(CApiRobustness, EveryFunctionWithEveryArgumentWrong) {
  coveredFunctions.clear();
  kiln_ref_t outView = {};
  kiln_value_t in = argument(), out = {};
  const char *key = nullptr, *value = nullptr;
  alignas(64) float target[4] = {};
  kiln_instance_t *newInstance = nullptr;
  kiln_device_t *newDevice = nullptr;
  kiln_module_t *newModule = nullptr;
  kiln_native_module_t *newNative = nullptr;
  kiln_parameters_t *parameters = nullptr;
  kiln_session_t *otherSession = nullptr;
  kiln_call_limit_t *newLimit = nullptr;
  const kiln_function_t *found = nullptr;
  kiln_device_options_t deviceOptions = {sizeof(deviceOptions), KILN_ALLOCATOR_DIRECT, 1};
  kiln_session_options_t noModules = {};
  kiln_program_t *newProgram = nullptr;
  kiln_fence_t *newFence = nullptr;
  int64_t extent = 4;
  DLManagedTensorVersioned tensor = {}; // nobody's: there is no deleter
  tensor.majorVersion = 1;
  tensor.tensor = {target, 1, 0, 1, {2, 32, 1}, &extent, nullptr, 0};
  DLManagedTensor olderTensor = {tensor.tensor, nullptr, nullptr};
  DLManagedTensorVersioned *newTensor = nullptr;
  DLManagedTensor *newOlderTensor = nullptr;
  kiln_status_t *status = kiln_status_create(KILN_STATUS_ABORTED, "text");

  SWEEP(kiln_status_create, (May{0, 1}), KILN_STATUS_ABORTED, "text");
  SWEEP(kiln_status_code, May{}, status);
  SWEEP(kiln_status_message, May{}, status);
  SWEEP(kiln_status_code_name, May{}, KILN_STATUS_ABORTED);
  SWEEP(kiln_status_free, May{}, status);
  SWEEP(kiln_set_misuse_handler, May{}, ignoreMisuse, nullptr);
  kiln_set_misuse_handler(ignoreMisuse, nullptr);
  SWEEP(kiln_instance_create, May{0}, KILN_API_VERSION, &newInstance);
  SWEEP(kiln_instance_release, May{}, nullptr);
  SWEEP(kiln_install_page_loss_handler, May{});
  SWEEP(kiln_device_create, May{2}, instance, "local-sync", &deviceOptions, &newDevice);
  SWEEP(kiln_device_uri, May{}, device);
  SWEEP(kiln_device_retain, May{}, device);
  SWEEP(kiln_device_release, May{}, nullptr);
  SWEEP(kiln_module_load_file, May{}, "no/such/file", &newModule);
  SWEEP(kiln_module_load_memory, (May{1, 2, 3, 4}), bytes.get(), size - 2, "name", nullptr, nullptr, &newModule);
  SWEEP(kiln_module_load_compiled, May{}, registerNothing, &newModule);
  SWEEP(kiln_module_name, May{}, module);
  SWEEP(kiln_module_retain, May{}, module);
  SWEEP(kiln_module_release, May{}, nullptr);
  SWEEP(kiln_ref_retain, May{}, view);
  SWEEP(kiln_ref_release, May{}, view);
  SWEEP(kiln_ref_type_name, May{}, view);
  SWEEP(kiln_buffer_view_create, May{4}, device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &outView);
  SWEEP(kiln_buffer_view_wrap, (May{6, 7}), device, KILN_ELEMENT_TYPE_F32, shape, 1, target, sizeof(target), nullptr,
        nullptr, &outView);
  SWEEP(kiln_ref_is_buffer_view, May{}, view);
  SWEEP(kiln_buffer_view_element_type, May{}, view);
  SWEEP(kiln_buffer_view_rank, May{}, view);
  SWEEP(kiln_buffer_view_dimension, May{}, view, 0);
  SWEEP(kiln_buffer_view_byte_size, May{}, view);
  SWEEP(kiln_buffer_view_data, May{}, view);
  SWEEP(kiln_buffer_view_read, May{}, view, target, sizeof(target));
  SWEEP(kiln_buffer_view_mutable_data, May{}, view);
  SWEEP(kiln_buffer_view_write, May{}, view, numbers, sizeof(numbers));
  SWEEP(kiln_buffer_view_to_dlpack, May{}, view, &newTensor);
  SWEEP(kiln_buffer_view_to_dlpack_unversioned, May{}, view, &newOlderTensor);
  kiln_ref_release(outView);
  for (bool versioned : {true, false}) {
    outView = {};
    if (versioned)
      SWEEP(kiln_buffer_view_from_dlpack, May{2}, device, &tensor, KILN_ELEMENT_TYPE_F32, &outView);
    else
      SWEEP(kiln_buffer_view_from_dlpack_unversioned, May{2}, device, &olderTensor, KILN_ELEMENT_TYPE_F32, &outView);
    EXPECT_TRUE(outView.object) << "a type of 0 is the tensor's";
    kiln_ref_release(outView);
  }
  SWEEP(kiln_parameters_create, May{0}, 0, &parameters);
  must(kiln_parameters_create(0, &parameters));
  SWEEP(kiln_parameters_add_file, May{1}, parameters, "model", "/nowhere.irpa");
  SWEEP(kiln_parameters_retain, May{}, parameters);
  SWEEP(kiln_parameters_release, May{}, nullptr);
  SWEEP(kiln_native_module_create, May{}, "another", &newNative);
  must(kiln_native_module_create("another", &newNative));
  SWEEP(kiln_native_module_add, May{4}, newNative, "f", "_", returnNothing, nullptr);
  SWEEP(kiln_native_module_retain, May{}, native);
  SWEEP(kiln_native_module_release, May{}, nullptr);
  SWEEP(kiln_program_create, May{}, &noModules, &newProgram);
  kiln_session_options_t options = sessionOptions();
  must(kiln_program_create(&options, &newProgram));
  SWEEP(kiln_program_retain, May{}, newProgram);
  SWEEP(kiln_program_release, May{}, newProgram);
  kiln_program_release(newProgram);
  SWEEP(kiln_session_create, May{}, &noModules, &otherSession);
  SWEEP(kiln_session_release, May{}, nullptr);
  SWEEP(kiln_session_lookup, May{}, session, "abs", &found);
  SWEEP(kiln_session_function_count, May{}, session);
  SWEEP(kiln_session_function, May{}, session, 0);
  SWEEP(kiln_function_name, May{}, function);
  SWEEP(kiln_function_argument_count, May{}, function);
  SWEEP(kiln_function_result_count, May{}, function);
  SWEEP(kiln_function_argument_kind, May{}, function, 0);
  SWEEP(kiln_function_result_kind, May{}, function, 0);
  SWEEP(kiln_function_attribute, May{}, function, "key");
  SWEEP(kiln_function_attribute_count, May{}, function);
  SWEEP(kiln_function_attribute_at, May{}, function, 0, &key, &value);
  SWEEP(kiln_session_call, May{}, session, function, &in, 1, &out, 1);
  SWEEP(kiln_call_limit_create, May{0}, KILN_NO_TIMEOUT, &newLimit);
  must(kiln_call_limit_create(KILN_NO_TIMEOUT, &newLimit));
  SWEEP(kiln_session_call_within, May{}, newLimit, session, function, &in, 1, &out, 1);
  SWEEP(kiln_session_submit, May{4}, session, function, &in, 1, nullptr, &newFence);
  must(kiln_session_submit(session, function, &in, 1, nullptr, &newFence));
  must(kiln_fence_wait(newFence, KILN_NO_TIMEOUT));
  SWEEP(kiln_fence_query, May{}, newFence);
  SWEEP(kiln_fence_wait, May{1}, newFence, KILN_NO_TIMEOUT);
  SWEEP(kiln_fence_results, May{}, newFence, &out, 1);
  SWEEP(kiln_fence_retain, May{}, newFence);
  SWEEP(kiln_fence_release, May{}, newFence);
  kiln_fence_release(newFence);
  SWEEP(kiln_call_limit_cancel, May{}, newLimit);
  SWEEP(kiln_call_limit_release, May{}, newLimit);

  std::ifstream header(KILN_HEADER);
  std::string text{std::istreambuf_iterator<char>(header), {}};
  std::regex declaration(R"(KILN_API\s[^;(]*?(kiln_\w+)\()");
  std::set<std::string> declared;
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it)
    declared.insert((*it)[1]);
  EXPECT_GT(declared.size(), 40u);
  EXPECT_EQ(coveredFunctions, declared) << "functions of kiln.h that this test does not call";
}

TEST_F(CApiRobustness, WhatWasReleasedIsNamedAndNothingElseSuffers) {
  kiln_ref_t first = {}, second = {};
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &first));
  kiln_ref_release(first);
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &second));
  EXPECT_TRUE(misuses.empty());
  kiln_ref_release(first);
  ASSERT_EQ(misuses.size(), 1u);
  EXPECT_NE(misuses[0].find("kiln_ref_release: "), std::string::npos) << misuses[0];
  EXPECT_NE(misuses[0].find("is no live kiln_ref_t"), std::string::npos) << misuses[0];
  EXPECT_EQ(kiln_buffer_view_rank(second), 1u) << "another object in its place stays";
  kiln_value_t in = argument(), out = {};
  in.as.ref = first;
  EXPECT_NE(textOf(kiln_session_call(session, function, &in, 1, &out, 1)).find("argument 0 of @abs: the reference is "),
            std::string::npos);
  kiln_ref_release(second);

  kiln_device_t *gone = nullptr;
  must(kiln_device_create(instance, "local-sync", nullptr, &gone));
  kiln_device_release(gone);
  kiln_device_release(gone);
  EXPECT_EQ(misuses.size(), 2u);
  EXPECT_STREQ(kiln_device_uri(gone), "");
  EXPECT_EQ(misuses.size(), 3u);
  EXPECT_NE(textOf(kiln_buffer_view_create(gone, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, 16, &first))
                .find("`device` is 0x"),
            std::string::npos);
}

TEST_F(CApiRobustness, FunctionsAreOfTheirSession) {
  kiln_session_t *other = nullptr;
  const kiln_function_t *foreign = nullptr;
  must(newSession(&other));
  must(kiln_session_lookup(other, "abs", &foreign));
  kiln_value_t in = argument(), out = {};
  EXPECT_EQ(textOf(kiln_session_call(session, foreign, &in, 1, &out, 1)), "function 'abs' belongs to another session");
  kiln_session_release(other);
  EXPECT_NE(textOf(kiln_session_call(session, foreign, &in, 1, &out, 1)).find("is no live kiln_function_t"),
            std::string::npos);
}

TEST_F(CApiRobustness, InstancesDoNotMix) {
  kiln_instance_t *other = nullptr;
  kiln_device_t *foreign = nullptr;
  must(kiln_instance_create(KILN_API_VERSION, &other));
  const std::string belongs = " belongs to another kiln_instance_t; make both with devices of one instance";

  for (kiln_allocator_t allocator : {KILN_ALLOCATOR_DIRECT, KILN_ALLOCATOR_CACHING, KILN_ALLOCATOR_DEBUG}) {
    kiln_device_options_t deviceOptions = {sizeof(kiln_device_options_t), allocator, 0};
    must(kiln_device_create(other, "local-sync", &deviceOptions, &foreign));
    kiln_value_t in = argument(), out = {};
    must(kiln_buffer_view_create(foreign, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &in.as.ref));
    EXPECT_EQ(textOf(kiln_session_call(session, function, &in, 1, &out, 1)),
              "argument 0 of @abs: the buffer view" + belongs);
    kiln_fence_t *fence = nullptr;
    EXPECT_EQ(textOf(kiln_session_submit(session, function, &in, 1, nullptr, &fence)),
              "argument 0 of @abs: the buffer view" + belongs);
    kiln_ref_release(in.as.ref);
    if (allocator != KILN_ALLOCATOR_DEBUG)
      kiln_device_release(foreign);
  }

  kiln_device_t *both[] = {device, foreign};
  kiln_session_options_t options = sessionOptions();
  options.devices = both;
  options.device_count = 2;
  kiln_session_t *mixed = nullptr;
  kiln_program_t *program = nullptr;
  EXPECT_EQ(textOf(kiln_session_create(&options, &mixed)), "device 1, 'local-sync'," + belongs);
  EXPECT_EQ(textOf(kiln_program_create(&options, &program)), "device 1, 'local-sync'," + belongs);

  // A session of the other instance, made of a program: its views and fences are no more of this one.
  options.devices = &foreign;
  options.device_count = 1;
  must(kiln_program_create(&options, &program));
  kiln_session_options_t ofProgram = {};
  ofProgram.struct_size = sizeof(ofProgram);
  ofProgram.program = program;
  must(kiln_session_create(&ofProgram, &mixed));
  const kiln_function_t *abs = lookUp(mixed, "abs");
  kiln_value_t in = argument(), out = {};
  EXPECT_EQ(textOf(kiln_session_call(mixed, abs, &in, 1, &out, 1)), "argument 0 of @abs: the buffer view" + belongs);
  kiln_ref_t view = {};
  must(kiln_buffer_view_create(foreign, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &view));
  in.as.ref = view;
  kiln_fence_t *fence = nullptr, *none = nullptr;
  must(kiln_session_submit(mixed, abs, &in, 1, nullptr, &fence));
  must(kiln_fence_wait(fence, KILN_NO_TIMEOUT));
  must(kiln_fence_results(fence, &out, 1));
  EXPECT_EQ(textOf(kiln_session_call(session, function, &out, 1, &in, 1)),
            "argument 0 of @abs: the buffer view" + belongs);
  kiln_submit_options_t after = {};
  after.struct_size = sizeof(after);
  after.fences = &fence;
  after.fence_count = 1;
  in = argument();
  EXPECT_EQ(textOf(kiln_session_submit(session, function, &in, 1, &after, &none)), "fence 0" + belongs);

  kiln_ref_release(out.as.ref);
  kiln_ref_release(view);
  kiln_fence_release(fence);
  kiln_session_release(mixed);
  kiln_program_release(program);
  kiln_device_release(foreign);
  kiln_instance_release(other);
  EXPECT_TRUE(misuses.empty());
}

// What a native function returns goes where arguments go.
TEST_F(CApiRobustness, InstancesDoNotMixInNativeFunctions) {
  kiln_instance_t *other = nullptr;
  kiln_device_t *foreign = nullptr;
  kiln_ref_t foreignView = {};
  must(kiln_instance_create(KILN_API_VERSION, &other));
  must(kiln_device_create(other, "local-sync", nullptr, &foreign));
  must(kiln_buffer_view_create(foreign, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &foreignView));
  auto returnView = [](void *context, const kiln_value_t *, size_t, kiln_value_t *results, size_t) {
    results[0].as.ref = *static_cast<const kiln_ref_t *>(context);
    kiln_ref_retain(results[0].as.ref);
    return static_cast<kiln_status_t *>(nullptr);
  };
  kiln_native_module_t *host = nullptr;
  must(kiln_native_module_create("host", &host));
  for (auto [name, signature] : {std::pair("scale", "fi_f"), {"sum", "I*_I"}, {"fail", "_"}})
    must(kiln_native_module_add(host, name, signature, returnNothing, nullptr));
  must(kiln_native_module_add(host, "mix", "IFr_rFI", returnView, &foreignView));

  kiln_session_options_t options = sessionOptions();
  options.native_modules = &host;
  kiln_session_t *mixing = nullptr, *theirs = nullptr;
  must(kiln_session_create(&options, &mixing));
  options.devices = &foreign;
  kiln_program_t *program = nullptr;
  must(kiln_program_create(&options, &program));
  kiln_session_options_t ofProgram = {};
  ofProgram.struct_size = sizeof(ofProgram);
  ofProgram.program = program;
  must(kiln_session_create(&ofProgram, &theirs));

  kiln_value_t in[3] = {{KILN_KIND_I64, {}}, {KILN_KIND_F64, {}}, argument()}, out[3] = {};
  const std::string text = textOf(kiln_session_call(mixing, lookUp(mixing, "mix"), in, 3, out, 3));
  EXPECT_EQ(
      text.substr(0, text.find('\n')),
      "result 0 of the native function: the buffer view belongs to another kiln_instance_t; make both with devices of "
      "one instance");
  // The same function, called by a session of the view's instance.
  in[2].as.ref = foreignView;
  must(kiln_session_call(theirs, lookUp(theirs, "mix"), in, 3, out, 3));
  kiln_ref_release(out[0].as.ref);

  kiln_session_release(theirs);
  kiln_session_release(mixing);
  kiln_program_release(program);
  kiln_native_module_release(host);
  kiln_ref_release(foreignView);
  kiln_device_release(foreign);
  kiln_instance_release(other);
  EXPECT_TRUE(misuses.empty());
}

// As a program would that was compiled with a newer header, or forgot something.
TEST_F(CApiRobustness, OptionsOfOtherVersions) {
  struct Newer {
    kiln_device_options_t known;
    uint64_t unknown;
  } newer = {};
  kiln_device_t *made = nullptr;
  auto create = [&](size_t structSize) {
    newer.known.struct_size = structSize;
    return textOf(kiln_device_create(instance, "local-sync", &newer.known, &made));
  };
  EXPECT_EQ(create(sizeof(newer)), "") << "what a newer program does not use is nothing to an older library";
  kiln_device_release(made);
  newer.unknown = 1;
  EXPECT_EQ(create(sizeof(newer)),
            "kiln_device_options_t sets byte 16, behind `worker_count`, the last field that this library knows: the "
            "program was compiled for a newer Kiln. Run it with that, or leave the field zero");
  EXPECT_EQ(create(sizeof(size_t)), "") << "an older program's struct";
  kiln_device_release(made);
  EXPECT_EQ(create(10), "kiln_device_options_t has struct_size 10, which ends within `allocator`: set it to "
                        "sizeof(kiln_device_options_t)");
  for (size_t wrong : {size_t(0), size_t(4), size_t(1) << 20, SIZE_MAX})
    EXPECT_NE(create(wrong).find("set it to sizeof(kiln_device_options_t)"), std::string::npos);
  newer.known.allocator = static_cast<kiln_allocator_t>(7);
  EXPECT_EQ(create(sizeof(newer.known)), "there is no allocator 7");
  newer.known.allocator = KILN_ALLOCATOR_DIRECT;
  newer.known.worker_count = UINT32_MAX;
  newer.known.struct_size = sizeof(newer.known);
  EXPECT_NE(textOf(kiln_device_create(instance, "local-task", &newer.known, &made)).find("workers were asked for"),
            std::string::npos);
}

TEST_F(CApiRobustness, SessionOptions) {
  kiln_session_t *made = nullptr;
  kiln_session_options_t right = sessionOptions();
  auto create = [&](const std::function<void(kiln_session_options_t &)> &change) {
    kiln_session_options_t options = right;
    change(options);
    return textOf(kiln_session_create(&options, &made));
  };
  EXPECT_EQ(create([](auto &o) { o.modules = nullptr; }), "`modules` is NULL; 1 items are announced");
  EXPECT_EQ(create([](auto &o) { o.devices = nullptr; }), "`devices` is NULL; 1 items are announced");
  EXPECT_EQ(create([](auto &o) { o.native_modules = nullptr; }), "`native_modules` is NULL; 1 items are announced");
  kiln_module_t *nothing[] = {module, nullptr};
  EXPECT_EQ(create([&](auto &o) {
              o.modules = nothing;
              o.module_count = 2;
            }),
            "item 1: `modules` is NULL; a kiln_module_t is needed");
  EXPECT_NE(create([](auto &o) { o.module_count = SIZE_MAX; }).find("`modules` are announced; at most 65536"),
            std::string::npos);
  // More memory than there is: the allocation throws, and that is an error as well.
  if (!kiln::kSanitized) {
    EXPECT_EQ(create([](auto &o) { o.stack_bytes = SIZE_MAX; }), "out of memory");
    EXPECT_EQ(create([](auto &o) { o.stack_bytes = size_t(1) << 62; }), "out of memory");
  }
  EXPECT_EQ(create([](auto &) {}), "");
  kiln_session_release(made);

  kiln_program_t *program = nullptr, *other = nullptr;
  must(kiln_program_create(&right, &program));
  EXPECT_EQ(create([&](auto &o) { o.program = program; }),
            "modules, devices, native modules or parameters are given beside a program, which has its own");
  auto nothingElse = [&](auto &o) {
    o.program = program;
    o.module_count = o.device_count = o.native_module_count = 0;
  };
  EXPECT_EQ(create(nothingElse), "");
  kiln_session_release(made);
  nothingElse(right);
  EXPECT_EQ(textOf(kiln_program_create(&right, &other)),
            "`program` of the options is for sessions; a program is made of modules");
  kiln_program_release(program);
  EXPECT_NE(create([](auto &) {}).find("`program` is 0x"), std::string::npos);
}

// An initializer without end, and one that calls what cancels it.
TEST_F(CApiRobustness, InitializersHaveLimits) {
  kiln::schema::ModuleDesc desc = kiln::vm::testing::emptyDesc();
  kiln::schema::CodeBuilder loop;
  kiln::schema::Label start = loop.newLabel();
  loop.bind(start);
  loop.branch(start);
  desc.initializer = static_cast<int32_t>(kiln::vm::testing::addFunction(desc, "loop", "_", 0, 0, std::move(loop)));
  std::string endless = *kiln::schema::writeModuleToString(desc);
  kiln_module_t *loops = nullptr;
  must(kiln_module_load_memory(endless.data(), endless.size(), "endless.vmfb", nullptr, nullptr, &loops));

  kiln_session_options_t options = sessionOptions();
  options.modules = &loops;
  kiln_program_t *program = nullptr;
  kiln_session_t *made = nullptr;
  for (bool isCancelled : {false, true}) {
    must(kiln_call_limit_create(isCancelled ? KILN_NO_TIMEOUT : 20'000'000, &options.limit));
    if (isCancelled)
      kiln_call_limit_cancel(options.limit);
    const std::string_view expected = isCancelled ? "the call was cancelled" : "did not end before its deadline";
    EXPECT_NE(textOf(kiln_program_create(&options, &program)).find(expected), std::string::npos);
    EXPECT_NE(textOf(kiln_session_create(&options, &made)).find(expected), std::string::npos);
    kiln_call_limit_release(options.limit);
  }
  EXPECT_NE(textOf(kiln_session_create(&options, &made)).find("`limit` is 0x"), std::string::npos);
  kiln_module_release(loops);
}

TEST_F(CApiRobustness, CallsWithWrongValues) {
  kiln_value_t in = argument(), out = {};
  in.kind = static_cast<kiln_kind_t>(77);
  EXPECT_EQ(textOf(kiln_session_call(session, function, &in, 1, &out, 1)), "argument 0 of @abs: there is no kind 77");
  in.kind = KILN_KIND_F32;
  EXPECT_NE(textOf(kiln_session_call(session, function, &in, 1, &out, 1)).find("argument 0 of @abs is a f32"),
            std::string::npos);
  EXPECT_NE(textOf(kiln_session_call(session, function, nullptr, SIZE_MAX, &out, 1)).find("`arguments` is NULL"),
            std::string::npos);
  uint64_t much[2] = {uint64_t(1) << 40, uint64_t(1) << 40};
  EXPECT_NE(textOf(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, much, 2, nullptr, 0, &view)), "");
}

TEST_F(CApiRobustness, TruthValuesAreZeroOrOne) {
  const uint8_t right[4] = {0, 1, 1, 0};
  alignas(64) uint8_t wrong[4] = {0, 1, 2, 0};
  const char *expected = "element 2 of a tensor of i1 is the byte 2; only 0 and 1 are truth values";
  kiln_ref_t made = {};
  EXPECT_EQ(textOf(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_I1, shape, 1, wrong, 4, &made)), expected);
  EXPECT_EQ(textOf(kiln_buffer_view_wrap(device, KILN_ELEMENT_TYPE_I1, shape, 1, wrong, 4, nullptr, nullptr, &made)),
            expected);
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_I1, shape, 1, right, 4, &made));
  EXPECT_EQ(textOf(kiln_buffer_view_write(made, wrong, 4)), expected);
  kiln_ref_release(made);
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_UI8, shape, 1, wrong, 4, &made));
  kiln_ref_release(made);
}

// Memory is given back once, also where nothing else is right.
TEST_F(CApiRobustness, MemoryIsReleasedOnFailure) {
  int released = 0;
  auto count = [](void *context) { ++*static_cast<int *>(context); };
  kiln_ref_t out = {};
  kiln_module_t *made = nullptr;
  alignas(64) float memory[4] = {};
  textOf(kiln_buffer_view_wrap(nullptr, KILN_ELEMENT_TYPE_F32, shape, 1, memory, 16, count, &released, &out));
  EXPECT_EQ(released, 1);
  textOf(kiln_buffer_view_wrap(device, KILN_ELEMENT_TYPE_F32, shape, SIZE_MAX, memory, 16, count, &released, &out));
  EXPECT_EQ(released, 2);
  textOf(kiln_buffer_view_wrap(device, KILN_ELEMENT_TYPE_F32, shape, 1, memory, 16, count, &released, nullptr));
  EXPECT_EQ(released, 3);
  textOf(kiln_module_load_memory(nullptr, 100, nullptr, count, &released, &made));
  EXPECT_EQ(released, 4);
  textOf(kiln_module_load_memory(bytes.get(), size, nullptr, count, &released, nullptr));
  EXPECT_EQ(released, 5);
}

TEST_F(CApiRobustness, ExceptionsOfTheProgramFailItsCall) {
  const kiln_function_t *fails = nullptr, *sum = nullptr;
  must(kiln_session_lookup(session, "fail", &fails));
  must(kiln_session_lookup(session, "sum", &sum));
  for (int i = 0; i < 3; ++i) {
    std::string message = textOf(kiln_session_call(session, fails, nullptr, 0, nullptr, 0));
    EXPECT_NE(message.find("an exception was thrown: thrown by the program"), std::string::npos) << message;
    kiln_value_t out = {};
    EXPECT_EQ(textOf(kiln_session_call(session, sum, nullptr, 0, &out, 1)), "") << "the session is as before";
  }
}

void countTensor(DLManagedTensor *tensor) {
  ++*static_cast<int *>(tensor->context);
}

// A view is of as many bytes as were given, or there is none: whatever number says what the bytes are.
TEST_F(CApiRobustness, EveryElementTypeTakesItsOwnBytesOrNone) {
  constexpr int64_t kElements = 10'000;
  constexpr unsigned kNumbersTried = 64;
  std::vector<std::byte> memory(2 * 8 * kElements);
  uint64_t count = kElements;
  int64_t extents[1] = {kElements}, strides[1] = {2};
  int released = 0, taken = 0, tensors = 0;
  std::set<unsigned> known;
  for (unsigned number = 0; number < kNumbersTried; ++number) {
    auto type = static_cast<kiln_element_type_t>(number);
    for (unsigned bits : {1, 2, 4, 8, 16, 32, 64}) {
      kiln_ref_t made = {};
      kiln_status_free(
          kiln_buffer_view_create(device, type, &count, 1, memory.data(), size_t(kElements) * bits / 8, &made));
      if (made.object) {
        EXPECT_TRUE(known.insert(number).second) << "element type " << number << " takes bytes of several lengths";
        EXPECT_EQ(kiln_buffer_view_byte_size(made), size_t(kElements) * bits / 8);
      }
      kiln_ref_release(made);
      for (unsigned code = 0; code < 24; ++code)
        for (bool strided : {false, true}) {
          DLManagedTensor tensor = {
              {memory.data(), 1, 0, 1, {uint8_t(code), uint8_t(bits), 1}, extents, nullptr, 0}, &released, countTensor};
          if (strided)
            tensor.tensor.strides = strides;
          made = {};
          ++tensors;
          kiln_status_free(kiln_buffer_view_from_dlpack_unversioned(device, &tensor, type, &made));
          if (made.object) {
            ++taken;
            EXPECT_EQ(kiln_buffer_view_byte_size(made), size_t(kElements) * bits / 8)
                << "code " << code << " of DLPack with " << bits << " bits, taken as element type " << number;
          }
          kiln_ref_release(made);
        }
    }
  }
  EXPECT_EQ(known.size(), size_t(KILN_ELEMENT_TYPE_F8E8M0FNU)) << "all element types of kiln.h";
  EXPECT_GT(taken, 100);
  EXPECT_EQ(released, tensors);
}

TEST_F(CApiRobustness, FunctionsAreAddedBeforeASessionHasTheModule) {
  EXPECT_NE(textOf(kiln_native_module_add(native, "late", "_", returnNothing, nullptr)).find("in use by a session"),
            std::string::npos);
}

// What happens to threads that share a session: a native function of a call waits until the others have tried.
std::atomic<int> inside{0};
std::atomic<bool> go{false};
kiln_status_t *waitForOthers(void *, const kiln_value_t *, size_t, kiln_value_t *, size_t) {
  ++inside;
  while (!go)
    std::this_thread::yield();
  return nullptr;
}

TEST_F(CApiRobustness, OneThreadAtATimeIsInACallOfASession) {
  kiln_native_module_t *host = newHost(waitForOthers, nullptr);
  std::swap(host, native);
  kiln_session_t *shared = nullptr;
  must(newSession(&shared));
  std::swap(host, native);
  kiln_native_module_release(host);
  const kiln_function_t *fails = nullptr, *abs = nullptr;
  must(kiln_session_lookup(shared, "fail", &fails));
  must(kiln_session_lookup(shared, "abs", &abs));
  std::thread first([&] { EXPECT_EQ(textOf(kiln_session_call(shared, fails, nullptr, 0, nullptr, 0)), ""); });
  while (inside == 0)
    std::this_thread::yield();
  kiln_value_t in = argument(), out = {};
  EXPECT_EQ(textOf(kiln_session_call(shared, abs, &in, 1, &out, 1)),
            "another thread is in a call of this session; each thread needs a session of its own");
  EXPECT_FALSE(out.as.ref.object);
  // The call that is under way ends well, though the session is released meanwhile.
  kiln_session_release(shared);
  EXPECT_NE(textOf(kiln_session_call(shared, abs, &in, 1, &out, 1)).find("no live kiln_session_t"), std::string::npos);
  go = true;
  first.join();
}

} // namespace
