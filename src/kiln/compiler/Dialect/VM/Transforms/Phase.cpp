#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h"

#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln::VM {

void buildVMPhase(OpPassManager &passes, const CompilerContext &context) {
  passes.nest<HAL::ExecutableOp>().addPass(HAL::createSerializeExecutablesPass(context));
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToVMPass());
  if (context.options.optimizeBytecodeModule) {
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
  }
}

void registerVMPasses(const CompilerContext &) {
  registerPass([] { return createConvertToVMPass(); });
}

} // namespace kiln::VM
