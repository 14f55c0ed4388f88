// The strategy's part in CpuPasses.h: pipelines, dialects, registration.
#include "kiln/compiler/TransformOps/KilnTransformOps.h"
#include "kiln/targets/cpu/codegen/CpuOptions.h"
#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/strategy/StrategyPasses.h"

#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/SubsetOpInterfaceImpl.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace kiln {

static SelectLoweringOptions selectionOptions(const CpuOptions &options) {
  SelectLoweringOptions selection;
  selection.tuningDatabase = options.tuningDatabase;
  selection.tuningThreads = options.tuningThreads;
  selection.tuningKeys = options.tuningKeys;
  return selection;
}

void addCpuConfigurationPasses(OpPassManager &variantPasses, const CpuOptions &options) {
  variantPasses.addPass(createSelectLowering(selectionOptions(options)));
}

static LowerExecutableTargetOptions loweringOptions(const CpuOptions &options) {
  LowerExecutableTargetOptions lowering;
  lowering.spec = options.transformDialectSpec;
  return lowering;
}

void addCpuLoweringPasses(OpPassManager &variantPasses, const CpuOptions &options) {
  variantPasses.addPass(createLowerExecutableTarget(loweringOptions(options)));
}

void registerCpuStrategyDialects(DialectRegistry &registry) {
  registry
      .insert<affine::AffineDialect, arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect,
              func::FuncDialect, gpu::GPUDialect, HAL::HALDialect, linalg::LinalgDialect, math::MathDialect,
              memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
  registerTransformExtension(registry);
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerSubsetOpInterfaceExternalModels(registry);
  vector::registerValueBoundsOpInterfaceExternalModels(registry);
}

void registerCpuStrategyPasses(const CpuOptions &options) {
  registerPass([&options] { return createSelectLowering(selectionOptions(options)); });
  registerPass([&options] { return createLowerExecutableTarget(loweringOptions(options)); });
  registerPass([] { return createPrepareDispatch(); });
  registerPass([] { return createDistributeDispatch(); });
  registerPass([] { return createEmitKernels(); });
}

} // namespace kiln
