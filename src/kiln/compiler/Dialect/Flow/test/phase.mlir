// RUN: kiln-compile %s --compile-to=flow | FileCheck %s

// Equal dispatches share an executable; names say what is computed, with D for extents that are known at run time only.
// CHECK: flow.executable private @twice_dispatch_0
// CHECK: func.func @twice_dispatch_0_matmul_64x32x16_f32
// CHECK-NOT: flow.executable private @twice_dispatch_1
// CHECK-LABEL: util.func @twice
// CHECK-COUNT-2: flow.dispatch @twice_dispatch_0::@twice_dispatch_0_matmul_64x32x16_f32
func.func @twice(%a: tensor<64x16xf32>, %b: tensor<16x32xf32>, %c: tensor<64x32xf32>, %d: tensor<64x32xf32>)
    -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<64x16xf32>, tensor<16x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<64x16xf32>, tensor<16x32xf32>) outs(%d : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0, %1 : tensor<64x32xf32>, tensor<64x32xf32>
}

// The matmul updates its third operand: the result is tied to it.
// CHECK: func.func @mixed_dispatch_0_matmul_Dx8x4_i8xi8xi32(%[[A:.+]]: tensor<?x4xi8>, %[[B:.+]]: tensor<4x8xi8>, %[[C:.+]]: tensor<?x8xi32>, %[[M:.+]]: index,
// CHECK: flow.tensor.tie_shape %[[A]] : tensor<?x4xi8>{%[[M]]}
// CHECK-LABEL: util.func @mixed
// CHECK: flow.dispatch @mixed_dispatch_0::@mixed_dispatch_0_matmul_Dx8x4_i8xi8xi32
// CHECK-SAME: tied [2]
func.func @mixed(%a: tensor<?x4xi8>, %b: tensor<4x8xi8>, %c: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x4xi8>, tensor<4x8xi8>) outs(%c : tensor<?x8xi32>) -> tensor<?x8xi32>
  return %0 : tensor<?x8xi32>
}

// Reshapes, fills and single elements need no dispatch.
// CHECK-LABEL: util.func @no_dispatch
// CHECK-NOT: flow.dispatch
// CHECK-DAG: flow.tensor.reshape
// CHECK-DAG: flow.tensor.splat
// CHECK-DAG: flow.tensor.load
func.func @no_dispatch(%a: tensor<4xf32>, %i: index) -> (tensor<2x2xf32>, tensor<8xf32>, f32) {
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %2 = tensor.extract %a[%i] : tensor<4xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<8xf32>, f32
}

// A tensor goes into itself: the kernel reads it and updates a copy.
// CHECK: func.func @itself_dispatch_0_insert_slice_DxD_f32(%[[SOURCE:.+]]: tensor<?x?xf32>, %[[UPDATED:.+]]: tensor<?x?xf32>,
// CHECK-LABEL: util.func @itself
// CHECK: flow.dispatch @itself_dispatch_0::@itself_dispatch_0_insert_slice_DxD_f32
// CHECK-SAME: tied [1]
func.func @itself(%a: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %0 = tensor.insert_slice %a into %a[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
