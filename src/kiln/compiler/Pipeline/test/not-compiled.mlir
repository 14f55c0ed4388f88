// What parses and verifies and is still no program that Kiln compiles: an error at the op, in the phase that finds it.
// RUN: kiln-opt %s --split-input-file --verify-diagnostics --iree-common-input-transformation-pipeline \
// RUN:   --iree-abi-transformation-pipeline --iree-flow-transformation-pipeline

func.func @even(%n: i32) -> i32 {
  // expected-error @+1 {{calls 'odd' in a recursion, which Kiln does not compile; write it as a loop (scf.while)}}
  %0 = func.call @odd(%n) : (i32) -> i32
  return %0 : i32
}
func.func private @odd(%n: i32) -> i32 {
  %0 = func.call @even(%n) : (i32) -> i32
  return %0 : i32
}

// -----

func.func @gather(%a: tensor<4x4xf32>, %i: tensor<2x1xindex>) -> tensor<2x1x4xf32> {
  // expected-error @+1 {{'tensor.gather' is not an op that Kiln compiles}}
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<4x4xf32>, tensor<2x1xindex>) -> tensor<2x1x4xf32>
  return %0 : tensor<2x1x4xf32>
}

// -----

func.func @no_such_dimension(%a: tensor<?xf32>, %b: tensor<?xf32>, %which: i1) -> index {
  %minus = arith.constant -1 : index
  %0 = scf.if %which -> tensor<?xf32> {
    %1 = arith.addf %a, %a : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    scf.yield %b : tensor<?xf32>
  }
  // expected-error @+1 {{'tensor.dim' needs a constant dimension of a tensor that has it}}
  %2 = tensor.dim %0, %minus : tensor<?xf32>
  return %2 : index
}
