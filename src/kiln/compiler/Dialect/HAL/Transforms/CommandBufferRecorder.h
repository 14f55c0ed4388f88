// Turns the commands of a submission into the recording of a command buffer.
#ifndef KILN_COMPILER_DIALECT_HAL_TRANSFORMS_COMMANDBUFFERRECORDER_H
#define KILN_COMPILER_DIALECT_HAL_TRANSFORMS_COMMANDBUFFERRECORDER_H

#include <string>

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

namespace kiln::HAL {

// The globals that hold an executable as a device has loaded it, and, where it has several variants, which of them it
// is.
std::string executableGlobal(llvm::StringRef executable, int64_t device);
std::string variantGlobal(llvm::StringRef executable, int64_t device);
llvm::SmallVector<ExecutableVariantOp> variantsOf(ExecutableOp executable);

class CommandBufferRecorder {
public:
  // Each dispatch is launched `repeat` times, one after another. `device` is the number of the one that is recorded
  // for.
  CommandBufferRecorder(Stream::CmdExecuteOp execute, int64_t repeat, int64_t device)
      : execute(execute), repeat(repeat), deviceNumber(device) {}

  // Emits the recording at the builder, where the submission's scalars must be visible; gives the command buffer. The
  // resources of the submission are its binding slots, in order.
  mlir::FailureOr<mlir::Value> record(mlir::OpBuilder &builder, mlir::Value device, int mode);

private:
  mlir::LogicalResult recordCommand(mlir::OpBuilder &builder, mlir::Operation *op);
  mlir::LogicalResult recordDispatch(mlir::OpBuilder &builder, Stream::CmdDispatchOp op);
  // What the variant's export says for the dispatch's constants; empty, after an error, where it says nothing.
  llvm::SmallVector<mlir::Value> workgroupCount(mlir::OpBuilder &builder, Stream::CmdDispatchOp op,
                                                ExecutableVariantOp variant);
  mlir::Value slot(mlir::OpBuilder &builder, mlir::Value resource);
  mlir::Value i32(mlir::OpBuilder &builder, int64_t value);

  Stream::CmdExecuteOp execute;
  int64_t repeat, deviceNumber;
  mlir::IRMapping mapping;
  mlir::Value commands;
};

} // namespace kiln::HAL

#endif // KILN_COMPILER_DIALECT_HAL_TRANSFORMS_COMMANDBUFFERRECORDER_H
