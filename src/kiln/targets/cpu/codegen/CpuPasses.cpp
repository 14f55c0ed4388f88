#include "kiln/targets/cpu/codegen/CpuPasses.h"

#include "kiln/compiler/Codegen/CodegenPasses.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

void addCpuTranslationPasses(OpPassManager &variantPasses) {
  OpPassManager &modulePasses = variantPasses.nest<ModuleOp>();
  OpPassManager &functionPasses = modulePasses.nest<func::FuncOp>();
  functionPasses.addPass(createPlaceAllocations());
  functionPasses.addPass(createLowerCopies());
  // What no strategy vectorized, as the first spec of the documents leaves it.
  functionPasses.addPass(createConvertLinalgToLoopsPass());
  functionPasses.addPass(createSplitVectors());
  functionPasses.addPass(createCSEPass());
  functionPasses.addPass(createExpandMath());
  functionPasses.addPass(memref::createExpandStridedMetadataPass());
  functionPasses.addPass(createLowerAffinePass());
  functionPasses.addPass(createSCFToControlFlowPass());
  functionPasses.addPass(createLowerAsserts());
  functionPasses.addPass(createCanonicalizerPass());
  functionPasses.addPass(createCSEPass());
  modulePasses.addPass(createCallMathLibrary());
  modulePasses.addPass(createConvertToLLVM());
}

void registerCpuTranslationDialects(DialectRegistry &registry) {
  registry.insert<HAL::HALDialect, affine::AffineDialect, arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  memref::registerValueBoundsOpInterfaceExternalModels(registry);
  scf::registerValueBoundsOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void registerCpuTranslationPasses() {
  registerPass([] { return createLowerCopies(); });
  registerPass([] { return createSplitVectors(); });
  registerPass([] { return createExpandMath(); });
  registerPass([] { return createLowerAsserts(); });
  registerPass([] { return createCallMathLibrary(); });
  registerPass([] { return createConvertToLLVM(); });
}

} // namespace kiln
