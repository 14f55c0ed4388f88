// RUN: kiln-opt %s --kiln-common-input-transformation-pipeline --split-input-file --verify-diagnostics | FileCheck %s

// Elementwise arithmetic on tensors becomes linalg, and calls are inlined, whatever they say.
// CHECK-NOT: @helper
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK: math.absf
// CHECK-NOT: call
func.func private @helper(%a: tensor<8xf32>) -> tensor<8xf32> attributes {no_inline} {
  %0 = math.absf %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @helper(%a) {no_inline} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @forever(%a: i32) -> i32 {
  // expected-error @+1 {{calls 'forever' in a recursion, which Kiln does not compile; write it as a loop (scf.while)}}
  %0 = call @forever(%a) : (i32) -> i32
  return %0 : i32
}
