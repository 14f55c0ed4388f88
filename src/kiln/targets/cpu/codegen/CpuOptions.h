// What a user can choose for the llvm-cpu backend. The flags are declared in CpuBackend.cpp.
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H
#define KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H

#include <string>

namespace kiln {

struct CpuOptions {
  std::string targetTriple;         // empty: this machine's architecture, on Linux
  std::string targetCpu = "host";   // host, generic, or a name that LLVM knows
  std::string targetFeatures;       // "+avx512f,-fma": changes what the CPU has
  std::string transformDialectSpec; // path of a transform-dialect file that replaces the strategies; empty: none
  bool reassociate = true;          // floats may be summed in parts, which are vectors and other workers' work
  bool debugInfo = false;           // line tables that point into the MLIR source
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_CPUOPTIONS_H
