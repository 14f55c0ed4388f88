// The passes that targets share in code generation. A pass is one entry here, one source of the entry's name, and one test
// of the same name in test/.
#ifndef KILN_COMPILER_CODEGEN_CODEGENPASSES_TD
#define KILN_COMPILER_CODEGEN_CODEGENPASSES_TD

include "mlir/Pass/PassBase.td"

def PrepareDispatch : Pass<"kiln-codegen-prepare-dispatch", "mlir::func::FuncOp"> {
  let summary = "brings a dispatch into the form that distribution and bufferization want";
  let description = [{
    Data movement becomes linalg operations, reshapes become part of the bindings' types, elementwise
    operations on equally shaped tensors become one-dimensional, sums of narrow floats are done in f32, and what
    accumulates into a tensor that it may not write gets a copy to accumulate into.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "kiln::HAL::HALDialect",
                           "mlir::bufferization::BufferizationDialect", "mlir::scf::SCFDialect",
                           "mlir::math::MathDialect"];
}

def DistributeDispatch : Pass<"kiln-codegen-distribute-dispatch", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "spreads each dispatch over workgroups, and takes it to memory";
  let description = [{
    The operation that ends a dispatch is tiled as its `lowering` says, what feeds it is fused into the tiles, the export
    gets its workgroup count, and all is bufferized in place. A dispatch whose parts cannot be computed by workgroups
    that do not wait for each other runs in one.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::memref::MemRefDialect",
                           "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::bufferization::BufferizationDialect", "kiln::HAL::HALDialect",
                           "mlir::gpu::GPUDialect"];
}

def PlaceAllocations : Pass<"kiln-codegen-place-allocations", "mlir::func::FuncOp"> {
  let summary = "gives each temporary buffer of a dispatch its place: the stack or the worker's local memory";
  let description = [{
    A kernel does not allocate from the heap. A `memref.alloc` or `memref.alloca` whose size has a constant bound becomes
    a stack allocation in the entry block, as long as all of them together stay within `stack-limit`; what does not fit
    becomes a view of the local memory that the runtime gives each workgroup, at an offset that is a multiple of 64
    bytes, and the function's `hal.local_memory_bytes` says how much it needs. There, buffers that are not in use at the
    same time share their memory. A `memref.dealloc` of them goes away. A buffer without a constant bound, or more than `local-memory-limit` bytes in all, is an error at the allocation.
  }];
  let options = [
    Option<"stackLimit", "stack-limit", "int64_t", "32768", "bytes of stack that all buffers of a dispatch may take">,
    Option<"localMemoryLimit", "local-memory-limit", "int64_t", "16777216", "bytes of local memory a dispatch may take">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "kiln::HAL::HALDialect"];
}

#endif // KILN_COMPILER_CODEGEN_CODEGENPASSES_TD
