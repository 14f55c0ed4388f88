/* The C API as a C program uses it. */
#include "kiln/runtime/capi/kiln.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/runtime/capi/capi_test_module.h"

static int failures = 0;

static void check(int condition, const char *text, int line) {
  if (condition)
    return;
  fprintf(stderr, "capi_test.c:%d: not so: %s\n", line, text);
  ++failures;
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

/* Frees the status; prints what it says where it is none of success. */
static void checkOk(kiln_status_t *status, int line) {
  if (status) {
    fprintf(stderr, "capi_test.c:%d: %s: %s\n", line, kiln_status_code_name(kiln_status_code(status)),
            kiln_status_message(status));
    ++failures;
  }
  kiln_status_free(status);
}
#define CHECK_OK(call) checkOk((call), __LINE__)

/* Equal, number for number. */
static int same(const float *a, const float *b, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i)
    if (a[i] != b[i])
      return 0;
  return 1;
}

static void checkFails(kiln_status_t *status, kiln_status_code_t code, const char *text, int line) {
  if (kiln_status_code(status) != code || !strstr(kiln_status_message(status), text)) {
    fprintf(stderr, "capi_test.c:%d: got %s: %s\n", line, kiln_status_code_name(kiln_status_code(status)),
            kiln_status_message(status));
    ++failures;
  }
  kiln_status_free(status);
}
#define CHECK_FAILS(call, code, text) checkFails((call), (code), (text), __LINE__)

/* ---- The native module ---- */

typedef struct Host {
  int calls;
  int misbehave;
} Host;

static kiln_status_t *scale(void *context, const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                            size_t result_count) {
  Host *host = context;
  ++host->calls;
  CHECK(argument_count == 2 && arguments[0].kind == KILN_KIND_F32 && arguments[1].kind == KILN_KIND_I32);
  CHECK(result_count == 1 && results[0].kind == KILN_KIND_F32 && results[0].as.f32 == 0);
  results[0].as.f32 = arguments[0].as.f32 * (float)arguments[1].as.i32;
  if (host->misbehave)
    results[0].kind = KILN_KIND_I64;
  return NULL;
}

/* Gives its arguments back the other way round. */
static kiln_status_t *mix(void *context, const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                          size_t result_count) {
  CHECK(context != NULL && argument_count == 3 && result_count == 3);
  results[0].as.ref = arguments[2].as.ref;
  kiln_ref_retain(results[0].as.ref);
  results[1].as.f64 = arguments[1].as.f64;
  results[2].as.i64 = arguments[0].as.i64;
  if (arguments[0].as.i64 == 13)
    return kiln_status_create(KILN_STATUS_OUT_OF_RANGE, "thirteen is not allowed");
  return NULL;
}

static kiln_status_t *sum(void *context, const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                          size_t result_count) {
  size_t i;
  CHECK(context != NULL && result_count == 1);
  for (i = 0; i < argument_count; ++i)
    results[0].as.i64 += arguments[i].as.i64;
  return NULL;
}

static kiln_status_t *fail(void *context, const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                           size_t result_count) {
  CHECK(context != NULL && argument_count == 0 && result_count == 0);
  (void)arguments;
  (void)results;
  return kiln_status_create(KILN_STATUS_UNAVAILABLE, "the host is asleep");
}

static kiln_native_module_t *createHost(Host *host) {
  kiln_native_module_t *module = NULL;
  CHECK_FAILS(kiln_native_module_create("", &module), KILN_STATUS_INVALID_ARGUMENT, "needs a name");
  CHECK_OK(kiln_native_module_create("host", &module));
  CHECK_OK(kiln_native_module_add(module, "scale", "fi_f", scale, host));
  CHECK_OK(kiln_native_module_add(module, "mix", "IFr_rFI", mix, host));
  CHECK_OK(kiln_native_module_add(module, "sum", "I*_I", sum, host));
  CHECK_OK(kiln_native_module_add(module, "fail", "_", fail, host));
  CHECK_FAILS(kiln_native_module_add(module, "sum", "I*_I", sum, host), KILN_STATUS_ALREADY_EXISTS, "host");
  CHECK_FAILS(kiln_native_module_add(module, "bad", "q_", sum, host), KILN_STATUS_INVALID_ARGUMENT, "'q_'");
  return module;
}

/* ---- Calls ---- */

static const kiln_function_t *lookup(kiln_session_t *session, const char *name) {
  const kiln_function_t *function = NULL;
  CHECK_OK(kiln_session_lookup(session, name, &function));
  return function;
}

static void testStatus(void) {
  kiln_status_t *status = kiln_status_create(KILN_STATUS_OK, "text");
  CHECK(kiln_status_code(status) == KILN_STATUS_UNKNOWN);
  CHECK(strcmp(kiln_status_message(status), "text") == 0);
  kiln_status_free(status);
  CHECK(kiln_status_code(NULL) == KILN_STATUS_OK);
  CHECK(strcmp(kiln_status_message(NULL), "") == 0);
  CHECK(strcmp(kiln_status_code_name(KILN_STATUS_DATA_LOSS), "DATA_LOSS") == 0);
  kiln_status_free(NULL);
}

static void countRelease(void *context) {
  ++*(int *)context;
}

static void testBufferViews(kiln_device_t *device) {
  static const float numbers[6] = {1, 2, 3, 4, 5, 6};
  const uint64_t shape[2] = {2, 3};
  float copy[6] = {0};
  int released = 0;
  kiln_ref_t view, null = {NULL, NULL};
  void *memory = aligned_alloc(64, 64);

  CHECK_OK(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 2, numbers, sizeof(numbers), &view));
  CHECK(kiln_ref_is_buffer_view(view));
  CHECK(strcmp(kiln_ref_type_name(view), "hal.buffer_view") == 0);
  CHECK(kiln_buffer_view_element_type(view) == KILN_ELEMENT_TYPE_F32);
  CHECK(kiln_buffer_view_rank(view) == 2);
  CHECK(kiln_buffer_view_dimension(view, 0) == 2 && kiln_buffer_view_dimension(view, 1) == 3);
  CHECK(kiln_buffer_view_dimension(view, 2) == 0);
  CHECK(kiln_buffer_view_byte_size(view) == sizeof(numbers));
  CHECK(same(kiln_buffer_view_data(view), numbers, 6));
  CHECK_OK(kiln_buffer_view_read(view, copy, sizeof(copy)));
  CHECK(same(copy, numbers, 6));
  CHECK_FAILS(kiln_buffer_view_read(view, copy, 8), KILN_STATUS_INVALID_ARGUMENT, "a 2x3xf32 has 24 bytes");
  kiln_ref_retain(view);
  kiln_ref_release(view);
  kiln_ref_release(view);

  CHECK_OK(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_I8, NULL, 0, NULL, 1, &view));
  CHECK(*(const char *)kiln_buffer_view_data(view) == 0);
  kiln_ref_release(view);
  CHECK_FAILS(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 2, numbers, 8, &view),
              KILN_STATUS_INVALID_ARGUMENT, "a 2x3xf32 takes 24 bytes; 8 are given");
  CHECK_FAILS(kiln_buffer_view_create(device, (kiln_element_type_t)99, shape, 2, numbers, 24, &view),
              KILN_STATUS_INVALID_ARGUMENT, "no element type 99");

  memcpy(memory, numbers, sizeof(numbers));
  CHECK_OK(kiln_buffer_view_wrap(device, KILN_ELEMENT_TYPE_F32, shape, 2, memory, sizeof(numbers), countRelease,
                                 &released, &view));
  CHECK(kiln_buffer_view_data(view) == memory && released == 0);
  kiln_ref_release(view);
  CHECK(released == 1);
  CHECK_FAILS(kiln_buffer_view_wrap(device, KILN_ELEMENT_TYPE_F32, shape, 2, memory, 4, countRelease, &released, &view),
              KILN_STATUS_INVALID_ARGUMENT, "24 bytes");
  CHECK(released == 2);
  free(memory);

  kiln_ref_retain(null);
  kiln_ref_release(null);
  CHECK(!kiln_ref_is_buffer_view(null) && kiln_buffer_view_rank(null) == 0 && !kiln_buffer_view_data(null));
  CHECK(strcmp(kiln_ref_type_name(null), "null") == 0);
  CHECK_FAILS(kiln_buffer_view_read(null, copy, 0), KILN_STATUS_INVALID_ARGUMENT, "the reference is null");
}

static void testReflection(kiln_session_t *session) {
  const kiln_function_t *function = lookup(session, "abs");
  const char *key = NULL, *value = NULL;
  CHECK(kiln_session_function_count(session) == 6);
  CHECK(kiln_session_function(session, 0) == function);
  CHECK(kiln_session_function(session, 6) == NULL);
  CHECK(strcmp(kiln_function_name(function), "abs") == 0);
  CHECK(kiln_function_argument_count(function) == 1 && kiln_function_result_count(function) == 1);
  CHECK(kiln_function_argument_kind(function, 0) == KILN_KIND_REF);
  CHECK(strncmp(kiln_function_attribute(function, "kiln.abi.declaration"), "sync func @abs(", 15) == 0);
  CHECK(kiln_function_attribute(function, "nothing") == NULL);
  CHECK(kiln_function_attribute_count(function) == 1);
  kiln_function_attribute_at(function, 0, &key, &value);
  CHECK(strcmp(key, "kiln.abi.declaration") == 0 && strncmp(value, "sync func", 9) == 0);
  function = lookup(session, "mix");
  CHECK(kiln_function_argument_kind(function, 1) == KILN_KIND_F64);
  CHECK(kiln_function_result_kind(function, 2) == KILN_KIND_I64);
  CHECK(lookup(session, "abs.mix") == function);
  CHECK_FAILS(kiln_session_lookup(session, "nothing", &function), KILN_STATUS_NOT_FOUND,
              "it exports: abs, scale, mix, fail, sum, loop");
}

static void testAbs(kiln_session_t *session, kiln_device_t *device) {
  static const float numbers[4] = {-1, 2, -3, 4}, expected[4] = {1, 2, 3, 4};
  const uint64_t shape[1] = {4}, wrong[1] = {2};
  float copy[4];
  kiln_value_t argument = {KILN_KIND_REF, {0}}, result;
  int i;
  CHECK_OK(
      kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &argument.as.ref));
  for (i = 0; i < 2; ++i) {
    CHECK_OK(kiln_session_call(session, lookup(session, "abs"), &argument, 1, &result, 1));
    CHECK(result.kind == KILN_KIND_REF);
    CHECK_OK(kiln_buffer_view_read(result.as.ref, copy, sizeof(copy)));
    CHECK(same(copy, expected, 4));
    kiln_ref_release(result.as.ref);
  }
  kiln_ref_release(argument.as.ref);

  CHECK_OK(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, wrong, 1, numbers, 8, &argument.as.ref));
  CHECK_FAILS(kiln_session_call(session, lookup(session, "abs"), &argument, 1, &result, 1),
              KILN_STATUS_INVALID_ARGUMENT, "input0: expected 4xf32, got 2xf32");
  CHECK(result.kind == KILN_KIND_REF && !result.as.ref.object);
  CHECK_FAILS(kiln_session_call(session, lookup(session, "abs"), &argument, 1, &result, 0),
              KILN_STATUS_INVALID_ARGUMENT, "@abs has 1 results, room is given for 0");
  CHECK_FAILS(kiln_session_call(session, lookup(session, "abs"), NULL, 0, &result, 1), KILN_STATUS_INVALID_ARGUMENT,
              "@abs takes 1 arguments, 0 are given");
  kiln_ref_release(argument.as.ref);
}

static void testNative(kiln_session_t *session, kiln_device_t *device, Host *host) {
  const uint64_t shape[1] = {1};
  const float number = 5;
  kiln_value_t arguments[3], results[3];
  arguments[0].kind = KILN_KIND_F32;
  arguments[0].as.f32 = 1.5f;
  arguments[1].kind = KILN_KIND_I32;
  arguments[1].as.i32 = -4;
  CHECK_OK(kiln_session_call(session, lookup(session, "scale"), arguments, 2, results, 1));
  CHECK(results[0].kind == KILN_KIND_F32 && results[0].as.f32 == -6.0f);
  CHECK(host->calls == 1);
  host->misbehave = 1;
  CHECK_FAILS(kiln_session_call(session, lookup(session, "scale"), arguments, 2, results, 1), KILN_STATUS_INTERNAL,
              "has changed the kind of its result 0");

  arguments[0].kind = KILN_KIND_I64;
  arguments[0].as.i64 = -7;
  arguments[1].kind = KILN_KIND_F64;
  arguments[1].as.f64 = 0.25;
  arguments[2].kind = KILN_KIND_REF;
  CHECK_OK(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, &number, 4, &arguments[2].as.ref));
  CHECK_OK(kiln_session_call(session, lookup(session, "mix"), arguments, 3, results, 3));
  CHECK(kiln_buffer_view_data(results[0].as.ref) == kiln_buffer_view_data(arguments[2].as.ref));
  CHECK(results[1].as.f64 == 0.25 && results[2].as.i64 == -7);
  kiln_ref_release(results[0].as.ref);
  arguments[0].as.i64 = 13;
  CHECK_FAILS(kiln_session_call(session, lookup(session, "mix"), arguments, 3, results, 3), KILN_STATUS_OUT_OF_RANGE,
              "thirteen is not allowed\n  at native function host.mix\n  at @mix+0");
  kiln_ref_release(arguments[2].as.ref);

  CHECK_OK(kiln_session_call(session, lookup(session, "sum"), NULL, 0, results, 1));
  CHECK(results[0].as.i64 == 240);
  CHECK_FAILS(kiln_session_call(session, lookup(session, "fail"), NULL, 0, NULL, 0), KILN_STATUS_UNAVAILABLE,
              "the host is asleep");
}

static void testLimits(kiln_session_t *session, kiln_device_t *device) {
  const uint64_t shape[1] = {4};
  const float numbers[4] = {-1, 2, -3, 4};
  const kiln_function_t *loop = lookup(session, "loop");
  kiln_call_limit_t *limit = NULL;
  kiln_value_t argument = {KILN_KIND_REF, {0}}, result;
  CHECK_OK(kiln_call_limit_create(20 * 1000 * 1000, &limit));
  CHECK_FAILS(kiln_session_call_within(limit, session, loop, NULL, 0, NULL, 0), KILN_STATUS_DEADLINE_EXCEEDED,
              "did not end before its deadline\n  at @loop+");
  kiln_call_limit_release(limit);

  CHECK_OK(kiln_call_limit_create(KILN_NO_TIMEOUT, &limit));
  CHECK_OK(
      kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, numbers, sizeof(numbers), &argument.as.ref));
  CHECK_OK(kiln_session_call_within(limit, session, lookup(session, "abs"), &argument, 1, &result, 1));
  kiln_ref_release(result.as.ref);
  kiln_call_limit_cancel(limit);
  CHECK_FAILS(kiln_session_call_within(limit, session, lookup(session, "abs"), &argument, 1, &result, 1),
              KILN_STATUS_CANCELLED, "the call was cancelled");
  kiln_call_limit_release(limit);
  CHECK_OK(kiln_session_call(session, lookup(session, "abs"), &argument, 1, &result, 1));
  kiln_ref_release(result.as.ref);
  kiln_ref_release(argument.as.ref);
}

/* Two calls of a session that shares its program with others, one after the other. */
static void testAsynchronous(kiln_program_t *program, kiln_device_t *device) {
  static const float numbers[4] = {-1, 2, -3, 4}, expected[4] = {1, 2, 3, 4};
  const uint64_t shape[1] = {4};
  float copy[4];
  kiln_session_t *session = NULL;
  kiln_fence_t *first = NULL, *second = NULL;
  kiln_value_t argument = {KILN_KIND_REF, {0}}, result;
  kiln_session_options_t options = {sizeof(options), NULL, 0, NULL, 0, NULL, 0, 0, 0, program, NULL, NULL};
  kiln_submit_options_t submit = {sizeof(submit), &first, 1, NULL};
  CHECK_OK(kiln_session_create(&options, &session));
  CHECK_OK(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, shape, 1, NULL, sizeof(numbers), &argument.as.ref));
  CHECK_OK(kiln_buffer_view_write(argument.as.ref, numbers, sizeof(numbers)));
  CHECK(kiln_buffer_view_mutable_data(argument.as.ref) == kiln_buffer_view_data(argument.as.ref));
  CHECK_OK(kiln_session_submit(session, lookup(session, "fail"), NULL, 0, NULL, &first));
  CHECK_FAILS(kiln_fence_wait(first, KILN_NO_TIMEOUT), KILN_STATUS_UNAVAILABLE, "the host is asleep");
  CHECK_OK(kiln_session_submit(session, lookup(session, "abs"), &argument, 1, &submit, &second));
  CHECK_FAILS(kiln_fence_wait(second, KILN_NO_TIMEOUT), KILN_STATUS_UNAVAILABLE, "the host is asleep");
  kiln_fence_release(second);
  CHECK_OK(kiln_session_submit(session, lookup(session, "abs"), &argument, 1, NULL, &second));
  CHECK_OK(kiln_fence_wait(second, KILN_NO_TIMEOUT));
  CHECK(kiln_fence_query(second));
  CHECK_OK(kiln_fence_results(second, &result, 1));
  CHECK_OK(kiln_buffer_view_read(result.as.ref, copy, sizeof(copy)));
  CHECK(same(copy, expected, 4));
  kiln_ref_release(result.as.ref);
  kiln_ref_release(argument.as.ref);
  kiln_fence_release(first);
  kiln_fence_release(second);
  kiln_session_release(session);
}

/* Files of parameters; a program without any takes them, too. */
static void testParameters(kiln_session_options_t options) {
  kiln_parameters_t *parameters = NULL;
  kiln_session_t *session = NULL;
  CHECK_OK(kiln_parameters_create(0, &parameters));
  CHECK_FAILS(kiln_parameters_add_file(parameters, "model", "/nowhere.irpa"), KILN_STATUS_NOT_FOUND,
              "cannot open '/nowhere.irpa'");
  options.parameters = parameters;
  CHECK_OK(kiln_session_create(&options, &session));
  kiln_parameters_release(parameters);
  kiln_session_release(session);
}

int main(void) {
  kiln_program_t *program = NULL;
  kiln_instance_t *instance = NULL;
  kiln_device_t *device = NULL;
  kiln_module_t *module = NULL;
  kiln_session_t *session = NULL;
  kiln_device_options_t deviceOptions = {sizeof(deviceOptions), KILN_ALLOCATOR_DEBUG, 0};
  kiln_session_options_t options = {sizeof(options), NULL, 0, NULL, 0, NULL, 0, 0, 0, NULL, NULL, NULL};
  Host host = {0, 0};
  kiln_native_module_t *native = createHost(&host);
  int released = 0;
  size_t size = 0;
  void *bytes = makeTestModule(&size);

  testStatus();
  CHECK_FAILS(kiln_instance_create(KILN_API_VERSION + 1, &instance), KILN_STATUS_UNIMPLEMENTED,
              "version 2 of the C API");
  CHECK_OK(kiln_instance_create(KILN_API_VERSION, &instance));
  CHECK_FAILS(kiln_device_create(instance, "nowhere", NULL, &device), KILN_STATUS_NOT_FOUND, "nowhere");
  CHECK_OK(kiln_device_create(instance, "local-sync", &deviceOptions, &device));
  CHECK(strcmp(kiln_device_uri(device), "local-sync") == 0);
  testBufferViews(device);

  CHECK_FAILS(kiln_module_load_file("no/such/module", &module), KILN_STATUS_NOT_FOUND, "no/such/module");
  CHECK_FAILS(kiln_module_load_memory(bytes, size - 1, "half.vmfb", countRelease, &released, &module),
              KILN_STATUS_DATA_LOSS, "'half.vmfb' is damaged");
  CHECK(released == 1);
  CHECK_OK(kiln_module_load_memory(bytes, size, "test.vmfb", countRelease, &released, &module));
  CHECK(released == 1 && strcmp(kiln_module_name(module), "abs") == 0);

  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;
  CHECK_FAILS(kiln_session_create(&options, &session), KILN_STATUS_NOT_FOUND, "imports 'host.scale'");
  options.native_modules = &native;
  options.native_module_count = 1;
  CHECK_OK(kiln_session_create(&options, &session));
  CHECK_OK(kiln_program_create(&options, &program));
  testParameters(options);
  /* The session keeps what it needs. */
  kiln_native_module_release(native);
  kiln_module_release(module);
  kiln_instance_release(instance);

  testReflection(session);
  testAbs(session, device);
  testNative(session, device, &host);
  testLimits(session, device);
  testAsynchronous(program, device);
  kiln_program_release(program);

  CHECK(released == 1);
  kiln_session_release(session);
  CHECK(released == 2);
  kiln_device_release(device);
  free(bytes);
  if (failures == 0)
    puts("all as expected");
  return failures != 0;
}
