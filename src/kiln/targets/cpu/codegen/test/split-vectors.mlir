// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-split-vectors{native-vector-bits=512},cse))' --split-input-file --verify-diagnostics | FileCheck %s

// Rows, and chunks of rows; the last one is shorter.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%m: memref<2x40xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  // CHECK: vector.load %{{.*}}[%c0{{.*}}, %c0{{.*}}] : memref<2x40xf32>, vector<16xf32>
  // CHECK: arith.addf %{{.*}} : vector<16xf32>
  // CHECK: vector.load %{{.*}}[%c0{{.*}}, %c16{{.*}}] : memref<2x40xf32>, vector<16xf32>
  // CHECK: arith.addf %{{.*}} : vector<16xf32>
  // CHECK: vector.load %{{.*}}[%c0{{.*}}, %c32{{.*}}] : memref<2x40xf32>, vector<8xf32>
  // CHECK: arith.addf %{{.*}} : vector<8xf32>
  // CHECK: vector.load %{{.*}}[%c1{{.*}}, %c0{{.*}}] : memref<2x40xf32>, vector<16xf32>
  %v = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x40xf32>, vector<2x40xf32>
  %s = arith.addf %v, %v : vector<2x40xf32>
  // CHECK-COUNT-6: vector.store
  vector.transfer_write %s, %m[%c0, %c0] {in_bounds = [true, true]} : vector<2x40xf32>, memref<2x40xf32>
  return
}

// -----

// Vectors that a loop carries are carried in pieces.
// CHECK-LABEL: func.func @carried
func.func @carried(%m: memref<4x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<4x16xf32>
  // CHECK: %[[LOOP:.*]]:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (vector<4x16xf32>) {
    %v = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x16xf32>, vector<4x16xf32>
    %s = arith.addf %a, %v : vector<4x16xf32>
    scf.yield %s : vector<4x16xf32>
  }
  // CHECK: vector.store %[[LOOP]]#0
  // CHECK: vector.store %[[LOOP]]#3
  vector.transfer_write %r, %m[%c0, %c0] {in_bounds = [true, true]} : vector<4x16xf32>, memref<4x16xf32>
  return
}

// -----

// The second spec of document 002: 2x128x128 in one contraction. Its operands are in memory, so that it becomes a loop over
// the reduction; the 16 sums stay in registers, each element of A is read as a scalar.
// CHECK-LABEL: func.func @contraction
//  CHECK-SAME: (%[[A:.*]]: memref<2x128xf32>, %[[B:.*]]: memref<128x128xf32>, %[[C:.*]]: memref<2x128xf32>)
func.func @contraction(%a: memref<2x128xf32>, %b: memref<128x128xf32>, %c: memref<2x128xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x128xf32>
  %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<128x128xf32>
  %vc = vector.transfer_read %c[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x128xf32>
  // CHECK-COUNT-16: vector.load %[[C]]
  // CHECK-NOT: vector.load
  // CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c4
  // CHECK: %[[X:.*]] = memref.load %[[A]]
  // CHECK: %[[SPLAT:.*]] = vector.broadcast %[[X]] : f32 to vector<16xf32>
  // CHECK: %[[Y:.*]] = vector.load %[[B]]
  // CHECK: vector.fma %[[SPLAT]], %[[Y]]
  // CHECK: scf.yield
  // CHECK-NOT: vector.fma
  // CHECK-COUNT-16: vector.store {{.*}}, %[[C]]
  %r = vector.contract {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
    %va, %vb, %vc : vector<2x128xf32>, vector<128x128xf32> into vector<2x128xf32>
  vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x128xf32>, memref<2x128xf32>
  return
}

// -----

// A sum of products that is spelled out becomes a contraction first.
// CHECK-LABEL: func.func @sum_of_products
//       CHECK-NOT: arith.mulf
//       CHECK: vector.fma
func.func @sum_of_products(%a: vector<4x16xf32>, %b: vector<4x16xf32>, %c: vector<16xf32>) -> vector<16xf32> {
  %p = arith.mulf %a, %b : vector<4x16xf32>
  %s = vector.multi_reduction <add>, %p, %c [0] : vector<4x16xf32> to vector<16xf32>
  return %s : vector<16xf32>
}

// -----

// What may be out of bounds is masked; the padding is what it reads as.
// CHECK-LABEL: func.func @tail
//  CHECK-SAME: (%[[M:.*]]: memref<?x?xf32>, %[[I:.*]]: index)
func.func @tail(%m: memref<?x?xf32>, %i: index) {
  // CHECK-DAG: %[[PAD:.*]] = arith.constant dense<7.000000e+00> : vector<16xf32>
  // CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
  %c0 = arith.constant 0 : index
  %z = arith.constant 7.0 : f32
  // CHECK: %[[COLUMNS:.*]] = memref.dim %[[M]], %c1
  // CHECK: %[[REST:.*]] = arith.subi %[[COLUMNS]], %[[I]]
  // CHECK: %[[COUNT:.*]] = arith.minsi %[[REST]], %c16
  // CHECK: %[[NARROW:.*]] = arith.index_cast %[[COUNT]] : index to i32
  // CHECK: %[[SPLAT:.*]] = vector.broadcast %[[NARROW]]
  // CHECK: %[[MASK:.*]] = arith.cmpi slt, %[[LANES]], %[[SPLAT]]
  // CHECK: %[[V:.*]] = vector.maskedload %[[M]][%{{.*}}, %[[I]]], %[[MASK]], %[[PAD]]
  %v = vector.transfer_read %m[%c0, %i], %z {in_bounds = [false]} : memref<?x?xf32>, vector<16xf32>
  // CHECK: vector.maskedstore %[[M]][%{{.*}}, %[[I]]], %[[MASK]], %[[V]]
  vector.transfer_write %v, %m[%c0, %i] {in_bounds = [false]} : vector<16xf32>, memref<?x?xf32>
  return
}

// -----

// 16 rows of 16 are transposed by 4 x 16 shuffles.
// CHECK-LABEL: func.func @transpose
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
//     CHECK-NOT: vector.shuffle
func.func @transpose(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true, true]} : memref<16x16xf32>, vector<16x16xf32>
  %t = vector.transpose %v, [1, 0] : vector<16x16xf32> to vector<16x16xf32>
  vector.transfer_write %t, %m[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xf32>, memref<16x16xf32>
  return
}

// -----

// A column is read element by element, and under a mask gathered.
// CHECK-LABEL: func.func @column
func.func @column(%m: memref<16x24xf32>, %mask: vector<16xi1>) -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  // CHECK-COUNT-16: memref.load
  // CHECK: vector.from_elements
  %v = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<16x24xf32>, vector<16xf32>
  // CHECK: memref.reinterpret_cast
  // CHECK: arith.constant dense<[0, 24, 48
  // CHECK: vector.gather
  %w = vector.transfer_read %m[%c0, %c0], %z, %mask {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<16x24xf32>, vector<16xf32>
  return %v, %w : vector<16xf32>, vector<16xf32>
}

// -----

// A read waits for its use, but not beyond a write of what it reads.
// CHECK-LABEL: func.func @order
//  CHECK-SAME: (%[[M:.*]]: memref<32xf32>)
func.func @order(%m: memref<32xf32>) {
  // CHECK: vector.load %[[M]]
  // CHECK: vector.load %[[M]]
  // CHECK: memref.store
  // CHECK: arith.addf
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%c0], %z {in_bounds = [true]} : memref<32xf32>, vector<32xf32>
  memref.store %z, %m[%c0] : memref<32xf32>
  %s = arith.addf %v, %v : vector<32xf32>
  vector.transfer_write %s, %m[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
  return
}

// -----

func.func @too_large(%v: vector<16xf32>) -> vector<16xf32> {
  // expected-error @+1 {{makes a 'vector<8193x16xf32>', which is 8193 vectors of 16 elements; more than 8192 of them would take too long to compile: tile the operation before it is vectorized}}
  %b = vector.broadcast %v : vector<16xf32> to vector<8193x16xf32>
  %r = vector.extract %b[0] : vector<16xf32> from vector<8193x16xf32>
  return %r : vector<16xf32>
}

// -----

func.func @contraction_too_large(%a: vector<128x128xf32>, %c: vector<128x128xf32>) -> vector<128x128xf32> {
  // expected-error @+1 {{takes 131072 multiply-adds on vectors of 16 elements, which would take too long to compile}}
  %r = vector.contract {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
    %a, %a, %c : vector<128x128xf32>, vector<128x128xf32> into vector<128x128xf32>
  return %r : vector<128x128xf32>
}

// -----

func.func @scalable(%v: vector<[4]xf32>) -> vector<[4]xf32> {
  // expected-error @+1 {{uses scalable vectors, which this backend does not generate code for}}
  %s = arith.addf %v, %v : vector<[4]xf32>
  return %s : vector<[4]xf32>
}
