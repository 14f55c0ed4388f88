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

// A row is shared by four warps, which tell each other what they have. Nothing is known of the memory: elements are
// loaded one by one.
// CHECK-LABEL: func.func @row_sums
//  CHECK-SAME:   kiln.threads = 128 : i32
//       CHECK:   %[[SHARED:.*]] = memref.alloc() : memref<4xf32>
//       CHECK:   scf.for
//   CHECK-NOT:     vector.load
//       CHECK:     memref.load %arg0
//       CHECK:     gpu.shuffle xor
//       CHECK:     memref.store %{{.*}}, %[[SHARED]]
//       CHECK:     gpu.barrier
//       CHECK:     memref.load %[[SHARED]]
//       CHECK:     gpu.shuffle xor
//       CHECK:     memref.store %{{.*}}, %arg1
//  The next row uses the same memory, and so does the next workgroup.
//       CHECK:     gpu.barrier
//       CHECK:   }
//       CHECK:   gpu.barrier
//       CHECK: return
func.func @row_sums(%a: memref<8x1000xf32>, %c: memref<8xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<8x1000xf32>) outs(%c : memref<8xf32>) dimensions = [1]
  return
}

// -----

// Threads that share a reduction which is not contiguous combine what they have in shared memory.
// CHECK-LABEL: func.func @strided_sums
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
func.func @strided_sums(%a: memref<8x1000x2xf32>, %c: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k, 1)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<8x1000x2xf32>) outs(%c : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %x, %sum : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// The operations of a row keep it in registers: its memory is not needed, and the row is loaded once.
// CHECK-LABEL: func.func @row_group
//   CHECK-NOT:   memref.alloc() : memref<4x256xf32>
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<4x256xf32>
//   CHECK-NOT:   vector.load
// CHECK-COUNT-2: vector.store
//   CHECK-NOT:   memref.store
//       CHECK: return
func.func @row_group() {
  %lowest = arith.constant 0xFF800000 : f32
  %a = hal.interface.binding.subspan binding(0) <readonly> : memref<4x256xf32>
  %c = hal.interface.binding.subspan binding(1) <writeonly> : memref<4x256xf32>
  %max = memref.alloc() : memref<4xf32>
  %kept = memref.alloc() : memref<4x256xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<4x256xf32>) outs(%max : memref<4xf32>) {
  ^bb0(%x: f32, %most: f32):
    %next = arith.maximumf %x, %most : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %max : memref<4x256xf32>, memref<4xf32>) outs(%kept : memref<4x256xf32>) {
  ^bb0(%x: f32, %most: f32, %o: f32):
    %d = arith.subf %x, %most : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%kept : memref<4x256xf32>) outs(%c : memref<4x256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %d = arith.addf %x, %x : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// A workgroup at the edge has less than a tile, which it computes element by element.
// CHECK-LABEL: func.func @edge
//       CHECK:   scf.if
//       CHECK:     vector.load
//       CHECK:     vector.store
//       CHECK:   } else {
//   CHECK-NOT:     vector
//       CHECK:     memref.load
//       CHECK:     memref.store
func.func @edge() {
  %a = hal.interface.binding.subspan binding(0) <readonly> : memref<5000xf32>
  %c = hal.interface.binding.subspan binding(1) <writeonly> : memref<5000xf32>
  %id = hal.interface.workgroup.id[0] : index
  %at = affine.apply affine_map<()[s] -> (s * 2048)>()[%id]
  %size = affine.min affine_map<()[s] -> (s * -2048 + 5000, 2048)>()[%id]
  %x = memref.subview %a[%at] [%size] [1] : memref<5000xf32> to memref<?xf32, strided<[1], offset: ?>>
  %y = memref.subview %c[%at] [%size] [1] : memref<5000xf32> to memref<?xf32, strided<[1], offset: ?>>
  linalg.exp ins(%x : memref<?xf32, strided<[1], offset: ?>>) outs(%y : memref<?xf32, strided<[1], offset: ?>>)
  return
}

// -----

// What does not start at a multiple of a vector is loaded by elements.
// CHECK-LABEL: func.func @unaligned
//   CHECK-NOT:   vector.load
//       CHECK: return
func.func @unaligned() {
  %a = hal.interface.binding.subspan binding(0) <readonly> : memref<5000xf32>
  %c = hal.interface.binding.subspan binding(1) <writeonly> : memref<4096xf32>
  %x = memref.subview %a[3] [4096] [1] : memref<5000xf32> to memref<4096xf32, strided<[1], offset: 3>>
  linalg.exp ins(%x : memref<4096xf32, strided<[1], offset: 3>>) outs(%c : memref<4096xf32>)
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

// -----

// All threads of a row have read what one of them overwrites.
// CHECK-LABEL: func.func @row_update
//       CHECK:   memref.load %arg1
//       CHECK:   gpu.barrier
//       CHECK:   memref.store %{{.*}}, %arg1
func.func @row_update(%a: memref<4x32xf32>, %sums: memref<4xf32>, %c: memref<4x32xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<4x32xf32>) outs(%sums : memref<4xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%a, %sums : memref<4x32xf32>, memref<4xf32>) outs(%c : memref<4x32xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %d = arith.subf %x, %s : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// Of a long row the elements are computed again where they are used: the memory between operations is not.
// CHECK-LABEL: func.func @long_rows
//  CHECK-SAME:   kiln.threads = 512 : i32
//   CHECK-NOT:   memref.alloc() : memref<1x65536xf32>
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       vector.load
//       CHECK:       math.exp
//   CHECK-NOT:       vector.store
//       CHECK:     gpu.barrier
//       CHECK:     scf.for
//       CHECK:       vector.load
//       CHECK:       math.exp
//       CHECK:       arith.divf
//       CHECK:       vector.store
func.func @long_rows() {
  %zero = arith.constant 0.0 : f32
  %a = hal.interface.binding.subspan binding(0) <readonly> : memref<1x65536xf32>
  %c = hal.interface.binding.subspan binding(1) <writeonly> : memref<1x65536xf32>
  %sum = memref.alloc() : memref<1xf32>
  %kept = memref.alloc() : memref<1x65536xf32>
  linalg.exp ins(%a : memref<1x65536xf32>) outs(%kept : memref<1x65536xf32>)
  linalg.fill ins(%zero : f32) outs(%sum : memref<1xf32>)
  linalg.reduce { arith.addf } ins(%kept : memref<1x65536xf32>) outs(%sum : memref<1xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%kept, %sum : memref<1x65536xf32>, memref<1xf32>) outs(%c : memref<1x65536xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %d = arith.divf %x, %s : f32
    linalg.yield %d : f32
  }
  return
}
