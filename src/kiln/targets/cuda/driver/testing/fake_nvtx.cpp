// A library that takes the place of a profiler's in tests: it prints ranges to standard error as they begin and end.
// PUSHES_ONLY: it wants to hear of no ends; FAILS: it cannot begin.
#include <cstddef>
#include <cstdint>
#include <cstdio>

using Function = void (*)();
struct Callbacks {
  size_t size;
  int (*functionsOf)(int module, Function ***table, unsigned *size);
};

static thread_local int depth = 0;

static int push(const char *name) {
  std::fprintf(stderr, "range %d begins: %s\n", depth, name);
  return depth++;
}
[[maybe_unused]] static int pop() {
  std::fprintf(stderr, "range %d ends\n", --depth);
  return depth;
}

extern "C" int InitializeInjectionNvtx2(const void *(*tableOf)(uint32_t)) {
#ifdef FAILS
  return 0;
#endif
  auto callbacks = static_cast<const Callbacks *>(tableOf(1));
  Function **table = nullptr;
  unsigned size = 0;
  if (tableOf(99) || !callbacks || callbacks->size != sizeof(Callbacks) || callbacks->functionsOf(0, &table, &size) ||
      callbacks->functionsOf(7, &table, &size))
    return 0;
  // A profiler that names no module's functions takes the place of all.
  for (int module = 1; module < 7; ++module) {
    if (!callbacks->functionsOf(module, &table, &size) || table[0])
      return 0;
    for (unsigned i = 1; i < size; ++i)
      *table[i] = nullptr;
  }
  if (!callbacks->functionsOf(1, &table, &size) || size != 16)
    return 0;
  *table[9] = reinterpret_cast<Function>(push);
#ifndef PUSHES_ONLY
  *table[11] = reinterpret_cast<Function>(pop);
#endif
  return 1;
}
