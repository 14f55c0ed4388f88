// RUN: kiln-opt %s --split-input-file --transform-interpreter | FileCheck %s

// The result is computed in place: no allocation, no copy; bindings keep their memory space.

// CHECK-LABEL: func.func @in_place()
// CHECK:         %[[A:.+]] = hal.interface.binding.subspan binding(0) <readonly> : memref<4x8xf32, #hal.descriptor_type<storage_buffer>>
// CHECK:         %[[B:.+]] = hal.interface.binding.subspan binding(1) <writeonly> : memref<4x8xf32, #hal.descriptor_type<storage_buffer>>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.forall (%[[I:.+]]) in (4) {
// CHECK:           %[[FROM:.+]] = memref.subview %[[A]][%[[I]], 0] [1, 8]
// CHECK:           %[[TO:.+]] = memref.subview %[[B]][%[[I]], 0] [1, 8]
// CHECK:           linalg.exp ins(%[[FROM]]{{.*}}) outs(%[[TO]]
// CHECK-NOT:     memref.copy
module attributes {transform.with_named_sequence} {
  func.func @in_place() {
    %a = hal.interface.binding.subspan binding(0) <readonly> : memref<4x8xf32, #hal.descriptor_type<storage_buffer>>
    %in = bufferization.to_tensor %a restrict : memref<4x8xf32, #hal.descriptor_type<storage_buffer>> to tensor<4x8xf32>
    %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<4x8xf32, #hal.descriptor_type<storage_buffer>>
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.exp ins(%in : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    bufferization.materialize_in_destination %r in restrict writable %b
      : (tensor<4x8xf32>, memref<4x8xf32, #hal.descriptor_type<storage_buffer>>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %exp tile_sizes [1] (mapping = [#gpu.block<x>])
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.eliminate_empty_tensors %function : (!transform.any_op) -> ()
    %bufferized = transform.kiln.bufferize %function : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// A binding that is only read is not written, whatever that takes.

// CHECK-LABEL: func.func @read_only()
// CHECK:         %[[A:.+]] = hal.interface.binding.subspan binding(0) <readonly>
// CHECK:         %[[B:.+]] = hal.interface.binding.subspan binding(1) <writeonly>
// CHECK:         %[[COPY:.+]] = memref.alloc()
// CHECK:         memref.copy %[[A]], %[[COPY]]
// CHECK:         linalg.generic {{.*}} outs(%[[COPY]] :
// CHECK:         memref.copy %[[COPY]], %[[B]]
module attributes {transform.with_named_sequence} {
  func.func @read_only() {
    %a = hal.interface.binding.subspan binding(0) <readonly> : memref<8xf32, #hal.descriptor_type<storage_buffer>>
    %in = bufferization.to_tensor %a restrict : memref<8xf32, #hal.descriptor_type<storage_buffer>> to tensor<8xf32>
    %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<8xf32, #hal.descriptor_type<storage_buffer>>
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%in : tensor<8xf32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<8xf32>
    bufferization.materialize_in_destination %r in restrict writable %b
      : (tensor<8xf32>, memref<8xf32, #hal.descriptor_type<storage_buffer>>) -> ()
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %bufferized = transform.kiln.bufferize %function : (!transform.any_op) -> (!transform.any_op)
    transform.yield
  }
}
