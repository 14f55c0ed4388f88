// Encodes the body of one vm.func: registers for values, instructions for ops.
#ifndef KILN_COMPILER_DIALECT_VM_TARGET_FUNCTIONENCODER_H
#define KILN_COMPILER_DIALECT_VM_TARGET_FUNCTIONENCODER_H

#include "kiln/compiler/Dialect/VM/IR/VMOps.h"
#include "kiln/schema/module_writer.h"
#include "kiln/schema/vm_code.h"

namespace kiln::VM {

// Where each symbol of the module stands in the module file.
struct ModuleIndex {
  llvm::StringMap<uint32_t> functions, imports, rodata, executables;
  llvm::StringMap<uint32_t> valueGlobals, refGlobals;
};

// "rI_r" of a function type; an error at `op` for a type that the VM does not have.
mlir::FailureOr<std::string> signatureOf(mlir::Operation *op, mlir::FunctionType type);

class FunctionEncoder {
public:
  FunctionEncoder(FuncOp func, const ModuleIndex &index) : func(func), index(index) {}

  mlir::FailureOr<schema::FunctionDesc> encode();

private:
  using Register = schema::Register;

  // Registers. A value that only its own block uses gives its register back after its last use; a reference is dropped
  // there, too, so that memory is free as early as it can be. Values that several blocks see, and block arguments, have
  // registers that no other value ever takes.
  void findLastUses(mlir::Block &block);
  Register assign(mlir::Value value);
  Register of(mlir::Value value) { return registers.find(value)->second; }
  uint32_t temporary();
  void release(mlir::Operation &op);

  mlir::LogicalResult encodeOp(mlir::Operation &op);
  mlir::LogicalResult encodeConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult encodeCall(CallOp op);
  mlir::LogicalResult encodeBranches(mlir::Operation &op);
  mlir::LogicalResult encodeIntCompare(mlir::arith::CmpIOp compare);
  mlir::LogicalResult encodeFloatCompare(mlir::arith::CmpFOp compare);
  mlir::LogicalResult encodeArithmetic(mlir::Operation &op);
  mlir::LogicalResult encodeCast(mlir::Operation &op);
  llvm::SmallVector<schema::Move> movesTo(mlir::Block *block, mlir::ValueRange operands);
  void binary(schema::Opcode opcode, uint32_t target, uint32_t a, uint32_t b) { code.emit(opcode, {target, a, b}); }
  void unary(schema::Opcode opcode, uint32_t target, uint32_t a) { code.emit(opcode, {target, a}); }
  // A register that holds the value sign-extended to 64 bits; integers are kept zero-extended.
  uint32_t signExtended(mlir::Value value);
  // A register that holds the float as f64, exactly; and from f64 to `type`, rounded.
  uint32_t asF64(mlir::Value value);
  void truncateF64(mlir::Type type, uint32_t target, uint32_t source);
  mlir::LogicalResult unsupported(mlir::Operation &op);

  FuncOp func;
  const ModuleIndex &index;
  schema::CodeBuilder code;
  llvm::DenseMap<mlir::Value, Register> registers;
  llvm::DenseMap<mlir::Block *, schema::Label> labels;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> dyingAt;
  llvm::DenseSet<mlir::Value> shared;
  llvm::SmallVector<uint32_t> freeValues, freeRefs, temporaries;
  uint32_t valueCount = 0, refCount = 0;
};

} // namespace kiln::VM

#endif // KILN_COMPILER_DIALECT_VM_TARGET_FUNCTIONENCODER_H
