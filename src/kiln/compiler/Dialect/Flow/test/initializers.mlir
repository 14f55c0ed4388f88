// Dispatches of several initializers, which have no names of their own.
// RUN: kiln-opt %s --kiln-flow-outline-dispatches | FileCheck %s

// CHECK: flow.executable private @initializer_dispatch_0
// CHECK: flow.executable private @initializer_dispatch_1
util.global private mutable @a : tensor<4xf32>
util.global private mutable @b : tensor<8xf32>
util.initializer {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = flow.dispatch.region -> tensor<4xf32> {
    %one = arith.constant 1.0 : f32
    %fill = linalg.fill ins(%one : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    flow.return %fill : tensor<4xf32>
  }
  util.global.store %0, @a : tensor<4xf32>
  util.return
}
util.initializer {
  %empty = tensor.empty() : tensor<8xf32>
  %0 = flow.dispatch.region -> tensor<8xf32> {
    %one = arith.constant 2.0 : f32
    %fill = linalg.fill ins(%one : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
    flow.return %fill : tensor<8xf32>
  }
  util.global.store %0, @b : tensor<8xf32>
  util.return
}
