// RUN: kiln-opt %s --kiln-flow-outline-dispatches --split-input-file --verify-diagnostics | FileCheck %s

// Regions that compute the same share an executable. The third operand is updated, and tied to the result.
// CHECK: flow.executable private @twice_dispatch_0 {
// CHECK: func.func @twice_dispatch_0_matmul_64x32x16_f32(%[[A:.+]]: tensor<64x16xf32>, %[[B:.+]]: tensor<16x32xf32>, %[[C:.+]]: tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK-NEXT: linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
// CHECK-NOT: flow.executable
// CHECK-LABEL: util.func public @twice
// CHECK-SAME: (%[[A:.+]]: tensor<64x16xf32>, %[[B:.+]]: tensor<16x32xf32>, %[[C:.+]]: tensor<64x32xf32>, %[[D:.+]]: tensor<64x32xf32>)
// CHECK-NEXT: flow.dispatch @twice_dispatch_0::@twice_dispatch_0_matmul_64x32x16_f32(%[[A]], %[[B]], %[[C]]) tied [2]
// CHECK-NEXT: flow.dispatch @twice_dispatch_0::@twice_dispatch_0_matmul_64x32x16_f32(%[[A]], %[[B]], %[[D]]) tied [2]
// CHECK-NEXT: util.return
util.func public @twice(%a: tensor<64x16xf32>, %b: tensor<16x32xf32>, %c: tensor<64x32xf32>, %d: tensor<64x32xf32>)
    -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = flow.dispatch.region -> tensor<64x32xf32> {
    %2 = linalg.matmul ins(%a, %b : tensor<64x16xf32>, tensor<16x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
    flow.return %2 : tensor<64x32xf32>
  }
  %1 = flow.dispatch.region -> tensor<64x32xf32> {
    %2 = linalg.matmul ins(%a, %b : tensor<64x16xf32>, tensor<16x32xf32>) outs(%d : tensor<64x32xf32>) -> tensor<64x32xf32>
    flow.return %2 : tensor<64x32xf32>
  }
  util.return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

// -----

// Extents become operands, and are tied to the tensors in the executable. An init that is only overwritten is no operand.
// CHECK: func.func @dynamic_dispatch_0_exp_Dx4_f32(%[[A:.+]]: tensor<?x4xf32>, %[[N:.+]]: index) -> tensor<?x4xf32>
// CHECK-NEXT: %[[T:.+]] = flow.tensor.tie_shape %[[A]] : tensor<?x4xf32>{%[[N]]}
// CHECK-NEXT: %[[E:.+]] = tensor.empty(%[[N]])
// CHECK-NEXT: %[[R:.+]] = linalg.exp ins(%[[T]] : {{.*}}) outs(%[[E]] :
// CHECK-NEXT: %[[S:.+]] = flow.tensor.tie_shape %[[R]] : tensor<?x4xf32>{%[[N]]}
// CHECK-NEXT: return %[[S]]
// CHECK-LABEL: util.func public @dynamic
// CHECK: flow.dispatch @dynamic_dispatch_0::@dynamic_dispatch_0_exp_Dx4_f32(%{{.+}}, %[[N:.+]]) {%[[N]]} tied [-1] :
util.func public @dynamic(%a: tensor<?x4xf32>, %n: index, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %t = flow.tensor.tie_shape %a : tensor<?x4xf32>{%n}
  %u = flow.tensor.tie_shape %c : tensor<?x4xf32>{%n}
  %0 = flow.dispatch.region{%n} -> tensor<?x4xf32> {
    %1 = linalg.exp ins(%t : tensor<?x4xf32>) outs(%u : tensor<?x4xf32>) -> tensor<?x4xf32>
    flow.return %1 : tensor<?x4xf32>
  }
  util.return %0 : tensor<?x4xf32>
}

// -----

// expected-error @+1 {{'util.func' gives a tensor of type 'tensor<?xf32>' whose dynamic extents cannot be known on the host}}
util.func public @hidden(%a: tensor<?xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch.region -> tensor<4xf32> {
    %1 = tensor.extract_slice %a[0] [4] [1] : tensor<?xf32> to tensor<4xf32>
    flow.return %1 : tensor<4xf32>
  }
  util.return %0 : tensor<4xf32>
}
