// Tells the processor that this thread spins.
#ifndef KILN_RUNTIME_TASK_SPIN_H
#define KILN_RUNTIME_TASK_SPIN_H

namespace kiln::task {

inline void cpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

} // namespace kiln::task

#endif // KILN_RUNTIME_TASK_SPIN_H
