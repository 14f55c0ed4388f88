// The passes of the llvm-cpu backend, and how its pipelines are put together. Passes are declared in CpuPasses.td.
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUPASSES_H
#define KILN_TARGETS_CPU_CODEGEN_CPUPASSES_H

#include <memory>

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

struct CpuOptions;
struct TuningOptions;

#define GEN_PASS_DECL
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

// From what lower-executable-target leaves to the LLVM dialect, on a variant.
void addCpuTranslationPasses(mlir::OpPassManager &variantPasses);
// The dialects that those passes work on, and the translations to LLVM IR that serializing needs.
void registerCpuTranslationDialects(mlir::DialectRegistry &registry);

// Defined in strategy/. Choosing a strategy and a configuration; and kiln-llvmcpu-lower-executable-target, which
// applies them or the options' transform-dialect spec.
void addCpuConfigurationPasses(mlir::OpPassManager &variantPasses, const TuningOptions &tuning);
void addCpuLoweringPasses(mlir::OpPassManager &variantPasses, const CpuOptions &options);
// Makes the dialects and interfaces that those passes need known.
void registerCpuStrategyDialects(mlir::DialectRegistry &registry);

// Registers every pass under its name; those that have options get them from what is given, which must outlive every
// use.
void registerCpuTranslationPasses();
void registerCpuStrategyPasses(const CpuOptions &options, const TuningOptions &tuning);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_CPUPASSES_H
