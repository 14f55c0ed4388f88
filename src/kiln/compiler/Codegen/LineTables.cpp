#include "kiln/compiler/Codegen/LineTables.h"

#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace kiln {

LogicalResult addLineTables(ModuleOp module, LLVM::DIEmissionKind kind) {
  PassManager passes(module->getContext(), ModuleOp::getOperationName());
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = kind;
  passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
  return passes.run(module);
}

} // namespace kiln
