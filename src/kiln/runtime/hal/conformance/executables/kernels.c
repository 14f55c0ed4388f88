// Dispatches that the conformance suite runs, against the same interface that the compiler emits.
#include "kiln/schema/executable_abi.h"

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

static uint64_t linearId(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  const uint32_t *id = workgroup->workgroup_id, *count = dispatch->workgroup_count;
  return id[0] + (uint64_t)count[0] * (id[1] + (uint64_t)count[1] * id[2]);
}

static uint64_t now(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  static uint64_t ticks;
  return __atomic_add_fetch(&ticks, 100, __ATOMIC_RELAXED);
#endif
}

// bindings: i32 source, i32 target; constants: elements, factor, offset. Workgroups share the elements.
static int32_t scaleAdd(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  const int32_t *source = dispatch->bindings[0];
  int32_t *target = dispatch->bindings[1];
  for (uint64_t i = workgroup->workgroup_id[0]; i < dispatch->constants[0]; i += dispatch->workgroup_count[0])
    target[i] = source[i] * (int32_t)dispatch->constants[1] + (int32_t)dispatch->constants[2];
  return 0;
}

// bindings: u32 per workgroup, counted up.
static int32_t countIds(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  const uint32_t *id = workgroup->workgroup_id, *count = dispatch->workgroup_count;
  if (id[0] >= count[0] || id[1] >= count[1] || id[2] >= count[2])
    return 1;
  uint32_t *counts = dispatch->bindings[0];
  __atomic_add_fetch(&counts[linearId(dispatch, workgroup)], 1, __ATOMIC_RELAXED);
  return 0;
}

// bindings: u64 flags; constants: flag to raise, flag to wait for, most ticks to wait. Fails where it waits in vain.
static int32_t rendezvous(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  uint64_t *flags = dispatch->bindings[0];
  __atomic_store_n(&flags[dispatch->constants[0]], 1, __ATOMIC_SEQ_CST);
  uint64_t start = now();
  while (!__atomic_load_n(&flags[dispatch->constants[1]], __ATOMIC_SEQ_CST))
    if (now() - start > dispatch->constants[2])
      return 2;
  return 0;
}

// constants: what to return, and in which workgroup.
static int32_t failInOne(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  return linearId(dispatch, workgroup) == dispatch->constants[1] ? (int32_t)dispatch->constants[0] : 0;
}

// bindings: u64 result per workgroup: the sum of what it has put into its local memory.
#define LOCAL_BYTES 8192
static int32_t useLocalMemory(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  if ((uintptr_t)workgroup->local_memory % KILN_BINDING_ALIGNMENT != 0)
    return 3;
  volatile uint64_t *local = workgroup->local_memory;
  uint64_t id = linearId(dispatch, workgroup);
  for (uint64_t i = 0; i < LOCAL_BYTES / 8; ++i)
    local[i] = id + i;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < LOCAL_BYTES / 8; ++i)
    sum += local[i];
  ((uint64_t *)dispatch->bindings[0])[id] = sum;
  return 0;
}

// bindings: u64 [lengths of bindings 0 and 1, addresses modulo the alignment], anything
static int32_t describeBindings(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  uint64_t *result = dispatch->bindings[0];
  for (int i = 0; i < 2; ++i) {
    result[i] = dispatch->binding_lengths[i];
    result[2 + i] = (uintptr_t)dispatch->bindings[i] % KILN_BINDING_ALIGNMENT;
  }
  return 0;
}

// bindings: u32 worker of each workgroup
static int32_t noteWorker(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  ((uint32_t *)dispatch->bindings[0])[linearId(dispatch, workgroup)] = workgroup->worker;
  return 0;
}

static int32_t nothing(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  return 0;
}

// constants: ticks that each workgroup takes
static int32_t busy(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  uint64_t start = now();
  while (now() - start < dispatch->constants[0]) {
  }
  return 0;
}

static const kiln_dispatch_info_t kExports[] = {
    {"scale_add", scaleAdd, 2, 3, 0, 0},
    {"count_ids", countIds, 1, 0, 0, 0},
    {"rendezvous", rendezvous, 1, 3, 0, 0},
    {"fail_in_one", failInOne, 0, 2, 0, 0},
    {"use_local_memory", useLocalMemory, 1, 0, LOCAL_BYTES, 0},
    {"describe_bindings", describeBindings, 2, 0, 0, 0},
    {"note_worker", noteWorker, 1, 0, 0, 0},
    {"nothing", nothing, 0, 0, 0, 0},
    {"busy", busy, 0, 1, 0, 0},
};

// Of fail_in_one's codes, the first two have a message.
static const char *const kReasons[] = {"the first reason", "the second reason"};
#define NONE {NULL, 0, 0}
EXPORT const kiln_dispatch_messages_t kiln_executable_messages[] = {NONE, NONE, NONE, {kReasons, 2, 0}, NONE, NONE,
                                                                    NONE, NONE, NONE};

static const kiln_executable_library_t kLibrary = {KILN_EXECUTABLE_ABI_VERSION, sizeof(kExports) / sizeof(kExports[0]),
                                                   kExports, sizeof(kLibrary), sizeof(kExports[0])};

EXPORT const kiln_executable_library_t *kiln_executable_query(uint32_t max_abi_version) {
  return max_abi_version >= KILN_EXECUTABLE_ABI_VERSION ? &kLibrary : NULL;
}
