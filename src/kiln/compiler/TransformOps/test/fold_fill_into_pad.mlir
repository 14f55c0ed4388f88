// RUN: kiln-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @same
// CHECK-NOT:     tensor.pad
// CHECK:         %[[E:.+]] = tensor.empty() : tensor<7x8xf32>
// CHECK:         linalg.fill {{.*}} outs(%[[E]] : tensor<7x8xf32>)

// CHECK-LABEL: func.func @other
// CHECK:         tensor.pad
module attributes {transform.with_named_sequence} {
  func.func @same() -> tensor<7x8xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %p = tensor.pad %f low[1, 0] high[2, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<4x8xf32> to tensor<7x8xf32>
    return %p : tensor<7x8xf32>
  }
  func.func @other() -> tensor<7x8xf32> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %p = tensor.pad %f low[1, 0] high[2, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %one : f32
    } : tensor<4x8xf32> to tensor<7x8xf32>
    return %p : tensor<7x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.kiln.fold_fill_into_pad
    } : !transform.any_op
    transform.yield
  }
}
