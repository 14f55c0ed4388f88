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

// -----

// The place of the third step is no 64-bit number.
func.func @far(%x: tensor<1152921504606846975xi8>) -> tensor<4xi8> {
  %e = tensor.empty() : tensor<4xi8>
  // expected-error @+1 {{'linalg.generic' has an index, d0 * 6148914691236517206 for dimension 0 of operand 0, that is not a 64-bit number in all steps of its loops}}
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 6148914691236517206)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<1152921504606846975xi8>) outs(%e : tensor<4xi8>) {
  ^bb0(%a: i8, %o: i8):
    linalg.yield %a : i8
  } -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

util.global private mutable @g : i32
func.func private @again(%n: i32) -> i32 {
  // expected-error @+1 {{calls 'again' in a recursion, which Kiln does not compile; write it as a loop (scf.while)}}
  %0 = func.call @again(%n) : (i32) -> i32
  return %0 : i32
}
util.initializer {
  %c = arith.constant 7 : i32
  %x = func.call @again(%c) : (i32) -> i32
  util.global.store %x, @g : i32
  util.return
}
