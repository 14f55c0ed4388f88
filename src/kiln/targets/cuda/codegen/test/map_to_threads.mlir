// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-cuda-map-to-threads))' --split-input-file | FileCheck %s

// The fill becomes what the sums start with, each element is one thread's, and no barrier is needed.
// CHECK-LABEL: func.func @matmul
//  CHECK-SAME: kiln.threads = 256 : i32
//       CHECK:   gpu.block_id x
//       CHECK:   scf.for
//       CHECK:     %[[THREAD:.*]] = gpu.thread_id x
//   CHECK-NOT:     gpu.barrier
//       CHECK:     scf.for %{{.*}} = %[[THREAD]] to
//       CHECK:       %[[SUM:.*]] = scf.for {{.*}} iter_args({{.*}} = %cst)
//       CHECK:         math.fma
//       CHECK:       memref.store %[[SUM]]
//   CHECK-NOT:     gpu.barrier
func.func @matmul(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<32x64xf32>, memref<64x32xf32>) outs(%c : memref<32x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// Few elements, and much to sum up for each: threads share an element, and combine what they have.
// CHECK-LABEL: func.func @row_sums
// Their memory is allocated before anything is read: it must not be that of what others still read.
//       CHECK:   %[[SHARED:.*]] = memref.alloc() : memref<256xf32>
//       CHECK:   %[[PART:.*]] = scf.for
//       CHECK:   memref.store %[[PART]], %[[SHARED]]
//       CHECK:   gpu.barrier
//       CHECK:   scf.if
//       CHECK:     arith.addf
//       CHECK:   gpu.barrier
//  Workgroups that come after the one use the same memory.
//       CHECK:   gpu.barrier
//       CHECK: return
func.func @row_sums(%a: memref<8x1000xf32>, %c: memref<8xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<8x1000xf32>) outs(%c : memref<8xf32>) dimensions = [1]
  return
}

// -----

// What one operation leaves in memory others read after a barrier.
// CHECK-LABEL: func.func @two_steps
//       CHECK:   memref.store
//       CHECK:   gpu.barrier
//       CHECK:   memref.load
func.func @two_steps(%a: memref<32xf32>, %b: memref<32xf32>, %c: memref<32xf32>) {
  linalg.exp ins(%a : memref<32xf32>) outs(%b : memref<32xf32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (31 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%b : memref<32xf32>) outs(%c : memref<32xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// A loop of its own that writes memory runs in one thread, which is told; so does a single store.
// CHECK-LABEL: func.func @scan
//  CHECK-SAME: kiln.remarks = [#util.remark<one_thread, "scan"
//       CHECK:   %[[FIRST:.*]] = arith.cmpi eq
//       CHECK:   scf.if %[[FIRST]]
//       CHECK:     scf.for
//       CHECK:       memref.store
func.func @scan(%a: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c32 step %c1 iter_args(%before = %zero) -> f32 {
    %x = memref.load %a[%i] : memref<32xf32>
    %next = arith.addf %x, %before : f32
    memref.store %next, %a[%i] : memref<32xf32>
    scf.yield %next : f32
  }
  return
}
