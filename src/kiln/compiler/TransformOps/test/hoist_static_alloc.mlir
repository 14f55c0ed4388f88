// RUN: kiln-opt %s --allow-unregistered-dialect --transform-interpreter | FileCheck %s

// Out of all loops; what depends on an index stays, and what an iteration deallocates.
// CHECK-LABEL: func.func @f(
// CHECK:         %[[FIRST:.+]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    scf.for %[[I:.+]] =
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        %[[SIZED:.+]] = memref.alloc(%[[I]]) : memref<?xf32>
// CHECK-NEXT:        "use"(%[[FIRST]], %[[SIZED]])
// CHECK-NEXT:        %[[OWN:.+]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:        memref.dealloc %[[OWN]]
module attributes {transform.with_named_sequence} {
  func.func @f(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %first = memref.alloc() : memref<8xf32>
        %sized = memref.alloc(%i) : memref<?xf32>
        "use"(%first, %sized) : (memref<8xf32>, memref<?xf32>) -> ()
        %own = memref.alloc() : memref<4xf32>
        memref.dealloc %own : memref<4xf32>
      }
    }
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.hoist_static_alloc %function : (!transform.any_op) -> ()
    transform.yield
  }
}
