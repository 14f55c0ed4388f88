// The passes of the llvm-cpu backend. A pass is one entry here, one source of the entry's name, and one test of the same
// name in test/ (those of strategies: in strategy/).
#ifndef KILN_TARGETS_CPU_CODEGEN_CPUPASSES_TD
#define KILN_TARGETS_CPU_CODEGEN_CPUPASSES_TD

include "mlir/Pass/PassBase.td"

//===--- Translation: what lower-executable-target leaves, to the LLVM dialect -----------------------------------===//

def LowerCopies : Pass<"kiln-llvmcpu-lower-copies", "mlir::func::FuncOp"> {
  let summary = "makes linalg operations of copies between memory that may have gaps";
  let description = [{
    Upstream's lowering of such a `memref.copy` calls a run-time library, which kernels do not have. A copy between
    memory without a layout stays, and becomes a memcpy.
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect"];
}

def SplitVectors : Pass<"kiln-llvmcpu-split-vectors", "mlir::func::FuncOp"> {
  let summary = "rewrites vectors of any rank and size as vectors of one register each";
  let description = [{
    Every vector value becomes a list of one-dimensional pieces that are at most a register long, loop-carried values
    included, and every operation on it becomes operations on pieces: a contraction a grid of fused multiply-adds, a
    transfer plain or masked loads and stores, a transpose a network of shuffles. A contraction that reads its operands
    straight from memory and would take more than `unroll-limit` multiply-adds becomes loops over registers instead, so
    that neither code nor compile time grows with the size of the vectors. An operation that would still take more than
    `piece-limit` pieces is an error that asks for smaller tiles. Vector operations that have no rule are put together
    from pieces and taken apart again, and left to the upstream lowerings.
  }];
  let options = [
    Option<"nativeVectorBits", "native-vector-bits", "int64_t", "0",
           "length of a vector register; 0 takes it from the variant's target">,
    Option<"unrollLimit", "unroll-limit", "int64_t", "512", "multiply-adds of one contraction without a loop">,
    Option<"pieceLimit", "piece-limit", "int64_t", "8192", "pieces that one operation may make">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::affine::AffineDialect", "mlir::math::MathDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect", "mlir::ub::UBDialect",
                           "mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"kiln-llvmcpu-expand-math", "mlir::func::FuncOp"> {
  let summary = "brings mathematical functions and narrow floats to what the CPU has";
  let description = [{
    Functions of f32 become polynomials on whole vectors where these stay within 2 ULP; the rest, and functions of f64,
    are left to kiln-llvmcpu-call-math-library. f16 and bf16 are computed in f32 and rounded once for each operation;
    their conversions are spelled out in integer arithmetic where the CPU has no instruction for them. Operations that
    are combinations of others (rounding divisions, integer powers, clamps) are expanded. Integer division by zero gives
    0 in a kernel, and what overflows wraps, where the instruction would end the process.
  }];
  let options = [
    Option<"features", "features", "std::string", "", "CPU features, +f16c,...; empty takes them from the variant's target">,
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::func::FuncDialect", "mlir::math::MathDialect",
                           "mlir::LLVM::LLVMDialect", "mlir::vector::VectorDialect"];
}

def LowerAsserts : Pass<"kiln-llvmcpu-lower-asserts", "mlir::func::FuncOp"> {
  let summary = "makes a dispatch return when an assertion fails";
  let description = [{
    The dispatch gets a result, a status: 0, or n for the n-th message of its attribute `hal.assert_messages`. A
    `cf.assert` becomes a branch that returns its message's number, so that nothing that comes after it in the workgroup
    happens. An assertion in a function that is not a dispatch is an error at it.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect"];
}

def CallMathLibrary : Pass<"kiln-llvmcpu-call-math-library", "mlir::ModuleOp"> {
  let summary = "calls the C library for mathematical functions that have no polynomial here";
  let description = [{
    A vector takes a call of the library's function for vectors, where there is one for this target; elsewhere each
    element takes a call. The functions are declared, not defined: the loader of the executable finds them in the
    process.
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::vector::VectorDialect"];
}

def ConvertToLLVM : Pass<"kiln-llvmcpu-convert-to-llvm", "mlir::ModuleOp"> {
  let summary = "converts dispatches to the LLVM dialect, with the signature of the executable ABI";
  let description = [{
    Each exported function takes the two state pointers of kiln/schema/executable_abi.h and returns its status; the ops of
    `hal.interface` become loads from these. Accesses of different bindings get alias scopes, since the runtime promises
    that a binding that is written overlaps no other. Symbols that are not exports are prefixed with the executable's
    name, so that the modules of several executables can be merged. An op that no conversion knows is an error at it.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

#endif // KILN_TARGETS_CPU_CODEGEN_CPUPASSES_TD
