// RUN: kiln-opt %s --transform-interpreter | FileCheck %s

// What goes through a temporary goes directly, and the temporary with it.

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[A:.+]]: memref<8xf32>, %[[B:.+]]: memref<8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[V:.+]] = vector.transfer_read %[[A]]
// CHECK-NEXT:    vector.transfer_write %[[V]], %[[B]]
// CHECK-NEXT:    return
module attributes {transform.with_named_sequence} {
  func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %t = memref.alloc() : memref<8xf32>
    %v = vector.transfer_read %a[%c0], %zero {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
    vector.transfer_write %v, %t[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
    %w = vector.transfer_read %t[%c0], %zero {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
    vector.transfer_write %w, %b[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
    memref.copy %b, %b : memref<8xf32> to memref<8xf32>
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.apply_buffer_optimizations %function : (!transform.any_op) -> ()
    transform.yield
  }
}
