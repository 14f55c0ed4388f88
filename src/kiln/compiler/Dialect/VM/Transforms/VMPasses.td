// Passes of the vm phase.
#ifndef KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_TD
#define KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToVMPass : Pass<"kiln-vm-convert", "mlir::ModuleOp"> {
  let summary = "Turns the host program into a module of the VM";
  let description = [{
    Functions, globals and initializers become those of the VM; what the program asks of the runtime becomes calls of
    imports (kiln/schema/hal_imports.def); index becomes i64, and references to objects of the runtime lose their static
    type. Arithmetic stays upstream's.
  }];
  let dependentDialects = ["::kiln::VM::VMDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif // KILN_COMPILER_DIALECT_VM_TRANSFORMS_VMPASSES_TD
