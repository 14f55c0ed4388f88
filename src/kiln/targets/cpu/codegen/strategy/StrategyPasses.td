// The passes that choose and apply how a dispatch is tiled, distributed and vectorized. A pass is one entry here, one
// source of the entry's name, and one test of the same name in test/.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_TD
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_TD

include "mlir/Pass/PassBase.td"

def SelectLowering : Pass<"kiln-llvmcpu-select-lowering", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "chooses the strategy and the configuration of each dispatch";
  let description = [{
    Finds what each dispatch is mainly about, its root operation, and writes `lowering = #hal.lowering<strategy,
    configuration>` on its function: what the function has already, else what the root says (`kiln.configuration`), else
    what the tuning database says of it (docs/tuning.md), else the first row of the tuning data that fits
    (targets/cpu/tuning), fitted to the extents of the dispatch. Nothing else changes. A configuration that does not
    parse or that this target cannot follow is an error at the function; one of the database is a warning, and the
    default is taken.
  }];
  let options = [
    Option<"tuningDatabase", "tuning-db", "std::string", "", "the tuning database; empty: none">,
    Option<"tuningThreads", "tuning-threads", "int64_t", "0",
           "takes what was measured with so many threads; 0: with the most">,
    Option<"tuningKeys", "dump-tuning-keys-to", "std::string", "",
           "a folder that gets a file for each dispatch, with what tuning databases know it by; empty: none">,
  ];
}

def LowerExecutableTarget : Pass<"kiln-llvmcpu-lower-executable-target", "kiln::HAL::ExecutableVariantOp"> {
  let summary = "applies the strategy of each dispatch, or the user's transform-dialect spec";
  let description = [{
    Takes each dispatch from tensors to loops, vectors and memory, distributed over workgroups, and fills in the
    workgroup counts of the exports. With `spec` the file replaces the strategies; what it leaves as linalg on memory is
    still turned into vector loops. A dispatch that the spec leaves half way is an error.
  }];
  let options = [
    Option<"spec", "spec", "std::string", "", "a transform-dialect file that replaces the strategies">,
  ];
}

def EmitKernels : Pass<"kiln-llvmcpu-emit-kernels", "mlir::func::FuncOp"> {
  let summary = "turns linalg operations on memory into loops over vectors";
  let description = [{
    For each operation one loop dimension is chosen that runs along vectors: one in which the result is contiguous, or
    else a reduction in which the inputs are. A part of the result is kept in registers while the reductions run. Tails
    are masked where the CPU has masks for it, and single elements where not. What has no vector form becomes loops over
    elements. The function's `lowering` chooses tiles for its main operation.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::memref::MemRefDialect", "mlir::vector::VectorDialect", "mlir::math::MathDialect",
                           "mlir::linalg::LinalgDialect", "mlir::cf::ControlFlowDialect", "kiln::Util::UtilDialect"];
}

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_STRATEGYPASSES_TD
