// The native code of abs_program.h, as a compiler would emit it.
#include <math.h>

#include "kiln/schema/executable_abi.h"

// out[i] = |in[i]| for `constants[0]` floats.
static int32_t abs_dispatch(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  const float *in = dispatch->bindings[0];
  float *out = dispatch->bindings[1];
  (void)workgroup;
  for (uint64_t i = 0; i < dispatch->constants[0]; ++i)
    out[i] = fabsf(in[i]);
  return 0;
}

static int32_t failing_dispatch(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  (void)dispatch;
  (void)workgroup;
  return 42;
}

// Runs for as long as in[0] is negative.
static int32_t waiting_dispatch(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  const volatile float *in = dispatch->bindings[0];
  (void)workgroup;
  while (*in < 0) {
  }
  return 0;
}

// Some 100 us in each workgroup.
static int32_t slow_dispatch(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  (void)dispatch;
  (void)workgroup;
  for (volatile int i = 0; i < 100000; ++i) {
  }
  return 0;
}

static const kiln_dispatch_info_t exports[] = {
    {"abs_dispatch_0_elementwise_f32", abs_dispatch, 2, 1, 0, 0},
    {"abs_dispatch_1_failing", failing_dispatch, 2, 1, 0, 0},
    {"abs_dispatch_2_waiting", waiting_dispatch, 2, 1, 0, 0},
    {"abs_dispatch_3_slow", slow_dispatch, 2, 1, 0, 0},
};
static const kiln_executable_library_t library = {KILN_EXECUTABLE_ABI_VERSION, 4, exports, sizeof(library),
                                                  sizeof(exports[0])};

__attribute__((visibility("default"))) const kiln_executable_library_t *
kiln_executable_query(uint32_t max_abi_version) {
  return max_abi_version >= KILN_EXECUTABLE_ABI_VERSION ? &library : 0;
}
