#include "kiln/targets/cuda/codegen/PtxCode.h"

#include "kiln/compiler/Codegen/MachineCode.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

namespace kiln {

Expected<std::unique_ptr<TargetMachine>> createPtxMachine(const CudaTarget &target, int optimizationLevel) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple triple(CudaTarget::triple);
  std::string text;
  const Target *backend = TargetRegistry::lookupTarget(triple, text);
  if (!backend)
    return createStringError("LLVM has no backend for %s: %s", triple.str().c_str(), text.c_str());
  TargetOptions options;
  std::unique_ptr<TargetMachine> machine(backend->createTargetMachine(triple, target.architecture, /*Features=*/"",
                                                                      options, std::nullopt, std::nullopt,
                                                                      codeGenLevel(optimizationLevel)));
  if (!machine)
    return createStringError("LLVM makes no target machine for %s", target.architecture.c_str());
  return machine;
}

void annotatePtxModule(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("no-trapping-math", "true");
    for (Instruction &instruction : instructions(function))
      if (isa<FPMathOperator>(instruction))
        instruction.setHasAllowContract(true);
  }
}

} // namespace kiln
