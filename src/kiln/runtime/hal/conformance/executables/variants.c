// Executables that a driver must refuse, and one that needs the C library's mathematics; the build picks by definition.
#include "kiln/schema/executable_abi.h"

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

#if defined(KILN_TEST_MATH)
float expf(float);
typedef float v4 __attribute__((vector_size(16)));
#if defined(__x86_64__)
v4 _ZGVbN4v_expf(v4);
#endif
// bindings: f32 [4]: its exponentials
static int32_t run(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  float *values = dispatch->bindings[0];
#if defined(__x86_64__)
  v4 result = _ZGVbN4v_expf((v4){values[0], values[1], values[2], values[3]});
  for (int i = 0; i < 3; ++i)
    values[i] = result[i];
  values[3] = expf(values[3]);
#else
  for (int i = 0; i < 4; ++i)
    values[i] = expf(values[i]);
#endif
  return 0;
}
#elif defined(KILN_TEST_UNDEFINED)
int32_t kilnNobodyDefinesThis(void);
static int32_t run(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  return kilnNobodyDefinesThis();
}
#elif !defined(KILN_TEST_NO_FUNCTION)
static int32_t run(const kiln_dispatch_state_t *dispatch, const kiln_workgroup_state_t *workgroup) {
  return 0;
}
#endif

#if defined(KILN_TEST_VERSION)
#define VERSION KILN_TEST_VERSION
#else
#define VERSION KILN_EXECUTABLE_ABI_VERSION
#endif

#if defined(KILN_TEST_NO_FUNCTION)
#define RUN NULL
#else
#define RUN run
#endif

#if defined(KILN_TEST_WIDE_ENTRIES)
// As a later compiler may write them.
static const struct {
  kiln_dispatch_info_t known;
  uint64_t later[2];
} kWideExports[] = {{{"run", RUN, 1, 0, 0, 0}, {~0ull, ~0ull}}, {{"again", RUN, 1, 0, 0, 0}, {~0ull, ~0ull}}};
const kiln_executable_library_t kilnTestLibrary = {VERSION, 2, &kWideExports[0].known, sizeof(kilnTestLibrary),
                                                   sizeof(kWideExports[0])};
#else
static const kiln_dispatch_info_t kExports[] = {{"run", RUN, 1, 0, 0, 0}, {"again", RUN, 1, 0, 0, 0}};
#if defined(KILN_TEST_VERSION_1)
// It ended here with version 1, and what follows in memory is something else.
static const struct {
  uint32_t abi_version, export_count;
  const kiln_dispatch_info_t *exports;
  uint32_t others[2];
} kilnTestLibrary = {1, 2, kExports, {1, 1}};
#elif defined(KILN_TEST_SHORT_ENTRIES)
const kiln_executable_library_t kilnTestLibrary = {VERSION, 2, kExports, sizeof(kilnTestLibrary), 8};
#else
const kiln_executable_library_t kilnTestLibrary = {VERSION, 1, kExports, sizeof(kilnTestLibrary), sizeof(kExports[0])};
#endif
#endif

#if defined(KILN_TEST_NO_QUERY)
#define QUERY kilnTestOtherFunction
#else
#define QUERY kiln_executable_query
#endif

EXPORT const kiln_executable_library_t *QUERY(uint32_t max_abi_version) {
#if defined(KILN_TEST_NEWER)
  return NULL;
#else
  return (const kiln_executable_library_t *)&kilnTestLibrary;
#endif
}
