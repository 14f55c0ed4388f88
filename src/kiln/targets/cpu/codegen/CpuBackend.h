// The llvm-cpu backend: kernels as ELF shared objects, compiled by LLVM and linked by LLD in this process.
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUBACKEND_H
#define KILN_TARGETS_CPU_CODEGEN_CPUBACKEND_H

#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/targets/cpu/codegen/CpuOptions.h"

namespace kiln {

class CpuBackend : public TargetBackend {
public:
  CpuBackend() = default;
  explicit CpuBackend(CpuOptions options) : options(std::move(options)) {}

  llvm::StringRef name() const override { return "llvm-cpu"; }
  llvm::StringRef description() const override;
  llvm::ArrayRef<llvm::StringRef> devices() const override;
  void bindOptions(OptionBinder &binder) override;
  void registerDialects(mlir::DialectRegistry &registry) const override;
  void registerPasses() const override;
  mlir::FailureOr<llvm::SmallVector<HAL::ExecutableTargetAttr>> getTargets(mlir::MLIRContext *context,
                                                                           mlir::Location loc) const override;
  mlir::LogicalResult checkFiles(mlir::MLIRContext *context) const override;
  void buildConfigurationPipeline(mlir::OpPassManager &variantPasses) const override;
  void buildLoweringPipeline(mlir::OpPassManager &variantPasses) const override;
  void buildTranslationPipeline(mlir::OpPassManager &variantPasses) const override;
  bool linksExecutables() const override { return true; }
  DispatchLimits dispatchLimits(mlir::Location loc) const override;
  mlir::LogicalResult serialize(HAL::ExecutableVariantOp variant, const SerializationOptions &options,
                                llvm::SmallVectorImpl<char> &bytes) const override;

private:
  CpuOptions options;
};

void registerCpuBackend(TargetBackendRegistry &registry);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_CPUBACKEND_H
