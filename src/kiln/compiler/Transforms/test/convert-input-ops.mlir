// RUN: kiln-opt %s --split-input-file --verify-diagnostics --kiln-convert-input-ops | FileCheck %s

// What nothing sets is a constant.
// CHECK-NOT: @fixed
// CHECK-LABEL: func.func @read
// CHECK: arith.constant dense<[1, 2]> : tensor<2xi32>
util.global private @fixed = dense<[1, 2]> : tensor<2xi32>
func.func @read() -> tensor<2xi32> {
  %0 = util.global.load immutable @fixed : tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// CHECK: util.global private mutable @counter : i32
// CHECK: util.initializer
// CHECK: %[[START:.+]] = arith.constant 7 : i32
// CHECK: util.global.store %[[START]], @counter
// CHECK-LABEL: func.func @count
// CHECK: util.global.load @counter
// CHECK: util.global.store %{{.+}}, @counter
ml_program.global private mutable @counter(7 : i32) : i32
func.func @count() -> i32 {
  %0 = ml_program.global_load @counter : i32
  %1 = arith.addi %0, %0 : i32
  ml_program.global_store @counter = %1 : i32
  return %1 : i32
}

// -----

// The extents of a tensor are globals beside it; without an initial value it starts without elements.
// CHECK: util.global private mutable @t__extent_0 : index
// CHECK: util.global mutable @t : tensor<?x2xf32>
// CHECK: util.initializer
// CHECK: arith.constant dense<{{.*}}> : tensor<0x2xf32>
// CHECK-LABEL: func.func @set
// CHECK: %[[DIM:.+]] = tensor.dim %arg0
// CHECK: util.global.store %[[DIM]], @t__extent_0
// CHECK: %[[LOADED:.+]] = util.global.load @t : tensor<?x2xf32>
// CHECK: %[[EXTENT:.+]] = util.global.load @t__extent_0
// CHECK: flow.tensor.tie_shape %[[LOADED]] : tensor<?x2xf32>{%[[EXTENT]]}
util.global mutable @t : tensor<?x2xf32>
func.func @set(%a: tensor<?x2xf32>) -> tensor<?x2xf32> {
  util.global.store %a, @t : tensor<?x2xf32>
  %0 = util.global.load @t : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: func.func public @tensors
// CHECK: %[[VALUE:.+]] = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
// CHECK: %[[EXTENT:.+]] = util.optimization_barrier %c2
// CHECK: flow.tensor.reshape %[[VALUE]] : tensor<2xi32> -> tensor<?xi32>{%[[EXTENT]]}
// CHECK: flow.tensor.reshape %{{.+}} : tensor<?xi32> -> tensor<2xf32>
// CHECK: linalg.fill
// CHECK: return
util.func public @tensors(%v: f32) -> (tensor<?xi32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = flow.tensor.dynamic_constant dense<[1, 2]> : tensor<2xi32> -> tensor<?xi32>
  %1 = flow.tensor.bitcast %0 : tensor<?xi32> -> tensor<2xf32>
  %2 = flow.tensor.splat %v : f32, tensor<4xf32>
  util.return %0, %1, %2 : tensor<?xi32>, tensor<2xf32>, tensor<4xf32>
}

// -----

func.func @sizes(%a: tensor<3xi8>) -> tensor<2xi16> {
  // expected-error @+1 {{'flow.tensor.bitcast' of 'tensor<3xi8>', which has 3 bytes, to 'tensor<2xi16>', which has 4}}
  %0 = flow.tensor.bitcast %a : tensor<3xi8> -> tensor<2xi16>
  return %0 : tensor<2xi16>
}

// -----

// expected-error @+1 {{'weights' has the initial value #ml_program.extern : tensor<4xf32>, which Kiln does not compile; give its elements}}
ml_program.global private @weights(#ml_program.extern : tensor<4xf32>) : tensor<4xf32>

// -----

func.func @address(%p: !util.ptr<i32>) -> i32 {
  // expected-error @+1 {{'util.global.load.indirect' has an address that only the call knows; name the global with 'util.global.address'}}
  %0 = util.global.load.indirect %p : !util.ptr<i32> -> i32
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @split
// CHECK-NOT: affine.
// CHECK: arith.floordivsi
// CHECK: return
func.func @split(%i: index) -> (index, index) {
  %0:2 = affine.delinearize_index %i into (3, 4) : index, index
  return %0#0, %0#1 : index, index
}
