// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-place-allocations{stack-limit=256 local-memory-limit=8192}))' --allow-unregistered-dialect --split-input-file --verify-diagnostics | FileCheck %s

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
    // CHECK: %[[C0:.*]] = arith.constant 0 : index
    // CHECK: %[[LARGE:.*]] = memref.view %[[LOCAL]][%[[C0]]][] : memref<768xi8> to memref<65xf32>
    %large = memref.alloc() : memref<65xf32>
    // CHECK: "test.use"(%[[LARGE]])
    "test.use"(%large) : (memref<65xf32>) -> ()
    // CHECK: %[[C320:.*]] = arith.constant 320 : index
    // CHECK: %[[NEXT:.*]] = memref.view %[[LOCAL]][%[[C320]]][] : memref<768xi8> to memref<56xf64>
    %next = memref.alloc() : memref<56xf64>
    // CHECK: "test.use"(%[[NEXT]])
    "test.use"(%next) : (memref<56xf64>) -> ()
  }
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
