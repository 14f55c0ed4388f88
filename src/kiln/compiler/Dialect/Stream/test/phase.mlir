// RUN: kiln-compile %s --compile-to=stream | FileCheck %s

// Independent dispatches run at the same time; what needs both comes after them, in the same submission.
// CHECK-LABEL: util.func @diamond
// CHECK: stream.cmd.execute
// CHECK: stream.cmd.concurrent {
// CHECK-NEXT: stream.cmd.dispatch @diamond_dispatch_0
// CHECK-NEXT: stream.cmd.dispatch @diamond_dispatch_1
// CHECK-NEXT: }
// CHECK-NEXT: stream.cmd.dispatch @diamond_dispatch_1
// CHECK-NOT: stream.cmd.execute
// CHECK: stream.timepoint.await
func.func @diamond(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// The four transients of a chain of five need no more than the two that are alive at once: 2 x 1024 bytes.
// CHECK-LABEL: util.func @chain
// CHECK-DAG: %[[SIZE:.+]] = arith.constant 2048 : index
// CHECK: stream.resource.alloc transient : !stream.resource{%[[SIZE]]}
func.func @chain(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%1, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = linalg.matmul ins(%2, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = linalg.matmul ins(%3, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}

// Two results never share memory, and neither is the caller's input.
// CHECK-LABEL: util.func @same_twice
// CHECK-COUNT-2: stream.resource.alloc external
// CHECK: stream.cmd.concurrent {
// CHECK-COUNT-2: stream.cmd.copy
func.func @same_twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}

// The caller's tensor is copied before it is updated in place.
// CHECK-LABEL: util.func @update
// CHECK: stream.cmd.copy
// CHECK-NEXT: stream.cmd.dispatch
func.func @update(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// What is computed in place of its only use is not.
// CHECK-LABEL: util.func @update_own
// CHECK-NOT: stream.cmd.copy
// CHECK: util.return
func.func @update_own(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %a : tensor<4x4xf32>
  %1 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// The host waits where it asks for an element, and not before.
// CHECK-LABEL: util.func @host_load
// CHECK: stream.cmd.execute
// CHECK: stream.timepoint.await
// CHECK-NEXT: stream.resource.load
func.func @host_load(%a: tensor<4xf32>) -> f32 {
  %0 = math.exp %a : tensor<4xf32>
  %i = arith.constant 2 : index
  %1 = tensor.extract %0[%i] : tensor<4xf32>
  return %1 : f32
}

// What is computed and returned twice is copied once: one of the results is the memory that it was computed in.
// CHECK-LABEL: util.func @value_twice
// CHECK-COUNT-2: stream.resource.alloc external
// CHECK-NOT: stream.resource.alloc
// CHECK: stream.cmd.dispatch
// CHECK-NEXT: stream.cmd.copy
// CHECK-NOT: stream.cmd.copy
// CHECK: util.return
func.func @value_twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = math.exp %a : tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// What others read is returned as it is; what updates it in place gets a copy.
// CHECK-LABEL: util.func @returned_and_read
// CHECK-COUNT-3: stream.resource.alloc external
// CHECK-NOT: stream.resource.alloc
// CHECK: stream.cmd.copy
// CHECK-NOT: stream.cmd.copy
// CHECK: util.return
func.func @returned_and_read(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = math.exp %a : tensor<4x4xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [0]
  %2 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>
}

// A constant of the function is used where it lies, also in a loop; the host waits for earlier turns, and once at the end.
// CHECK-LABEL: util.func @constant_in_loop
// CHECK: %[[CONSTANTS:.+]] = util.global.load @__constants
// CHECK: scf.for
// CHECK-NEXT: stream.resource.alloc
// CHECK: stream.cmd.execute {{.*}} with(%{{.+}}, %[[CONSTANTS]],
// CHECK: stream.timepoint.end_turn
// CHECK-NEXT: scf.yield
// CHECK: stream.cmd.execute
// CHECK-NOT: stream.cmd.execute
// CHECK: stream.timepoint.await %
// CHECK-NOT: stream.timepoint.await
// CHECK: util.return
func.func @constant_in_loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %1 = arith.addf %x, %k : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = arith.mulf %0, %k : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Control flow without work of its own does not end a submission.
// CHECK-LABEL: util.func @host_loop
// CHECK: scf.for
// CHECK-NEXT: arith.muli
// CHECK: stream.cmd.execute
// CHECK-COUNT-2: stream.cmd.dispatch
// CHECK-NOT: stream.cmd.execute
// CHECK: util.return
func.func @host_loop(%a: tensor<4x4xf32>, %z: tensor<4x4xf32>, %n: i64) -> (tensor<4x4xf32>, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %n) -> i64 {
    %3 = arith.muli %x, %n : i64
    scf.yield %3 : i64
  }
  %2 = linalg.matmul ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %1 : tensor<4x4xf32>, i64
}

// What one submission has made, the next one updates where it is; as a result of the program it is the caller's.
// CHECK-LABEL: util.func @update_of_an_earlier_submission
// CHECK: %[[MADE:.+]] = stream.resource.alloc external
// CHECK: stream.cmd.execute {{.*}}with(%[[MADE]] :
// CHECK: stream.cmd.fill
// CHECK: stream.resource.load
// CHECK-NOT: stream.resource.alloc
// CHECK: stream.cmd.execute {{.*}}%[[MADE]]
// CHECK: stream.tensor.export %[[MADE]]
func.func @update_of_an_earlier_submission(%a: tensor<4xi1>, %x: tensor<3x3xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %first = tensor.extract %a[%c0] : tensor<4xi1>
  cf.assert %first, "the first is false"
  %r = tensor.insert_slice %x into %ones[1, 1] [3, 3] [2, 2] : tensor<3x3xf32> into tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
