// The cuda backend: kernels as PTX, which NVIDIA's driver compiles for the GPU when they are loaded.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDABACKEND_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDABACKEND_H

#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/targets/cuda/codegen/CudaOptions.h"

namespace kiln {

class CudaBackend final : public TargetBackend {
public:
  llvm::StringRef name() const override { return "cuda"; }
  llvm::StringRef description() const override { return "NVIDIA GPUs, through LLVM and PTX"; }
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
  CudaOptions options;
};

void registerCudaBackend(TargetBackendRegistry &registry);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDABACKEND_H
