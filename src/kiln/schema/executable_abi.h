// The C ABI between the CPU driver and the native code of a module.
//
// The compiler emits one ELF shared object for all CPU executables of a module. It exports `kiln_executable_query`, at
// times `kiln_executable_messages`, and one named local symbol for each dispatch, so that perf and gdb show dispatch
// names. Modules outlive runtimes: fields are only ever added at the end of a struct, with a note of the version that
// brought them, and a runtime runs objects of all versions up to its own. Whoever makes a struct writes its size into
// it, so that who reads it knows which fields there are.
#ifndef KILN_SCHEMA_EXECUTABLE_ABI_H
#define KILN_SCHEMA_EXECUTABLE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_EXECUTABLE_ABI_VERSION 2
#define KILN_EXECUTABLE_QUERY_SYMBOL "kiln_executable_query"
// A constant array of kiln_dispatch_messages_t by export ordinal, which an object may lack.
#define KILN_EXECUTABLE_MESSAGES_SYMBOL "kiln_executable_messages"
// Every binding that a dispatch sees starts at a multiple of this.
#define KILN_BINDING_ALIGNMENT 64

// The same for all workgroups of one dispatch; the callee only reads it.
typedef struct kiln_dispatch_state_t {
  void *const *bindings;           // offset 0: base address of each binding, its offset applied
  const uint64_t *binding_lengths; // offset 8: bytes valid at each binding
  const uint64_t *constants;       // offset 16: push constants, an index or an integer each, zero-extended
  uint32_t workgroup_count[3];     // offset 24: x, y, z
  uint32_t size;                   // offset 36: of this struct; 0 where the runtime has version 1
} kiln_dispatch_state_t;

// Of the one workgroup that runs.
typedef struct kiln_workgroup_state_t {
  uint32_t workgroup_id[3]; // offset 0: x, y, z
  uint32_t worker;          // offset 12: index of the worker that runs it, below the device's worker count
  void *local_memory;       // offset 16: `local_memory_bytes` of scratch, aligned to KILN_BINDING_ALIGNMENT
  // Version 2.
  uint32_t size;     // offset 24: of this struct
  uint32_t reserved; // offset 28: zero
  void *markers;     // offset 32: for what the dispatch records of itself while it runs; null where nobody asks for it
} kiln_workgroup_state_t;

// Runs one workgroup. Returns 0; anything else fails the submission, with the message that the object has for that
// number, or with the number.
typedef int32_t (*kiln_dispatch_fn_t)(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup);

typedef struct kiln_dispatch_info_t {
  const char *name; // the descriptive name, as in the IR's export
  kiln_dispatch_fn_t function;
  uint32_t binding_count;
  uint32_t constant_count;
  uint32_t local_memory_bytes;
  uint32_t flags; // none is defined: zero
} kiln_dispatch_info_t;

typedef struct kiln_executable_library_t {
  uint32_t abi_version; // KILN_EXECUTABLE_ABI_VERSION of the compiler
  uint32_t export_count;
  const kiln_dispatch_info_t *exports; // by export ordinal
  // Version 2.
  uint32_t size;      // of this struct
  uint32_t info_size; // of each entry of `exports`; with version 1 an entry ends with `flags`
} kiln_executable_library_t;

// What the codes that a dispatch returns mean: code n is messages[n - 1], for n from 1 to count.
typedef struct kiln_dispatch_messages_t {
  const char *const *messages;
  uint32_t count;
  uint32_t reserved;
} kiln_dispatch_messages_t;

// Returns the library, or null where the library needs a newer runtime than `max_abi_version`.
typedef const kiln_executable_library_t *(*kiln_executable_query_fn_t)(uint32_t max_abi_version);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // KILN_SCHEMA_EXECUTABLE_ABI_H
