// The CPU that code is generated for: resolved from the options, kept in the IR as #hal.executable.target<"llvm-cpu",
// ..>.
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUTARGET_H
#define KILN_TARGETS_CPU_CODEGEN_CPUTARGET_H

#include <cstdint>
#include <string>

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

namespace kiln {

struct CpuOptions;

struct CpuTarget {
  std::string triple; // normalized: x86_64-unknown-linux-gnu
  // The CPU whose scheduling LLVM assumes. It permits no instruction: `features` does.
  std::string cpu;
  // "+avx2,+fma": beyond the architecture's baseline, every feature that code may use, and so what the runtime has to
  // check. Sorted, LLVM's names. Features that no compiled kernel would use (of the system, of cryptography) are left
  // out.
  std::string features;
  std::string dataLayout;
  int64_t nativeVectorBits = 128; // length of a vector register
  bool reassociates = true;       // sums of floats

  // Whether `features` has this one; the name is given without the plus.
  bool has(llvm::StringRef feature) const;

  // What LLVM's target machine takes as its CPU: the architecture's baseline, so that `features` says it all.
  llvm::StringRef baselineCpu() const;
  // As in the executable format: elf-x86_64.
  std::string format() const;
  // What tuning databases know it by, which is all that code generation knows of it: "llvm-cpu x86_64 znver4
  // +avx,+avx2".
  std::string tuningName() const;

  HAL::ExecutableTargetAttr toAttr(mlir::MLIRContext *context) const;

  // Resolves host, generic and names of CPUs; an unknown name is an error at `loc` that lists those that look like it.
  static mlir::FailureOr<CpuTarget> resolve(const CpuOptions &options, mlir::Location loc);
  static CpuTarget fromAttr(HAL::ExecutableTargetAttr attr);
  // The target of the variant that holds `op`; outside of a variant, x86-64 without any feature.
  static CpuTarget of(mlir::Operation *op);
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_CPUTARGET_H
