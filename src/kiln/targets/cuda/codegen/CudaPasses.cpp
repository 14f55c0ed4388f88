#include "kiln/targets/cuda/codegen/CudaPasses.h"

#include "kiln/compiler/Codegen/CodegenPasses.h"
#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/targets/cuda/codegen/CudaTransformOps.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

static PlaceAllocationsOptions allAllocationsInLocalMemory() {
  PlaceAllocationsOptions options;
  options.stackLimit = 0; // A thread's stack is its own, and what is allocated is the block's.
  options.localMemoryLimit = int64_t(1) << 30;
  return options;
}

void addCudaTranslationPasses(OpPassManager &variantPasses) {
  OpPassManager &modulePasses = variantPasses.nest<ModuleOp>();
  OpPassManager &functionPasses = modulePasses.nest<func::FuncOp>();
  functionPasses.addPass(createPlaceAllocations(allAllocationsInLocalMemory()));
  functionPasses.addPass(createCSEPass());
  functionPasses.addPass(createCudaExpandMath());
  functionPasses.addPass(memref::createExpandStridedMetadataPass());
  functionPasses.addPass(createLowerAffinePass());
  functionPasses.addPass(createSCFToControlFlowPass());
  functionPasses.addPass(createCanonicalizerPass());
  functionPasses.addPass(createCSEPass());
  modulePasses.addPass(createCudaConvertToLLVM());
  modulePasses.addPass(createConvertNVVMToLLVMPass()); // Instructions that LLVM has no intrinsic of.
}

void registerCudaDialects(DialectRegistry &registry) {
  registerCodegenDialects(registry);
  registerCudaTransformExtension(registry);
  registry.insert<index::IndexDialect, LLVM::LLVMDialect, nvgpu::NVGPUDialect, NVVM::NVVMDialect, ub::UBDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

CudaSelectLoweringOptions cudaSelectionOptions(const TuningOptions &tuning) {
  CudaSelectLoweringOptions options;
  options.tuningDatabase = tuning.database;
  options.tuningKeys = tuning.keys;
  return options;
}

void registerCudaPasses(const TuningOptions &tuning) {
  registerPass([&tuning] { return createCudaSelectLowering(cudaSelectionOptions(tuning)); });
  registerPass([] { return createCudaLowerExecutableTarget(); });
  registerPass([] { return createCudaEmitContractions(); });
  registerPass([] { return createCudaMapToThreads(); });
  registerPass([] { return createCudaLowerVectors(); });
  registerPass([] { return createCudaExpandMath(); });
  registerPass([] { return createCudaConvertToLLVM(); });
}

} // namespace kiln
