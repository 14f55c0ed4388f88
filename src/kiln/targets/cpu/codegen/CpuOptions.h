// What a user can choose for the llvm-cpu backend. The flags are declared in CpuBackend.cpp.
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H

#include <cstdint>
#include <string>

namespace kiln {

struct CpuOptions {
  std::string targetTriple;         // empty: this machine's architecture, on Linux
  std::string targetCpu = "host";   // host, generic, or a name that LLVM knows
  std::string targetFeatures;       // "+avx512f,-fma": changes what the CPU has
  std::string transformDialectSpec; // path of a transform-dialect file that replaces the strategies; empty: none
  std::string tuningDatabase;       // path of a tuning database; empty: none
  int64_t tuningThreads = 0;        // takes what was measured with so many threads; 0: with the most
  std::string tuningKeys;           // folder for what tuning databases know dispatches by; empty: not written
  bool debugInfo = false;           // line tables that point into the MLIR source
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H
