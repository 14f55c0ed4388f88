// How a dispatch becomes a kernel of schema/gpu_executable.fbs.
#ifndef KILN_TARGETS_CUDA_CODEGEN_KERNELINTERFACE_H
#define KILN_TARGETS_CUDA_CODEGEN_KERNELINTERFACE_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// Replaces the ops of hal.interface and the argument for local memory by parameters of a kernel, and marks the function
// as one. The error is told at the op that cannot be replaced.
mlir::LogicalResult makeKernel(mlir::func::FuncOp function, const mlir::LLVMTypeConverter &converter);

// The block's shared memory, as much of it as the launch asks for (dynamicSharedBytesAttr): a pointer to it.
mlir::Value dynamicSharedMemory(mlir::OpBuilder &b, mlir::func::FuncOp function);

// What follows may use what the kernels before have done to memory. Until there, they may still run (startsEarlyAttr).
void awaitEarlierKernels(mlir::OpBuilder &b, mlir::func::FuncOp function);

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_KERNELINTERFACE_H
