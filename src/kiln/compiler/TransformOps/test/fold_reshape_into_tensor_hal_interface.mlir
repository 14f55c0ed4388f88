// RUN: kiln-opt %s --split-input-file --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @f()
// CHECK:         %[[N:.+]] = hal.interface.constant.load[0]
// CHECK:         %[[SIZE:.+]] = affine.apply #{{.+}}()[%[[N]]]
// CHECK:         %[[A:.+]] = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%[[SIZE]]}
// CHECK:         %[[T:.+]] = bufferization.to_tensor %[[A]] restrict : memref<?xf32> to tensor<?xf32>
// CHECK:         %[[B:.+]] = hal.interface.binding.subspan binding(1) <writeonly> : memref<?xf32>
// CHECK:         %[[R:.+]] = linalg.exp ins(%[[T]] : tensor<?xf32>)
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[B]]
module attributes {transform.with_named_sequence} {
  func.func @f() {
    %n = hal.interface.constant.load[0] : index
    %a = hal.interface.binding.subspan binding(0) <readonly> : memref<?x8xf32>{%n}
    %t = bufferization.to_tensor %a restrict : memref<?x8xf32> to tensor<?x8xf32>
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
    %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<?x8xf32>{%n}
    %size = affine.apply affine_map<()[s0] -> (s0 * 8)>()[%n]
    %init = tensor.empty(%size) : tensor<?xf32>
    %r = linalg.exp ins(%c : tensor<?xf32>) outs(%init : tensor<?xf32>) -> tensor<?xf32>
    %e = tensor.expand_shape %r [[0, 1]] output_shape [%n, 8] : tensor<?xf32> into tensor<?x8xf32>
    bufferization.materialize_in_destination %e in restrict writable %b : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.kiln.fold_reshape_into_tensor_hal_interface
    } : !transform.any_op
    transform.yield
  }
}

// -----

// A binding that is read and written keeps one tensor.

// CHECK-LABEL: func.func @keep()
// CHECK:         %[[A:.+]] = hal.interface.binding.subspan binding(0) <readwrite> : memref<4x8xf32>
// CHECK:         bufferization.to_tensor %[[A]]
// CHECK-NOT:     bufferization.to_tensor
module attributes {transform.with_named_sequence} {
  func.func @keep() {
    %a = hal.interface.binding.subspan binding(0) <readwrite> : memref<4x8xf32>
    %t = bufferization.to_tensor %a restrict writable : memref<4x8xf32> to tensor<4x8xf32>
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
    %init = tensor.empty() : tensor<32xf32>
    %r = linalg.exp ins(%c : tensor<32xf32>) outs(%init : tensor<32xf32>) -> tensor<32xf32>
    %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<32xf32>
    bufferization.materialize_in_destination %r in restrict writable %b : (tensor<32xf32>, memref<32xf32>) -> ()
    bufferization.materialize_in_destination %t in restrict writable %a : (tensor<4x8xf32>, memref<4x8xf32>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.kiln.fold_reshape_into_tensor_hal_interface
    } : !transform.any_op
    transform.yield
  }
}
