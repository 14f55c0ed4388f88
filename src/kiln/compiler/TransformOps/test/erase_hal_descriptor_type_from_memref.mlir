// RUN: kiln-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @f()
// CHECK:         hal.interface.binding.subspan binding(0) <readonly> : memref<4x8xf32>
// CHECK:         memref.subview {{.*}} : memref<4x8xf32> to memref<2x8xf32, strided<[8, 1]>>
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (memref<2x8xf32, strided<[8, 1]>>)
// CHECK-NOT:     #hal.descriptor_type
module attributes {transform.with_named_sequence} {
  func.func @f() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = hal.interface.binding.subspan binding(0) <readonly> : memref<4x8xf32, #hal.descriptor_type<storage_buffer>>
    %s = memref.subview %a[0, 0] [2, 8] [1, 1]
      : memref<4x8xf32, #hal.descriptor_type<storage_buffer>> to memref<2x8xf32, strided<[8, 1]>, #hal.descriptor_type<storage_buffer>>
    %l = scf.for %i = %c0 to %c1 step %c1 iter_args(%m = %s)
        -> (memref<2x8xf32, strided<[8, 1]>, #hal.descriptor_type<storage_buffer>>) {
      scf.yield %m : memref<2x8xf32, strided<[8, 1]>, #hal.descriptor_type<storage_buffer>>
    }
    %x = memref.load %l[%c0, %c0] : memref<2x8xf32, strided<[8, 1]>, #hal.descriptor_type<storage_buffer>>
    vector.print %x : f32
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.erase_hal_descriptor_type_from_memref %function : (!transform.any_op) -> ()
    transform.yield
  }
}
