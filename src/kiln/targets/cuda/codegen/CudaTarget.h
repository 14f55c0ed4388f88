// What GPU code is generated for. It is resolved once from the options and then travels as the target attribute.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDATARGET_H
#define KILN_TARGETS_CUDA_CODEGEN_CUDATARGET_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

namespace kiln {

struct CudaOptions;

struct CudaTarget {
  std::string architecture; // sm_80; sm_90a for what runs on that architecture alone
  // For devices that cannot run the target that the user asked for, whose configurations need not fit this one.
  bool isFallback = false;

  static constexpr llvm::StringLiteral triple = "nvptx64-nvidia-cuda";
  // Bytes of shared memory that every architecture gives a block without being asked.
  static constexpr int64_t sharedBytes = 48 * 1024;

  int generation() const; // 80 of sm_80, 90 of sm_90a
  // Bytes of shared memory that a block may ask for.
  int64_t sharedLimit() const;
  // Of the product that is most common with this architecture.
  int64_t multiprocessors() const;

  // What tuning databases know it by: "cuda sm_90a".
  std::string tuningName() const { return "cuda " + architecture; }

  bool runsElsewhere() const { return !llvm::StringRef(architecture).ends_with("a"); }

  // The target that the options name, and its fallback where it has one. An error at `loc` says what is wrong with the
  // options.
  static mlir::FailureOr<llvm::SmallVector<CudaTarget, 2>> resolve(const CudaOptions &options, mlir::Location loc);
  // Of the variant that the op is in; outside of one the default.
  static CudaTarget of(mlir::Operation *op);

  HAL::ExecutableTargetAttr toAttr(mlir::MLIRContext *context) const;
  static std::string dataLayout();
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDATARGET_H
