// RUN: kiln-opt %s --split-input-file --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @xy()
// CHECK-NOT:     scf.forall
// CHECK:         %[[X:.+]] = hal.interface.workgroup.id[0] : index
// CHECK:         %[[Y:.+]] = hal.interface.workgroup.id[1] : index
// CHECK:         %[[J:.+]] = affine.apply #{{.+}}()[%[[X]]]
// CHECK-NOT:     scf.if
// CHECK:         memref.store %{{.+}}, %{{.+}}[%[[Y]], %[[J]]]
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @xy ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [writeonly]>)
      builtin.module {
        func.func @xy() {
          %x = arith.constant 1.0 : f32
          %m = hal.interface.binding.subspan binding(0) <writeonly> : memref<5x8xf32>
          scf.forall (%i, %j) = (0, 0) to (5, 8) step (1, 4) {
            memref.store %x, %m[%i, %j] : memref<5x8xf32>
          } {mapping = [#gpu.block<y>, #gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// A dynamic count that stems from the loop needs no guard.

// CHECK-LABEL: func.func @dynamic()
// CHECK:         hal.interface.workgroup.id[0]
// CHECK-NOT:     scf.if
// CHECK:         memref.store
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @dynamic ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [writeonly]>)
      builtin.module {
        func.func @dynamic() {
          %x = arith.constant 1.0 : f32
          %n = hal.interface.constant.load[0] : index
          %m = hal.interface.binding.subspan binding(0) <writeonly> : memref<?xf32>{%n}
          scf.forall (%i) = (0) to (%n) step (4) {
            memref.store %x, %m[%i] : memref<?xf32>
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// Two loops share a grid, and the one with fewer iterations is guarded. Linear ids are taken apart, the fastest dimension
// first.

// CHECK-LABEL: func.func @two()
// CHECK:         %[[ID:.+]] = hal.interface.workgroup.id[0] : index
// CHECK:         %[[J:.+]] = arith.remui %[[ID]], %{{.+}} : index
// CHECK:         %[[I:.+]] = arith.divui %[[ID]], %{{.+}} : index
// CHECK:         scf.if
// CHECK:           memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]] : memref<2x3xf32>
// CHECK:         %[[X:.+]] = hal.interface.workgroup.id[0] : index
// CHECK-NOT:     scf.if
// CHECK:         memref.store %{{.+}}, %{{.+}}[%[[X]]] : memref<8xf32>
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @two ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [writeonly, writeonly]>)
      builtin.module {
        func.func @two() {
          %x = arith.constant 1.0 : f32
          %a = hal.interface.binding.subspan binding(0) <writeonly> : memref<2x3xf32>
          %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<8xf32>
          scf.forall (%i, %j) in (2, 3) {
            memref.store %x, %a[%i, %j] : memref<2x3xf32>
          } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
          scf.forall (%i) in (8) {
            memref.store %x, %b[%i] : memref<8xf32>
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}
