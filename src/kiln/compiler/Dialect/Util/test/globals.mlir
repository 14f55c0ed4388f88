// RUN: kiln-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: util.global private mutable @a = dense<1> : tensor<2xi32>
// CHECK: util.global private @b = dense<1> : tensor<2xi32> : tensor<?xi32>
// CHECK: util.global @c : f32
// CHECK: util.global.load immutable @b : tensor<?xi32>
util.global private mutable @a = dense<1> : tensor<2xi32>
util.global private @b = dense<1> : tensor<2xi32> : tensor<?xi32>
util.global @c : f32
util.func @load() -> tensor<?xi32> {
  %0 = util.global.load immutable @b : tensor<?xi32>
  util.return %0 : tensor<?xi32>
}

// -----

util.global @fixed : i32
util.initializer {
  %0 = arith.constant 1 : i32
  util.global.store %0, @fixed : i32
  util.return
}
util.func @store(%a: i32) {
  // expected-error @+1 {{sets @fixed, which is not mutable, outside of an initializer}}
  util.global.store %a, @fixed : i32
  util.return
}

// -----

// expected-error @+1 {{has type 'tensor<3xi32>', but its initial value has type 'tensor<2xi32>'}}
util.global @other = dense<1> : tensor<2xi32> : tensor<3xi32>
