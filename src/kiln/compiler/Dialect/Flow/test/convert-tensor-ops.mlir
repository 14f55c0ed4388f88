// RUN: kiln-opt %s --kiln-flow-convert-tensor-ops --split-input-file --verify-diagnostics | FileCheck %s

// Fills, casts, reshapes and single elements need no dispatch; what they were made from goes.
// CHECK-LABEL: util.func @main
// CHECK-SAME: (%[[N:.+]]: index, %[[I:.+]]: index)
// CHECK: %[[ONE:.+]] = arith.constant 1.0
// CHECK: %[[SPLAT:.+]] = flow.tensor.splat %[[ONE]] : f32, tensor<?xf32>{%[[N]]}
// CHECK-NEXT: %[[X:.+]] = flow.tensor.load %[[SPLAT]][%[[I]]] : tensor<?xf32> -> f32
// CHECK-NEXT: %[[S:.+]] = flow.tensor.reshape %[[SPLAT]] : tensor<?xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[R:.+]] = flow.tensor.reshape %[[S]] : tensor<8xf32> -> tensor<2x4xf32>
// CHECK-NEXT: util.return %[[SPLAT]], %[[X]], %[[R]], %[[N]]
util.func @main(%n: index, %i: index) -> (tensor<?xf32>, f32, tensor<2x4xf32>, index) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %x = tensor.extract %f[%i] : tensor<?xf32>
  %s = tensor.cast %f : tensor<?xf32> to tensor<8xf32>
  %r = tensor.expand_shape %s [[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %d = tensor.dim %f, %c0 : tensor<?xf32>
  util.return %f, %x, %r, %d : tensor<?xf32>, f32, tensor<2x4xf32>, index
}

// -----

// A dispatch stays as it is.
// CHECK-LABEL: util.func @dispatch
// CHECK: flow.dispatch.region
// CHECK-NEXT: tensor.extract_slice
// CHECK-NEXT: tensor.cast
util.func @dispatch(%a: tensor<8xf32>) -> tensor<?xf32> {
  %c4 = arith.constant 4 : index
  %0 = flow.dispatch.region{%c4} -> tensor<?xf32> {
    %1 = tensor.extract_slice %a[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %2 = tensor.cast %1 : tensor<4xf32> to tensor<?xf32>
    flow.return %2 : tensor<?xf32>
  }
  util.return %0 : tensor<?xf32>
}

// -----

// expected-error @+1 {{'util.func' gives a tensor of type 'tensor<?xf32>' whose dynamic extents cannot be known on the host}}
util.func @hidden(%a: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  util.return %d : index
}
