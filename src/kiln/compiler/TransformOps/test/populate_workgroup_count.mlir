// RUN: kiln-opt %s --split-input-file --transform-interpreter | FileCheck %s

// Iterations become the count, by the mapping of each dimension.

// CHECK-LABEL: hal.executable.export public @static
// CHECK-SAME:    count() -> (index, index, index)
// CHECK-DAG:     %[[X:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[Y:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[Z:.+]] = arith.constant 1 : index
// CHECK:         hal.return %[[X]], %[[Y]], %[[Z]]
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @static ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
      builtin.module {
        func.func @static() {
          scf.forall (%i, %j) = (0, 0) to (5, 4) step (2, 1) {
          } {mapping = [#gpu.block<y>, #gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// What the bounds are computed from is copied; push constants become arguments, extents of bindings their values.

// CHECK-LABEL: hal.executable.export public @dynamic
// CHECK-SAME:    count(%[[A:.+]]: index, %[[B:.+]]: index) -> (index, index, index)
// CHECK:         %[[ROUND:.+]] = arith.constant 63 : index
// CHECK:         %[[RAISED:.+]] = arith.addi %[[B]], %[[ROUND]] : index
// CHECK:         %[[SIXTYFOUR:.+]] = arith.constant 64 : index
// CHECK:         %[[X:.+]] = arith.divui %[[RAISED]], %[[SIXTYFOUR]] : index
// CHECK:         %[[ONE:.+]] = arith.constant 1 : index
// CHECK:         hal.return %[[X]], %[[A]], %[[ONE]]
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @dynamic ordinal(0) layout(#hal.pipeline.layout<constants = 2, bindings = [readonly]>)
      builtin.module {
        func.func @dynamic() {
          %c1 = arith.constant 1 : index
          %a = hal.interface.constant.load[0] : index
          %b = hal.interface.constant.load[1] : index
          %m = hal.interface.binding.subspan binding(0) <readonly> : memref<?x?xf32>{%a, %b}
          %t = bufferization.to_tensor %m restrict : memref<?x?xf32> to tensor<?x?xf32>
          %d = tensor.dim %t, %c1 : tensor<?x?xf32>
          %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%d]
          scf.forall (%i, %j) in (%x, %a) {
          } {mapping = [#gpu.block<x>, #gpu.block<y>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// Linear ids are one sequence along x. A second loop raises the count.

// CHECK-LABEL: hal.executable.export public @linear
// CHECK:         hal.return %c200{{.*}}, %c1{{.*}}, %c1{{.*}} : index, index, index
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @linear ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
      builtin.module {
        func.func @linear() {
          scf.forall (%i, %j, %k, %l) in (2, 3, 4, 5) {
          } {mapping = [#gpu.block<linear_dim_3>, #gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
          scf.forall (%i) in (200) {
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loops = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loops : (!transform.any_op) -> ()
    transform.yield
  }
}
