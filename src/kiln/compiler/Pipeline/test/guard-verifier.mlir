// What MLIR's own verifiers would read beyond their arrays for is an error like any other, of kiln-opt too.
// RUN: kiln-opt --split-input-file --verify-diagnostics %s
// RUN: rm -f %t && not kiln-opt --split-input-file %s -o %t 2> %t.errors && FileCheck %s < %t.errors && not ls %t
// Passes do not see it.
// RUN: kiln-opt --split-input-file --verify-diagnostics --canonicalize %s | FileCheck %s --check-prefix=REST
// RUN: kiln-opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(canonicalize)' %s | FileCheck %s --check-prefix=REST
// RUN: echo 'module {}' | kiln-opt --dump-pass-pipeline --cse 2>&1 | FileCheck %s --check-prefix=PIPELINE

// CHECK: guard-verifier.mlir:[[# @LINE + 3]]:3: error: 'tensor.concat' joins along dimension -1; dimensions count from 0
func.func @concat(%a: tensor<?x2xf32>) {
  // expected-error@+1 {{'tensor.concat' joins along dimension -1; dimensions count from 0}}
  tensor.concat dim(-1) %a, %a : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----

// CHECK: error: 'linalg.pack' has a negative tile
func.func @pack(%a: tensor<4xf32>, %e: tensor<2x2xf32>) {
  // expected-error@+1 {{'linalg.pack' has a negative tile}}
  linalg.pack %a inner_dims_pos = [0] inner_tiles = [-9223372036854775808] into %e : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

// CHECK: error: 'tensor.pad' has a negative amount of padding; cut with tensor.extract_slice
func.func @pad(%a: tensor<4xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{'tensor.pad' has a negative amount of padding; cut with tensor.extract_slice}}
  %p = tensor.pad %a low[0] high[-9223372036854775808] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}

// -----

// CHECK: error: 'vector.insert' has a negative position
func.func @insert(%a: vector<4xf32>, %x: f32) -> vector<4xf32> {
  // expected-error@+1 {{'vector.insert' has a negative position}}
  %v = vector.insert %x, %a[-9223372036854775808] : f32 into vector<4xf32>
  return %v : vector<4xf32>
}

// -----

// CHECK: error: 'linalg.softmax' is computed of floats, not of 'i32'; convert its input first, as with arith.sitofp
func.func @softmax(%a: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error@+1 {{'linalg.softmax' is computed of floats, not of 'i32'; convert its input first, as with arith.sitofp}}
  %r = linalg.softmax dimension(1) ins(%a : tensor<4x8xi32>) outs(%a : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}

// -----

// What the verifier itself finds is still found, and once.
// CHECK: error: 'tensor.concat' op concatenation dim must be less than the tensor rank
func.func @rank(%a: tensor<?x2xf32>) {
  // expected-error@+1 {{concatenation dim must be less than the tensor rank}}
  tensor.concat dim(2) %a, %a : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return
}

// -----

// REST-NOT: func
// REST: func.func @fine
// PIPELINE: Pass Manager with 1 passes:
func.func @fine() {
  return
}
