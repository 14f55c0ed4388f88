// From tensors to memory, for the functions of a dispatch.
#ifndef KILN_COMPILER_TRANSFORMOPS_DISPATCHBUFFERIZATION_H
#define KILN_COMPILER_TRANSFORMOPS_DISPATCHBUFFERIZATION_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kiln {

// Lets what is stored be computed in the memory where it goes, instead of in a tensor.empty. Fills and empty tensors
// that several operations start from are multiplied first: each operation's memory is its own.
mlir::LogicalResult eliminateEmptyTensors(mlir::RewriterBase &rewriter, mlir::Operation *root);

// Bufferizes every function in `root`, in place wherever bindings allow it. Temporaries become memref.alloc. Copies of
// a buffer onto itself are gone afterwards.
mlir::LogicalResult bufferizeDispatch(mlir::RewriterBase &rewriter, mlir::Operation *root);

// Drops #hal.descriptor_type from the types of all values in the function.
void eraseHALDescriptorTypes(mlir::FunctionOpInterface function);

// Forwards stored vectors to loads, and erases stores and allocations that nothing reads.
void optimizeBuffers(mlir::RewriterBase &rewriter, mlir::Operation *root);

// Reshapes of bindings' tensors become part of the binding's type.
void populateFoldReshapeIntoInterfacePatterns(mlir::RewritePatternSet &patterns);

// Extents of bindings become the values that the binding's op was given.
void populateFoldInterfaceDimPatterns(mlir::RewritePatternSet &patterns);

// tensor.pad of a fill with the same value becomes a larger fill.
void populateFoldFillIntoPadPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_DISPATCHBUFFERIZATION_H
