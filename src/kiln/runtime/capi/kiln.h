/* Kiln's runtime for programs in C, and in languages that call C: open devices, load compiled modules, call their
 * functions, and provide functions that modules import.
 *
 * Ownership. What a function gives through a `kiln_x_t **out` belongs to the caller, who releases it with
 * kiln_x_release; objects that it was made from may be released before it. `const char *` and handles that are returned
 * directly are borrowed, and live as long as the object that they were asked of. What a function takes is borrowed for
 * the call, unless it says otherwise.
 *
 * Errors. A function that can fail returns a status: NULL is success, anything else belongs to the caller, who frees it
 * with kiln_status_free. Outputs are written only on success. No exception leaves a function.
 *
 * Mistakes. NULL where an argument is needed, a handle that was released before, one of another kind, or what is no
 * handle at all is an error, and is not looked into. A function without a status then does nothing, returns 0, "" or
 * NULL, and the program is told: see kiln_set_misuse_handler. Only memory that the program points to (strings, arrays,
 * structs) must be what it says.
 *
 * Threads. All functions may be called on any thread at any time. Calls of one session's functions must not overlap:
 * one that comes while another thread is in a call of the same session fails, unless it is asynchronous. For calls at
 * the same time make sessions of one program.
 *
 * Versions. Within one KILN_API_VERSION functions and fields of option structs are only ever added. Option structs
 * start with their size, which the caller sets to sizeof: fields that the caller's header did not have yet are zero,
 * and zero is always the default. A field that the library does not know yet must be zero; another value is an error.
 */
#ifndef KILN_RUNTIME_CAPI_KILN_H
#define KILN_RUNTIME_CAPI_KILN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

#define KILN_API_VERSION 1

/* An enumeration may hold a number that is not listed: that is an error, in C++ as in C. */
#ifdef __cplusplus
#define KILN_OF_ANY_NUMBER : unsigned
#else
#define KILN_OF_ANY_NUMBER
#endif

/* ---- Status ---- */

typedef enum kiln_status_code_t KILN_OF_ANY_NUMBER {
  KILN_STATUS_OK = 0,
  KILN_STATUS_CANCELLED = 1,
  KILN_STATUS_UNKNOWN = 2,
  KILN_STATUS_INVALID_ARGUMENT = 3,
  KILN_STATUS_DEADLINE_EXCEEDED = 4,
  KILN_STATUS_NOT_FOUND = 5,
  KILN_STATUS_ALREADY_EXISTS = 6,
  KILN_STATUS_PERMISSION_DENIED = 7,
  KILN_STATUS_RESOURCE_EXHAUSTED = 8,
  KILN_STATUS_FAILED_PRECONDITION = 9,
  KILN_STATUS_ABORTED = 10,
  KILN_STATUS_OUT_OF_RANGE = 11,
  KILN_STATUS_UNIMPLEMENTED = 12,
  KILN_STATUS_INTERNAL = 13,
  KILN_STATUS_UNAVAILABLE = 14,
  KILN_STATUS_DATA_LOSS = 15
} kiln_status_code_t;

typedef struct kiln_status_t kiln_status_t;

/* For native functions that fail. Never NULL; the message is copied. A code of OK becomes UNKNOWN. */
KILN_API kiln_status_t *kiln_status_create(kiln_status_code_t code, const char *message);
/* OK for NULL. */
KILN_API kiln_status_code_t kiln_status_code(const kiln_status_t *status);
/* What happened and what to do, without the code; "" for NULL. */
KILN_API const char *kiln_status_message(const kiln_status_t *status);
/* "INVALID_ARGUMENT" and so on. */
KILN_API const char *kiln_status_code_name(kiln_status_code_t code);
KILN_API void kiln_status_free(kiln_status_t *status);

/* ---- Mistakes ---- */

/* `function` is the one that was given a wrong handle, `message` says what the handle is. Both live for the call. */
typedef void (*kiln_misuse_fn_t)(void *context, const char *function, const char *message);

/* Called, on the thread of the mistake, where a function that returns no status is given what is no live handle: in
 * place of a line on standard error. NULL is that line again. */
KILN_API void kiln_set_misuse_handler(kiln_misuse_fn_t handler, void *context);

/* ---- Instance and devices ---- */

typedef struct kiln_instance_t kiln_instance_t;
typedef struct kiln_device_t kiln_device_t;

/* Knows the drivers of this build. Pass KILN_API_VERSION; fails where the library does not support it. Devices of two
 * instances, and what was made with them (sessions, buffer views, fences), cannot be used together: that is an error.
 */
KILN_API kiln_status_t *kiln_instance_create(uint32_t api_version, kiln_instance_t **out_instance);
KILN_API void kiln_instance_release(kiln_instance_t *instance);

typedef enum kiln_allocator_t KILN_OF_ANY_NUMBER {
  KILN_ALLOCATOR_DEFAULT = 0, /* caching */
  KILN_ALLOCATOR_CACHING = 1, /* freed memory is kept and handed out again */
  KILN_ALLOCATOR_DEBUG = 2,   /* memory is poisoned, and writes outside of buffers are found */
  KILN_ALLOCATOR_DIRECT = 3   /* each buffer is allocated and freed */
} kiln_allocator_t;

typedef struct kiln_device_options_t {
  size_t struct_size; /* sizeof(kiln_device_options_t) */
  kiln_allocator_t allocator;
  uint32_t worker_count; /* of devices with workers on the CPU; 0: one per core */
} kiln_device_options_t;

/* `uri` is "local-sync", "local-task", "cuda://0" and so on. `options` may be NULL. */
KILN_API kiln_status_t *kiln_device_create(kiln_instance_t *instance, const char *uri,
                                           const kiln_device_options_t *options, kiln_device_t **out_device);
KILN_API const char *kiln_device_uri(const kiln_device_t *device);
KILN_API void kiln_device_retain(kiln_device_t *device);
KILN_API void kiln_device_release(kiln_device_t *device);

/* ---- Modules ---- */

/* The system ends a process that reads a mapped file which was truncated meanwhile, or whose disk fails (SIGBUS). Once
 * this was called, that fails the call that reads constants of such a module, with a message that names the file. Any
 * other SIGBUS goes to the handler that was there before. For the whole process; calls after the first do nothing. */
KILN_API kiln_status_t *kiln_install_page_loss_handler(void);

typedef struct kiln_module_t kiln_module_t;

/* Called once, on any thread, when memory that was handed over is needed no more. */
typedef void (*kiln_release_fn_t)(void *context);

/* Reads, checks and verifies a module file. "-" reads standard input. What is executed or trusted is copied; more than
 * 2 MiB of constants stay mapped, and a call fails where their file was changed or replaced since. */
KILN_API kiln_status_t *kiln_module_load_file(const char *path, kiln_module_t **out_module);
/* The same of bytes in memory, which must not change until `release` (may be NULL) has been called: also on failure,
 * and before the return where the bytes had to be copied because they do not start at a multiple of 64. `name` stands
 * for the file in messages. */
KILN_API kiln_status_t *kiln_module_load_memory(const void *bytes, size_t size, const char *name,
                                                kiln_release_fn_t release, void *release_context,
                                                kiln_module_t **out_module);
/* A module that was compiled to C and linked with the program: the file exports `kiln_register_<module>`, whose type is
 * in kiln_compiled.h. It is trusted as the program's own code is, and stays loaded for as long as anything that was
 * made of the module is in use. */
struct kiln_compiled_module_t;
typedef const struct kiln_compiled_module_t *(*kiln_register_fn_t)(void);
KILN_API kiln_status_t *kiln_module_load_compiled(kiln_register_fn_t registration, kiln_module_t **out_module);
KILN_API const char *kiln_module_name(const kiln_module_t *module);
KILN_API void kiln_module_retain(kiln_module_t *module);
KILN_API void kiln_module_release(kiln_module_t *module);

/* ---- Values ---- */

typedef enum kiln_kind_t KILN_OF_ANY_NUMBER {
  KILN_KIND_I32 = 'i',
  KILN_KIND_I64 = 'I',
  KILN_KIND_F32 = 'f',
  KILN_KIND_F64 = 'F',
  KILN_KIND_REF = 'r'
} kiln_kind_t;

/* A counted reference to an object: a buffer view, mostly. Two words to be copied as they are; neither member is for
 * the program to touch, nor to compare: an object may have several. All zero is a null reference. */
typedef struct kiln_ref_t {
  const void *object;
  const void *type;
} kiln_ref_t;

typedef struct kiln_value_t {
  kiln_kind_t kind;
  union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    kiln_ref_t ref;
  } as;
} kiln_value_t;

/* Null references are ignored. */
KILN_API void kiln_ref_retain(kiln_ref_t ref);
KILN_API void kiln_ref_release(kiln_ref_t ref);
/* "hal.buffer_view"; "null" for a null reference. */
KILN_API const char *kiln_ref_type_name(kiln_ref_t ref);

/* ---- Buffer views: tensors ---- */

typedef enum kiln_element_type_t KILN_OF_ANY_NUMBER {
  KILN_ELEMENT_TYPE_I1 = 1, /* one byte each, 0 or 1 */
  KILN_ELEMENT_TYPE_I8 = 2,
  KILN_ELEMENT_TYPE_I16 = 3,
  KILN_ELEMENT_TYPE_I32 = 4,
  KILN_ELEMENT_TYPE_I64 = 5,
  KILN_ELEMENT_TYPE_SI8 = 6,
  KILN_ELEMENT_TYPE_SI16 = 7,
  KILN_ELEMENT_TYPE_SI32 = 8,
  KILN_ELEMENT_TYPE_SI64 = 9,
  KILN_ELEMENT_TYPE_UI8 = 10,
  KILN_ELEMENT_TYPE_UI16 = 11,
  KILN_ELEMENT_TYPE_UI32 = 12,
  KILN_ELEMENT_TYPE_UI64 = 13,
  KILN_ELEMENT_TYPE_F16 = 14,
  KILN_ELEMENT_TYPE_BF16 = 15,
  KILN_ELEMENT_TYPE_F32 = 16,
  KILN_ELEMENT_TYPE_F64 = 17,
  KILN_ELEMENT_TYPE_F8E4M3FN = 18,
  KILN_ELEMENT_TYPE_F8E5M2 = 19,
  KILN_ELEMENT_TYPE_I2 = 20, /* less than 8 bits: packed, the first element in the lowest bits of a byte */
  KILN_ELEMENT_TYPE_I4 = 21,
  KILN_ELEMENT_TYPE_F4E2M1FN = 22,
  KILN_ELEMENT_TYPE_F8E4M3 = 23,
  KILN_ELEMENT_TYPE_F8E3M4 = 24,
  KILN_ELEMENT_TYPE_F8E4M3FNUZ = 25,
  KILN_ELEMENT_TYPE_F8E5M2FNUZ = 26,
  KILN_ELEMENT_TYPE_F8E4M3B11FNUZ = 27,
  KILN_ELEMENT_TYPE_F8E8M0FNU = 28
} kiln_element_type_t;

/* A dense row-major tensor in memory of the device, with a copy of `size` bytes, which must be the bytes of the shape.
 * NULL for `data` fills it with zeros. The reference belongs to the caller. */
KILN_API kiln_status_t *kiln_buffer_view_create(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                                size_t rank, const void *data, size_t size, kiln_ref_t *out_view);
/* The same without a copy where the device can use host memory and `data` is a multiple of 64. The memory stays the
 * caller's, unchanging while the program may read it, until `release` (may be NULL) has been called: also on failure.
 */
KILN_API kiln_status_t *kiln_buffer_view_wrap(kiln_device_t *device, kiln_element_type_t type, const uint64_t *shape,
                                              size_t rank, void *data, size_t size, kiln_release_fn_t release,
                                              void *release_context, kiln_ref_t *out_view);
/* Whether the reference is to a buffer view; all functions below need that, and give 0 or NULL otherwise. */
KILN_API int kiln_ref_is_buffer_view(kiln_ref_t ref);
KILN_API kiln_element_type_t kiln_buffer_view_element_type(kiln_ref_t view);
KILN_API size_t kiln_buffer_view_rank(kiln_ref_t view);
/* 0 beyond the rank. */
KILN_API uint64_t kiln_buffer_view_dimension(kiln_ref_t view, size_t index);
KILN_API size_t kiln_buffer_view_byte_size(kiln_ref_t view);
/* The elements where the host can address them in place, else NULL. Lives as long as the view. */
KILN_API const void *kiln_buffer_view_data(kiln_ref_t view);
/* Copies the elements out; `size` must be kiln_buffer_view_byte_size. Fails on a reference that is no buffer view. */
KILN_API kiln_status_t *kiln_buffer_view_read(kiln_ref_t view, void *target, size_t size);

/* Who may write when. An argument belongs to its call until that has ended (an asynchronous one: until its fence is
 * signalled): write before, and after. A result of a compiled function is the caller's to write: its memory is that of
 * no argument, constant or other result. Constants that a native function is given are read-only. Nothing
 * checks that threads keep to it.
 * An argument that the compiled function says it is given for good (`kiln.donated` in its declaration) is not the
 * caller's any more once the call has begun: its memory may be that of a result. The reference stays valid, but reading
 * or writing its elements fails, and so does another call that is given it. Its memory must be writable, and none of
 * another argument's. */

/* As kiln_buffer_view_data, to write to; NULL, too, where the memory is read-only. */
KILN_API void *kiln_buffer_view_mutable_data(kiln_ref_t view);
/* Copies elements in; `size` must be kiln_buffer_view_byte_size. Fails with PERMISSION_DENIED where the memory is
 * read-only. */
KILN_API kiln_status_t *kiln_buffer_view_write(kiln_ref_t view, const void *source, size_t size);

/* ---- DLPack: tensors of other libraries ---- */

/* As the header of DLPack 1 defines them. The unversioned one is what older libraries take. */
struct DLManagedTensorVersioned;
struct DLManagedTensor;

/* The view's memory, without a copy, as a tensor for another library. It belongs to the caller, who calls its deleter;
 * the memory lives until then. Fails where the host cannot address the memory; the unversioned one also where it is
 * read-only, which that cannot say. */
KILN_API kiln_status_t *kiln_buffer_view_to_dlpack(kiln_ref_t view, struct DLManagedTensorVersioned **out_tensor);
KILN_API kiln_status_t *kiln_buffer_view_to_dlpack_unversioned(kiln_ref_t view, struct DLManagedTensor **out_tensor);
/* A view of another library's tensor in host memory: without a copy where it is dense, row-major, starts at a multiple
 * of 64 and the device can use host memory, else of a copy. Takes the tensor over: its deleter is called once, also on
 * failure, and at once where a copy was made. A tensor that says that it is read-only gives a read-only view.
 * A `type` of 0 is the tensor's, with integers as KILN_ELEMENT_TYPE_I8 to I64 and UI8 to UI64; any other type of the
 * same size says how the bytes are to be understood. Types whose elements share bytes are refused. */
KILN_API kiln_status_t *kiln_buffer_view_from_dlpack(kiln_device_t *device, struct DLManagedTensorVersioned *tensor,
                                                     kiln_element_type_t type, kiln_ref_t *out_view);
KILN_API kiln_status_t *kiln_buffer_view_from_dlpack_unversioned(kiln_device_t *device, struct DLManagedTensor *tensor,
                                                                 kiln_element_type_t type, kiln_ref_t *out_view);

/* ---- Native modules: functions that modules import ---- */

typedef struct kiln_native_module_t kiln_native_module_t;

/* References among the arguments are borrowed for the call. The kinds of results are set and the rest is zero;
 * references among them are given away, so retain what is kept. Returns NULL, or the status that fails the program's
 * call; results are released then. Called on the thread that calls into the session, which it may do itself. */
typedef kiln_status_t *(*kiln_native_fn_t)(void *context, const kiln_value_t *arguments, size_t argument_count,
                                           kiln_value_t *results, size_t result_count);

/* A module imports "<name>.<function>". */
KILN_API kiln_status_t *kiln_native_module_create(const char *name, kiln_native_module_t **out_module);
/* The signature is argument kinds, '_', result kinds: "rI_f". Arguments may end in one repeated group: "rI*_",
 * "r(rI)*_". `context` must outlive the native module. Fails once the module was given to a session. */
KILN_API kiln_status_t *kiln_native_module_add(kiln_native_module_t *module, const char *name, const char *signature,
                                               kiln_native_fn_t function, void *context);
KILN_API void kiln_native_module_retain(kiln_native_module_t *module);
KILN_API void kiln_native_module_release(kiln_native_module_t *module);

/* ---- Parameters: tensors outside of the module ---- */

typedef struct kiln_parameters_t kiln_parameters_t;

/* Where modules find the parameters that they were compiled to be given. Each is brought to a device once, for all
 * programs and sessions that share this. With `preload` not 0 all are copied; otherwise a device that addresses the
 * host's memory reads them from the mapped files, which may be larger than the memory. */
KILN_API kiln_status_t *kiln_parameters_create(int preload, kiln_parameters_t **out_parameters);
/* A file .irpa, .safetensors or .gguf, whose parameters are of this scope; NULL and "" are the one without a name.
 * Several files may be of one scope. */
KILN_API kiln_status_t *kiln_parameters_add_file(kiln_parameters_t *parameters, const char *scope, const char *path);
KILN_API void kiln_parameters_retain(kiln_parameters_t *parameters);
KILN_API void kiln_parameters_release(kiln_parameters_t *parameters);

/* ---- Sessions: programs that run ---- */

typedef struct kiln_program_t kiln_program_t;
typedef struct kiln_session_t kiln_session_t;
typedef struct kiln_function_t kiln_function_t;
/* When calls are to end before they are done. For any number of calls, also at the same time. */
typedef struct kiln_call_limit_t kiln_call_limit_t;

typedef struct kiln_session_options_t {
  size_t struct_size; /* sizeof(kiln_session_options_t) */
  /* In order: each may import what those before it export; the last is the one whose functions are called. */
  kiln_module_t *const *modules;
  size_t module_count;
  /* The devices that compiled programs run on, in order. */
  kiln_device_t *const *devices;
  size_t device_count;
  kiln_native_module_t *const *native_modules;
  size_t native_module_count;
  uint32_t max_call_depth; /* active functions; 0: 1024 */
  size_t stack_bytes;      /* of their registers; 0: 1 MiB */
  /* Made before of modules, devices and native modules, which are then left out here. NULL: of those above. */
  kiln_program_t *program;
  kiln_call_limit_t *limit;      /* of the initializers, as of kiln_session_call_within; NULL: none */
  kiln_parameters_t *parameters; /* of the modules; NULL: none. Left out beside `program`, which has its own */
} kiln_session_options_t;

/* Instantiates the modules and runs their initializers, once for all sessions that are made of the program. These share
 * its executables, constants and recordings, also at the same time on many threads; variables are each session's own,
 * and start as the initializers left them. Native modules are shared, too. */
KILN_API kiln_status_t *kiln_program_create(const kiln_session_options_t *options, kiln_program_t **out_program);
KILN_API void kiln_program_retain(kiln_program_t *program);
/* Its sessions stay. */
KILN_API void kiln_program_release(kiln_program_t *program);

/* Instantiates the modules and runs their initializers. The session retains what it was given. */
KILN_API kiln_status_t *kiln_session_create(const kiln_session_options_t *options, kiln_session_t **out_session);
/* Its functions are released with it. Results may outlive it; a call that another thread is in ends as it would, and
 * asynchronous calls that were submitted run. */
KILN_API void kiln_session_release(kiln_session_t *session);

/* An exported function of the last module, or "<module>.<function>" of any. Borrowed from the session. */
KILN_API kiln_status_t *kiln_session_lookup(kiln_session_t *session, const char *name,
                                            const kiln_function_t **out_function);
/* The exported functions of the last module. NULL beyond the count. */
KILN_API size_t kiln_session_function_count(const kiln_session_t *session);
KILN_API const kiln_function_t *kiln_session_function(const kiln_session_t *session, size_t index);

KILN_API const char *kiln_function_name(const kiln_function_t *function);
KILN_API size_t kiln_function_argument_count(const kiln_function_t *function);
KILN_API size_t kiln_function_result_count(const kiln_function_t *function);
/* 0 beyond the count. Tensors are references. */
KILN_API kiln_kind_t kiln_function_argument_kind(const kiln_function_t *function, size_t index);
KILN_API kiln_kind_t kiln_function_result_kind(const kiln_function_t *function, size_t index);
/* Reflection: "kiln.abi.declaration" is the function as its author wrote it. NULL where there is no such attribute. */
KILN_API const char *kiln_function_attribute(const kiln_function_t *function, const char *key);
KILN_API size_t kiln_function_attribute_count(const kiln_function_t *function);
/* Writes NULL beyond the count. */
KILN_API void kiln_function_attribute_at(const kiln_function_t *function, size_t index, const char **out_key,
                                         const char **out_value);

/* Calls the function and waits for it. Counts must be those of the function. Results are overwritten, not released
 * before; references among them belong to the caller. On failure all results are null references, where their count is
 * that of the function, and the message ends in a backtrace of the program's functions. */
KILN_API kiln_status_t *kiln_session_call(kiln_session_t *session, const kiln_function_t *function,
                                          const kiln_value_t *arguments, size_t argument_count, kiln_value_t *results,
                                          size_t result_count);

/* There is no deadline. */
#define KILN_NO_TIMEOUT UINT64_MAX

/* The timeout counts from here on. */
KILN_API kiln_status_t *kiln_call_limit_create(uint64_t timeout_nanoseconds, kiln_call_limit_t **out_limit);
/* Its calls end as soon as they can, and those that come later at once. */
KILN_API void kiln_call_limit_cancel(kiln_call_limit_t *limit);
KILN_API void kiln_call_limit_release(kiln_call_limit_t *limit);

/* As kiln_session_call, but the call ends with CANCELLED or DEADLINE_EXCEEDED where its limit says so: the program at a
 * branch, work of a device before its next workgroup. Functions that the program imports are awaited. A workgroup that
 * does not end within a second more loses its device: what is asked of that fails from then on, and memory that it was
 * given may be in use for ever. Work that runs on the calling thread ("local-sync") is awaited. */
KILN_API kiln_status_t *kiln_session_call_within(kiln_call_limit_t *limit, kiln_session_t *session,
                                                 const kiln_function_t *function, const kiln_value_t *arguments,
                                                 size_t argument_count, kiln_value_t *results, size_t result_count);

/* ---- Asynchronous calls ---- */

/* Stands for a call; signalled when that has succeeded or failed. */
typedef struct kiln_fence_t kiln_fence_t;

typedef struct kiln_submit_options_t {
  size_t struct_size; /* sizeof(kiln_submit_options_t) */
  /* The call starts when all of these are signalled, and fails where one of them did. */
  kiln_fence_t *const *fences;
  size_t fence_count;
  kiln_call_limit_t *limit; /* as of kiln_session_call_within, for the wait, too; NULL: none */
} kiln_submit_options_t;

/* As kiln_session_call, but returns at once. Calls of a session run in the order in which they were submitted, on a
 * thread of the session's own, which the first one starts, and on which native functions are called. Arguments are
 * retained; what the call fails with, where it is not wrong arguments, arrives at the fence. Until all have ended,
 * kiln_session_call fails. `options` may be NULL. */
KILN_API kiln_status_t *kiln_session_submit(kiln_session_t *session, const kiln_function_t *function,
                                            const kiln_value_t *arguments, size_t argument_count,
                                            const kiln_submit_options_t *options, kiln_fence_t **out_fence);
/* 1 once it is signalled, else 0. */
KILN_API int kiln_fence_query(const kiln_fence_t *fence);
/* NULL where the call has succeeded, what it failed with where it has failed; DEADLINE_EXCEEDED where it has not ended
 * after so long, which kiln_fence_query tells from a call that exceeded its own. A wait in
 * a native function ends with that function's call, too, where it has a limit; it fails at once for a call of the
 * session that called the native function, and lasts for ever where the other call waits for this one. */
KILN_API kiln_status_t *kiln_fence_wait(kiln_fence_t *fence, uint64_t timeout_nanoseconds);
/* The results of a call that has succeeded; references among them belong to the caller, each time anew. */
KILN_API kiln_status_t *kiln_fence_results(kiln_fence_t *fence, kiln_value_t *results, size_t result_count);
KILN_API void kiln_fence_retain(kiln_fence_t *fence);
/* The call runs nevertheless. */
KILN_API void kiln_fence_release(kiln_fence_t *fence);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_CAPI_KILN_H */
