// A library that takes the place of NVTX in tests: it prints ranges to standard error as they begin and end.
#include <cstdio>

static thread_local int depth = 0;

extern "C" {

int nvtxRangePushA(const char *name) {
  std::fprintf(stderr, "range %d begins: %s\n", depth, name);
  return depth++;
}

int nvtxRangePop() {
  std::fprintf(stderr, "range %d ends\n", --depth);
  return depth;
}
}
