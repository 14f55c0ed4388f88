// RUN: kiln-opt %s --kiln-place-ops -split-input-file -verify-diagnostics | FileCheck %s

#first = #hal.device.affinity<@__device_0>

// What an op at another place is given comes through transfers, and what others are given of it. An empty tensor, and a
// fill of one, is made where it is used; a constant says by its transfer where that is.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.+]]: tensor<4x4xf32>, %[[N:.+]]: index)
// CHECK-NOT: affinity
// CHECK-DAG: %[[K:.+]] = arith.constant dense<2.0
// CHECK-DAG: %[[FILL:.+]] = linalg.fill
// CHECK: %[[XT:.+]] = flow.tensor.transfer %[[X]] : tensor<4x4xf32> to #hal.device.affinity<@__device_1>
// CHECK: %[[KT:.+]] = flow.tensor.transfer %[[K]] : tensor<4x4xf32> to #hal.device.affinity<@__device_1>
// CHECK: %[[P:.+]] = linalg.matmul ins(%[[XT]], %[[KT]] : {{.*}}outs(%[[FILL]]
// CHECK-NEXT: %[[E:.+]] = math.exp %[[P]] : tensor<4x4xf32>
// CHECK: tensor.extract %[[E]]
// CHECK: %[[BACK:.+]] = flow.tensor.transfer %[[E]] : tensor<4x4xf32> to #hal.device.affinity<@__device_0>
// CHECK: arith.addf %[[BACK]], %[[X]]
// CHECK: %[[BACK:.+]] = flow.tensor.transfer %[[E]] : tensor<4x4xf32> to #hal.device.affinity<@__device_0>
// CHECK: return %{{.+}}, %[[BACK]], %
func.func @product(%x: tensor<4x4xf32>, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf32>, f32) {
  %k = arith.constant dense<2.0> : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul {stream.affinity = #hal.device.affinity<@__device_1>}
      ins(%x, %k : tensor<4x4xf32>, tensor<4x4xf32>) outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 {stream.affinity = #hal.device.promise<@__device_1>} : tensor<4x4xf32>
  %read = tensor.extract %1[%n, %n] : tensor<4x4xf32>
  %2 = arith.addf %1, %x {stream.affinity = #first} : tensor<4x4xf32>
  return %2, %1, %read : tensor<4x4xf32>, tensor<4x4xf32>, f32
}

// -----

// The place of a function, or of control flow, is that of the ops in it; what control flow carries is the first device's.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: -> tensor<4xf32> {
// CHECK: scf.for {{.*}} iter_args(%[[T:.+]] = %{{.+}})
// CHECK-NEXT: %[[MOVED:.+]] = flow.tensor.transfer %[[T]] : tensor<4xf32> to #hal.device.affinity<@__device_1>
// CHECK-NEXT: flow.tensor.transfer %[[T]]
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[MOVED]]
// CHECK-NEXT: %[[BACK:.+]] = flow.tensor.transfer %[[SUM]] : tensor<4xf32> to #hal.device.affinity<@__device_0>
// CHECK-NEXT: scf.yield %[[BACK]]
// CHECK: %[[IN:.+]] = flow.tensor.transfer %{{.+}} : tensor<4xf32> to #hal.device.affinity<@__device_0, [1, 2]>
// CHECK: math.exp %[[IN]]
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {stream.affinity = #hal.device.affinity<@__device_0, [1, 2]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<4xf32> {
    %1 = arith.addf %t, %t : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } {stream.affinity = #hal.device.affinity<@__device_1>}
  %2 = math.exp %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A module's place is that of what has none.
// CHECK: module attributes {kiln.a = 1 : i64}
// CHECK: flow.tensor.transfer %{{.+}} to #hal.device.affinity<@__device_2>
// CHECK: math.exp
module attributes {kiln.a = 1 : i64, stream.affinity.default = #hal.device.affinity<@__device_2>} {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'math.exp' has an affinity to @gpu, which is no device; they are @__device_0 and so on, in the order of --device}}
  %0 = math.exp %x {stream.affinity = #hal.device.affinity<@gpu>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @queue(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'flow.tensor.transfer' has an affinity to queue 64; queues have numbers from 0 to 63}}
  %0 = flow.tensor.transfer %x : tensor<4xf32> to #hal.device.affinity<@__device_1, [64]>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' has an affinity that is none: "here"}}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {stream.affinity = "here"} {
  return %x : tensor<4xf32>
}

// -----

// Bodies for single elements have no places of their own; constants are where they are used.
// CHECK-LABEL: func.func @stablehlo(
// CHECK-NOT: affinity =
// CHECK: %[[ZERO:.+]] = stablehlo.constant
// CHECK: %[[X:.+]] = flow.tensor.transfer %arg0 : tensor<4xf32> to #hal.device.affinity<@__device_1>
// CHECK: flow.tensor.transfer %arg0
// CHECK-NEXT: %[[SUM:.+]] = stablehlo.add %[[X]]
// CHECK-NEXT: %[[START:.+]] = flow.tensor.transfer %[[ZERO]] : tensor<f32> to #hal.device.affinity<@__device_1>
// CHECK-NEXT: %[[ALL:.+]] = stablehlo.reduce(%[[SUM]] init: %[[START]])
// CHECK-NOT: transfer
// CHECK: %[[BACK:.+]] = flow.tensor.transfer %[[ALL]] : tensor<f32> to #hal.device.affinity<@__device_0>
// CHECK-NEXT: return %[[BACK]]
func.func @stablehlo(%x: tensor<4xf32>) -> tensor<f32> attributes {stream.affinity = #hal.device.affinity<@__device_1>} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.reduce(%0 init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = arith.addf %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %1 : tensor<f32>
}

// -----

// A loop's operations have places, and what it carries is the first device's.
// CHECK-LABEL: func.func @loop_of_stablehlo(
// CHECK: stablehlo.while(%[[T:.+]] = %arg0)
// CHECK: %[[AT:.+]] = flow.tensor.transfer %[[T]] : tensor<i32> to #hal.device.affinity<@__device_1>
// CHECK: %[[GOES:.+]] = stablehlo.compare {{.*}}%[[AT]]
// CHECK-NEXT: %[[BACK:.+]] = flow.tensor.transfer %[[GOES]] : tensor<i1> to #hal.device.affinity<@__device_0>
// CHECK-NEXT: stablehlo.return %[[BACK]]
// CHECK: %[[SUM:.+]] = stablehlo.add
// CHECK-NEXT: %[[BACK:.+]] = flow.tensor.transfer %[[SUM]] : tensor<i32> to #hal.device.affinity<@__device_0>
// CHECK-NEXT: stablehlo.return %[[BACK]]
func.func @loop_of_stablehlo(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%t = %x) : tensor<i32> attributes {stream.affinity = #hal.device.affinity<@__device_1>} cond {
    %1 = stablehlo.compare NE, %t, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %t, %t : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}

// -----

// What nothing is given to is computed on the first device.
// CHECK-LABEL: func.func @places(
// CHECK: %[[PLACES:.+]] = stablehlo.iota
// CHECK-NEXT: %[[MOVED:.+]] = flow.tensor.transfer %[[PLACES]] : tensor<4xi32> to #hal.device.affinity<@__device_1>
// CHECK: %[[X:.+]] = flow.tensor.transfer %arg0 : tensor<4xi32> to #hal.device.affinity<@__device_1>
// CHECK-NEXT: stablehlo.add %[[MOVED]], %[[X]]
// CHECK: return %{{.+}}, %[[PLACES]]
func.func @places(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) attributes {stream.affinity = #hal.device.affinity<@__device_1>} {
  %0 = stablehlo.iota dim = 0 : tensor<4xi32>
  %1 = stablehlo.add %0, %x : tensor<4xi32>
  return %1, %0 : tensor<4xi32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @gather(
// CHECK: %[[X:.+]] = flow.tensor.transfer %arg0 : tensor<8xi32> to #hal.device.affinity<@__device_1>
// CHECK: %[[I:.+]] = flow.tensor.transfer %arg1 : tensor<4xi32> to #hal.device.affinity<@__device_1>
// CHECK: %[[G:.+]] = iree_linalg_ext.gather {{.*}}ins(%[[X]], %[[I]]
// CHECK: %[[BACK:.+]] = flow.tensor.transfer %[[G]] : tensor<4xi32> to #hal.device.affinity<@__device_0>
// CHECK-NEXT: return %[[BACK]]
func.func @gather(%x: tensor<8xi32>, %i: tensor<4xi32>) -> tensor<4xi32> {
  %e = tensor.empty() : tensor<4xi32>
  %0 = iree_linalg_ext.gather {stream.affinity = #hal.device.affinity<@__device_1>} dimension_map = [0]
      ins(%x, %i : tensor<8xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @scan(%x: tensor<4xi32>, %o: tensor<4xi32>, %a: tensor<i32>) -> (tensor<4xi32>, tensor<i32>) {
  // expected-error @+1 {{'iree_linalg_ext.scan' has an affinity to #hal.device.affinity<@__device_1>, and becomes a loop of the host, whose tensors are the first device's; give it #hal.device.affinity<@__device_0>}}
  %0:2 = iree_linalg_ext.scan {stream.affinity = #hal.device.affinity<@__device_1>} dimension(0) inclusive(true)
      ins(%x : tensor<4xi32>) outs(%o, %a : tensor<4xi32>, tensor<i32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    iree_linalg_ext.yield %s : i32
  } -> tensor<4xi32>, tensor<i32>
  return %0#0, %0#1 : tensor<4xi32>, tensor<i32>
}
