// RUN: kiln-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[A:.+]]: f32, %[[M:.+]]: memref<8xf32>
// CHECK:         %[[SUM:.+]] = arith.addf %[[A]], %[[A]] : f32
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store %[[SUM]]
// CHECK-NEXT:      memref.store %[[SUM]]
module attributes {transform.with_named_sequence} {
  func.func @f(%a: f32, %m: memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %x = arith.addf %a, %a : f32
      %y = arith.addf %a, %a : f32
      memref.store %x, %m[%i] : memref<8xf32>
      memref.store %y, %m[%i] : memref<8xf32>
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.apply_licm %function : !transform.any_op
    transform.kiln.apply_cse %function : !transform.any_op
    transform.yield
  }
}
