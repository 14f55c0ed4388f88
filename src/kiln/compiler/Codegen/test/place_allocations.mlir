// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-codegen-place-allocations{stack-limit=256 local-memory-limit=8192}))' --allow-unregistered-dialect --split-input-file --verify-diagnostics | FileCheck %s

// What fits goes to the stack, in the entry block; the rest is cut from one argument, at multiples of 64 bytes.
// CHECK-LABEL: func.func @places
//  CHECK-SAME: (%[[LOCAL:.*]]: memref<768xi8> {hal.local_memory})
func.func @places() {
  // CHECK: %[[SMALL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4x8xf32>
  // CHECK: scf.for
  // CHECK-NOT: memref.alloc
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %c9 step %c1 {
    %small = memref.alloc() : memref<4x8xf32>
    "test.use"(%small) : (memref<4x8xf32>) -> ()
    memref.dealloc %small : memref<4x8xf32>
    // CHECK: %[[LARGE:.*]] = memref.view %[[LOCAL]][%{{.*}}][] : memref<768xi8> to memref<65xf32>
    %large = memref.alloc() : memref<65xf32>
    // CHECK: "test.use"(%[[LARGE]])
    "test.use"(%large) : (memref<65xf32>) -> ()
    // CHECK: %[[NEXT:.*]] = memref.view %[[LOCAL]][%{{.*}}][] : memref<768xi8> to memref<56xf64>
    %next = memref.alloc() : memref<56xf64>
    // CHECK: "test.use"(%[[NEXT]], %[[LARGE]])
    "test.use"(%next, %large) : (memref<56xf64>, memref<65xf32>) -> ()
  }
  return
}

// -----

// Buffers share memory where one is not used any more when the other is made; a view of it or a loop around a use
// counts as a use, and what leaves a block is in use to the end.
// CHECK-LABEL: func.func @shares
//  CHECK-SAME: %[[LOCAL:[a-z0-9]+]]: memref<2048xi8> {hal.local_memory})
func.func @shares(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: memref.view %[[LOCAL]][%c0{{[_0-9]*}}][] : memref<2048xi8> to memref<512xi8>
  %a = memref.alloc() : memref<512xi8>
  %part = memref.subview %a[0] [8] [1] : memref<512xi8> to memref<8xi8>
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%part) : (memref<8xi8>) -> ()
    // CHECK: memref.view %[[LOCAL]][%c512][] : memref<2048xi8> to memref<512xi8>
    %b = memref.alloc() : memref<512xi8>
    "test.use"(%b) : (memref<512xi8>) -> ()
  }
  // CHECK: memref.view %[[LOCAL]][%c1024][] : memref<2048xi8> to memref<512xi8>
  %d = memref.alloc() : memref<512xi8>
  %e = scf.if %c -> memref<512xi8> {
    // CHECK: memref.view %[[LOCAL]][%c1536][] : memref<2048xi8> to memref<512xi8>
    %f = memref.alloc() : memref<512xi8>
    scf.yield %f : memref<512xi8>
  } else {
    scf.yield %d : memref<512xi8>
  }
  // CHECK: memref.view %[[LOCAL]][%c0{{[_0-9]*}}][] : memref<2048xi8> to memref<1024xi8>
  %g = memref.alloc() : memref<1024xi8>
  "test.use"(%e, %g) : (memref<512xi8>, memref<1024xi8>) -> ()
  return
}

// -----

// A dynamic size is enough where it has a constant bound.
// CHECK-LABEL: func.func @bounded
//  CHECK-SAME: (%[[N:.*]]: index)
func.func @bounded(%n: index) {
  // CHECK: %[[BYTES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xi8>
  // CHECK: %[[ROWS:.*]] = affine.min
  // CHECK: memref.view %[[BYTES]][%{{.*}}][%[[ROWS]]] : memref<64xi8> to memref<?x4xf32>
  %rows = affine.min affine_map<(d0) -> (d0, 4)>(%n)
  %m = memref.alloc(%rows) : memref<?x4xf32>
  "test.use"(%m) : (memref<?x4xf32>) -> ()
  return
}

// -----

func.func @unbounded(%n: index) {
  // expected-error @+1 {{allocates a buffer whose size has no constant bound; a kernel does not allocate from the heap}}
  %m = memref.alloc(%n) : memref<?xf32>
  "test.use"(%m) : (memref<?xf32>) -> ()
  return
}

// -----

func.func @too_much() {
  // expected-error @+1 {{brings the temporary buffers of this dispatch to 8256 bytes of local memory, more than the 8192}}
  %m = memref.alloc() : memref<8193xi8>
  "test.use"(%m) : (memref<8193xi8>) -> ()
  return
}

// -----

func.func @carried(%n: index, %first: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %first) -> (memref<4xf32>) {
    // expected-error @+1 {{allocates a buffer that is carried from one iteration of a loop to the next}}
    %m = memref.alloc() : memref<4xf32>
    scf.yield %m : memref<4xf32>
  }
  return
}
