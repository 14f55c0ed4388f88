// A module that was compiled to C and linked with the program gives what the same module gives as a file.
#include <cstring>
#include <string>
#include <vector>

#include "kiln/runtime/capi/kiln.h"
#include "kiln/schema/kiln_compiled.h"
#include "gtest/gtest.h"

extern "C" const kiln_compiled_module_t *kiln_register_module(void);

namespace {

std::string textOf(kiln_status_t *status) {
  std::string text = status ? kiln_status_message(status) : "";
  kiln_status_free(status);
  return text;
}
void must(kiln_status_t *status) {
  ASSERT_EQ(textOf(status), "");
}

class CApiCompiled : public ::testing::Test {
protected:
  void SetUp() override {
    must(kiln_instance_create(KILN_API_VERSION, &instance));
    must(kiln_device_create(instance, "local-task", nullptr, &device));
    must(kiln_module_load_compiled(kiln_register_module, &compiled));
    must(kiln_module_load_file(KILN_RELEASED_MODULE, &file));
    session = newSession(compiled);
    fileSession = newSession(file);
  }
  void TearDown() override {
    kiln_session_release(session);
    kiln_session_release(fileSession);
    kiln_module_release(compiled);
    kiln_module_release(file);
    kiln_device_release(device);
    kiln_instance_release(instance);
  }

  kiln_session_options_t optionsOf(kiln_module_t *&module) {
    kiln_session_options_t options = {};
    options.struct_size = sizeof(options);
    options.modules = &module;
    options.module_count = 1;
    options.devices = &device;
    options.device_count = 1;
    return options;
  }
  kiln_session_t *newSession(kiln_module_t *module) {
    kiln_session_options_t options = optionsOf(module);
    kiln_session_t *made = nullptr;
    must(kiln_session_create(&options, &made));
    return made;
  }
  kiln_value_t view(kiln_element_type_t type, std::vector<uint64_t> shape, const void *data, size_t size) {
    kiln_value_t value = {};
    value.kind = KILN_KIND_REF;
    must(kiln_buffer_view_create(device, type, shape.data(), shape.size(), data, size, &value.as.ref));
    return value;
  }
  static kiln_value_t number(int64_t number) {
    kiln_value_t value = {};
    value.kind = KILN_KIND_I64;
    value.as.i64 = number;
    return value;
  }

  // The bytes of all results, or what the call fails with.
  static std::string call(kiln_session_t *session, const char *name, const std::vector<kiln_value_t> &arguments,
                          kiln_call_limit_t *limit = nullptr) {
    const kiln_function_t *function = nullptr;
    must(kiln_session_lookup(session, name, &function));
    std::vector<kiln_value_t> results(kiln_function_result_count(function));
    kiln_status_t *status = limit ? kiln_session_call_within(limit, session, function, arguments.data(),
                                                             arguments.size(), results.data(), results.size())
                                  : kiln_session_call(session, function, arguments.data(), arguments.size(),
                                                      results.data(), results.size());
    if (status)
      return textOf(status);
    std::string bytes;
    for (const kiln_value_t &result : results) {
      if (result.kind != KILN_KIND_REF) {
        bytes.append(reinterpret_cast<const char *>(&result.as.i32), 4);
        continue;
      }
      std::string part(kiln_buffer_view_byte_size(result.as.ref), '\0');
      must(kiln_buffer_view_read(result.as.ref, part.data(), part.size()));
      bytes += part;
      kiln_ref_release(result.as.ref);
    }
    return bytes;
  }
  void expectSame(const char *name, const std::vector<kiln_value_t> &arguments) {
    std::string expected = call(fileSession, name, arguments);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(call(session, name, arguments), expected) << name;
    for (const kiln_value_t &value : arguments)
      if (value.kind == KILN_KIND_REF)
        kiln_ref_release(value.as.ref);
  }

  kiln_instance_t *instance = nullptr;
  kiln_device_t *device = nullptr;
  kiln_module_t *compiled = nullptr, *file = nullptr;
  kiln_session_t *session = nullptr, *fileSession = nullptr;
};

TEST_F(CApiCompiled, ResultsAreThoseOfTheFile) {
  EXPECT_STREQ(kiln_module_name(compiled), "module");
  ASSERT_EQ(kiln_session_function_count(session), kiln_session_function_count(fileSession));
  for (size_t i = 0; i < kiln_session_function_count(session); ++i) {
    const kiln_function_t *function = kiln_session_function(session, i);
    EXPECT_STREQ(kiln_function_attribute(function, "kiln.abi.declaration"),
                 kiln_function_attribute(kiln_session_function(fileSession, i), "kiln.abi.declaration"));
  }
  std::vector<float> numbers(5 * 24);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i % 17) * 0.37f - 2;
  expectSame("dense", {view(KILN_ELEMENT_TYPE_F32, {5, 24}, numbers.data(), 5 * 24 * 4)});
  expectSame("softmax", {view(KILN_ELEMENT_TYPE_F32, {4, 8}, numbers.data(), 4 * 8 * 4)});
  const int32_t integers[] = {1, 2, 3, 4}, bad[] = {1, 0, 2, 3};
  for (int64_t times : {0, 1, 100})
    expectSame("loop", {view(KILN_ELEMENT_TYPE_I32, {4}, integers, sizeof(integers)), number(times)});
  expectSame("checked", {view(KILN_ELEMENT_TYPE_I32, {4}, integers, sizeof(integers))});
  // Fails with the same message, which ends in the same backtrace.
  expectSame("checked", {view(KILN_ELEMENT_TYPE_I32, {4}, bad, sizeof(bad))});
  expectSame("dense", {view(KILN_ELEMENT_TYPE_I32, {4}, bad, sizeof(bad))});
}

TEST_F(CApiCompiled, CallsEndAtTheirDeadline) {
  kiln_call_limit_t *limit = nullptr;
  must(kiln_call_limit_create(50'000'000, &limit));
  const int32_t integers[] = {1, 2, 3, 4};
  kiln_value_t argument = view(KILN_ELEMENT_TYPE_I32, {4}, integers, sizeof(integers));
  std::string message = call(session, "loop", {argument, number(int64_t(1) << 50)}, limit);
  EXPECT_NE(message.find("the call did not end before its deadline"), std::string::npos) << message;
  kiln_ref_release(argument.as.ref);
  kiln_call_limit_release(limit);
}

TEST_F(CApiCompiled, AProgramSharesIt) {
  kiln_session_options_t options = optionsOf(compiled);
  kiln_program_t *program = nullptr;
  must(kiln_program_create(&options, &program));
  kiln_session_options_t ofProgram = {};
  ofProgram.struct_size = sizeof(ofProgram);
  ofProgram.program = program;
  const int32_t integers[] = {1, 2, 3, 4};
  for (int i = 0; i < 3; ++i) {
    kiln_session_t *one = nullptr;
    must(kiln_session_create(&ofProgram, &one));
    kiln_value_t argument = view(KILN_ELEMENT_TYPE_I32, {4}, integers, sizeof(integers));
    EXPECT_EQ(call(one, "loop", {argument, number(7)}), call(fileSession, "loop", {argument, number(7)}));
    kiln_ref_release(argument.as.ref);
    kiln_session_release(one);
  }
  kiln_program_release(program);
}

} // namespace
