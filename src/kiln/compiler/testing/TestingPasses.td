// Passes that only tests run.
#ifndef KILN_COMPILER_TESTING_TESTINGPASSES_TD
#define KILN_COMPILER_TESTING_TESTINGPASSES_TD

include "mlir/Pass/PassBase.td"

def PlantLiesPass : Pass<"kiln-plant-lies", "mlir::ModuleOp"> {
  let summary = "Makes programs compute something wrong, or slowly, to test what should notice";
  let description = [{
    The lies: wrong-element and nan (the last element of the result), transposed-tile (the first one of a contraction's
    result), dropped-tail (of a reduction, or the last columns of what has none), not-zeroed (the result is added to what
    the output held), bf16-inputs, tf32-inputs, f16-accumulator, bf16-accumulator, swapped-layout (of the last input, two
    dimensions of which must be equal), nothing-written. Where a lie cannot be told of a function, an error says why. A
    delay is a number of empty loop iterations at the start of each workgroup of a contraction's kernel.
  }];
  let options = [
    Option<"lie", "lie", "std::string", "", "Which lie; empty: none">,
    Option<"delay", "delay", "int64_t", "0", "Iterations of an empty loop in each workgroup">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // KILN_COMPILER_TESTING_TESTINGPASSES_TD
