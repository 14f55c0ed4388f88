#include "kiln/measure/vector_width.h"

namespace kiln::measure {

int64_t hostVectorBits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return 512;
  if (__builtin_cpu_supports("avx2"))
    return 256;
#endif
  return 128;
}

} // namespace kiln::measure
