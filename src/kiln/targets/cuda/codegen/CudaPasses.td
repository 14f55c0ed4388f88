// The passes of the cuda backend. A pass is one entry here, one source of the entry's name, and one test of the same name
// in test/.
#ifndef KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_TD
#define KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_TD

include "mlir/Pass/PassBase.td"

def CudaSelectLowering : Pass<"kiln-cuda-select-lowering", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "chooses the strategy and the configuration of each dispatch";
  let description = [{
    Finds what each dispatch is mainly about, its root operation, and writes `lowering = #hal.lowering<strategy,
    configuration>` on its function, unless it has one: the tile of the result that a block of threads computes. The
    configuration is what the program says (`kiln.configuration`), else what the tuning database says of the operation on
    this architecture (docs/tuning.md), else what the extents ask for. One of the database that the target cannot follow,
    or that computes f32 in tf32, is a warning, and the default is taken. What is like a large product, and has no default
    with tiles in shared memory, has a remark that says why; so has what has no tensor cores for types that they have.
  }];
  let options = [
    Option<"tuningDatabase", "tuning-db", "std::string", "", "the tuning database; empty: none">,
    Option<"tuningKeys", "dump-tuning-keys-to", "std::string", "",
           "a folder that gets a file for each dispatch, with what tuning databases know it by; empty: none">,
  ];
  let dependentDialects = ["::kiln::Util::UtilDialect"];
}

def CudaLowerExecutableTarget : Pass<"kiln-cuda-lower-executable-target", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "applies the strategy of each dispatch, or the user's transform-dialect spec";
  let description = [{
    Takes each dispatch from tensors to loops over elements in memory, distributed over workgroups and their threads, and
    fills in the workgroup counts of the exports. With `spec` the file replaces the strategies: it leaves a gpu.launch
    with its loops mapped to blocks and threads; or it distributes over workgroups, and what it leaves as linalg on memory
    is distributed over threads. A dispatch that the spec leaves half way is an error.
  }];
  let options = [
    Option<"spec", "spec", "std::string", "", "a transform-dialect file that replaces the strategies">,
  ];
}

def CudaEmitContractions : Pass<"kiln-cuda-emit-contractions", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "writes the kernels of contractions, with tiles in shared memory";
  let description = [{
    A dispatch whose `lowering` names instructions of a tiled kernel, and which is one contraction of bindings with what is
    computed of its result element by element, becomes a kernel: tiles of both inputs are copied to shared memory some
    steps ahead of the arithmetic, sums stay in registers, and so does what follows them until it is stored. Tails are
    filled up with zeros where tiles are read, and left out where they are written. Any other dispatch gets the simple
    form, which is told as a remark.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect", "kiln::Util::UtilDialect"];
}

def CudaMapToThreads : Pass<"kiln-cuda-map-to-threads", "mlir::func::FuncOp"> {
  let summary = "distributes what a workgroup does over the threads of a block";
  let description = [{
    Each operation of linalg on memory becomes loops in which every thread computes elements of the result of its own; a
    reduction to fewer elements than there are threads is shared by several threads for each element, which combine what
    they have through shared memory. Operations that treat rows apart become one loop over rows, whose elements stay in
    registers (RowLoops.h); elementwise ones and sums of columns load and store vectors, in workgroups that have all of a
    tile (VectorLoops.h, ColumnLoops.h). What comes between runs the same in all threads; what writes memory there runs
    in one thread, and is told as a remark. Barriers separate what depends on what other threads have written. Around all of it
    comes a loop over the workgroups that the block is for (schema/gpu_executable.fbs).
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect", "kiln::HAL::HALDialect", "kiln::Util::UtilDialect"];
}

def CudaLowerVectors : Pass<"kiln-cuda-lower-vectors", "mlir::func::FuncOp"> {
  let summary = "lowers the vectors that a transform-dialect spec has made";
  let description = [{
    Vectors that a thread computes become vectors of one dimension, which LLVM puts into registers: contractions become
    multiplications and additions, transfers become loads and stores, with masks element by element. Vectors of more
    elements than a thread can have are an error at their op.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::ub::UBDialect", "mlir::vector::VectorDialect"];
}

def CudaExpandMath : Pass<"kiln-cuda-expand-math", "mlir::func::FuncOp"> {
  let summary = "brings mathematical functions and narrow floats to what the GPU has";
  let description = [{
    Functions of f32 become polynomials where these stay within 2 ULP; f16 and bf16 are computed in f32 and rounded once
    for each operation, their exponentials and the quotients of f16 from what the hardware approximates in f32. No library
    of CUDA is used: a function that has no form here is an error at its operation.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::NVVM::NVVMDialect"];
}

def CudaConvertToLLVM : Pass<"kiln-cuda-convert-to-llvm", "mlir::ModuleOp"> {
  let summary = "converts dispatches to the LLVM and NVVM dialects, as kernels of schema/gpu_executable.fbs";
  let description = [{
    Each exported function becomes a kernel whose parameters are its bindings, its push constants, the workgroup count and
    scratch memory. Local memory is shared memory where it fits, else a part of the scratch memory. An op that no
    conversion knows is an error at it.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

#endif // KILN_TARGETS_CUDA_CODEGEN_CUDAPASSES_TD
