// RUN: kiln-opt %s --split-input-file --verify-diagnostics --kiln-flow-lower-narrow-types | FileCheck %s

// Elements have a byte each, and are masked after each operation; callers see them packed.
// CHECK-LABEL: util.func @integers
// CHECK: %[[IN:.+]] = hal.tensor.import %arg0 : !hal.buffer_view -> tensor<2xi8>
// CHECK: %[[PARTS:.+]] = linalg.generic {{.*}} ins(%[[IN]] : tensor<2xi8>) outs(%{{.+}} : tensor<2x2xi8>)
// CHECK: flow.tensor.reshape %[[PARTS]] : tensor<2x2xi8> -> tensor<4xi8>
// CHECK: arith.addi %{{.+}} : i8
// CHECK: arith.andi %{{.+}} : i8
// CHECK: hal.tensor.export %{{.+}} : tensor<2xi8> as tensor<4xi4> -> !hal.buffer_view
util.func @integers(%view: !hal.buffer_view) -> !hal.buffer_view {
  %a = hal.tensor.import %view : !hal.buffer_view -> tensor<4xi4>
  %e = tensor.empty() : tensor<4xi4>
  %0 = linalg.add ins(%a, %a : tensor<4xi4>, tensor<4xi4>) outs(%e : tensor<4xi4>) -> tensor<4xi4>
  %1 = hal.tensor.export %0 : tensor<4xi4> -> !hal.buffer_view
  util.return %1 : !hal.buffer_view
}

// -----

// Inputs that a reduction widens are widened before it. No float of a byte is left.
// CHECK-LABEL: util.func @product
// CHECK-NOT: f8E5M2
// CHECK: %[[WIDE:.+]] = linalg.generic {{.*}} ins(%{{.+}} : tensor<4x8xi8>) outs(%{{.+}} : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[WIDE]], %{{.+}} : tensor<4x8xf32>, tensor<8x2xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
util.func @product(%a: tensor<4x8xf8E5M2>, %b: tensor<8x2xf8E5M2>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf8E5M2>, tensor<8x2xf8E5M2>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  util.return %0 : tensor<4x2xf32>
}

// -----

// Constants and globals are bytes; truth values that are said to be packed are as others are.
// CHECK: util.global private @g : tensor<2xi8>
// CHECK-LABEL: util.func @constants
// CHECK: arith.constant dense<[1, 15]> : tensor<2xi8>
// CHECK: arith.constant 60 : i8
// CHECK: flow.tensor.reshape %{{.+}} : tensor<1x8xi1> -> tensor<8xi1>
util.global private @g : tensor<2xf8E8M0FNU>
util.func @constants(%a: tensor<1xi8>) -> (tensor<2xi4>, f8E5M2, tensor<8xi1, #iree_encoding.packed_storage>) {
  %0 = arith.constant dense<[1, -1]> : tensor<2xi4>
  %1 = arith.constant 1.0 : f8E5M2
  %2 = flow.tensor.bitcast %a : tensor<1xi8> -> tensor<8xi1, #iree_encoding.packed_storage>
  util.return %0, %1, %2 : tensor<2xi4>, f8E5M2, tensor<8xi1, #iree_encoding.packed_storage>
}

// -----

util.func @other(%a: i4) -> i4 {
  // expected-error @+1 {{'math.ctpop' is not supported on 'i4'; widen it first}}
  %0 = math.ctpop %a : i4
  util.return %0 : i4
}

// -----

util.func @rounding(%a: f32) -> f8E5M2 {
  // expected-error @+1 {{'arith.truncf' to 'f8E5M2' rounds to nearest even, and in no other way}}
  %0 = arith.truncf %a toward_zero : f32 to f8E5M2
  util.return %0 : f8E5M2
}
