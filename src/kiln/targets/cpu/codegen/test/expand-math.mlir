// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-expand-math{features=+avx512f,+fma}))' | FileCheck %s
// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-expand-math))' | FileCheck %s --check-prefix=BASE

// A polynomial on the whole vector, with fused multiply-adds where there are any.
// CHECK-LABEL: func.func @exp
//       CHECK: math.fma {{.*}} : vector<16xf32>
//   CHECK-NOT: math.exp
//  BASE-LABEL: func.func @exp
//    BASE-NOT: math.
//        BASE: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// The same on scalars, so that a tail agrees with the rest.
// CHECK-LABEL: func.func @scalar
//       CHECK: math.fma {{.*}} : f32
//   CHECK-NOT: math.tanh
func.func @scalar(%x: f32) -> f32 {
  %y = math.tanh %x : f32
  return %y : f32
}

// Functions of f64, and those without a polynomial, are left.
// CHECK-LABEL: func.func @left
//       CHECK: math.exp %{{.*}} : vector<8xf64>
//       CHECK: math.sin %{{.*}} : vector<16xf32>
func.func @left(%x: vector<8xf64>, %y: vector<16xf32>) -> (vector<8xf64>, vector<16xf32>) {
  %a = math.exp %x : vector<8xf64>
  %b = math.sin %y : vector<16xf32>
  return %a, %b : vector<8xf64>, vector<16xf32>
}

// f16 is computed in f32. Conversions are instructions, or integer arithmetic.
// CHECK-LABEL: func.func @half
//       CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
//       CHECK: arith.addf %{{.*}} : vector<16xf32>
//       CHECK: arith.truncf %{{.*}} : vector<16xf32> to vector<16xf16>
//  BASE-LABEL: func.func @half
//    BASE-NOT: arith.extf
//        BASE: arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
//    BASE-NOT: arith.truncf
//        BASE: arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
func.func @half(%x: vector<16xf16>) -> vector<16xf16> {
  %y = arith.addf %x, %x : vector<16xf16>
  return %y : vector<16xf16>
}

// bf16 is the upper half of f32, rounded to even by adding to the bits below.
// CHECK-LABEL: func.func @brain
//       CHECK: arith.shli {{.*}} : vector<16xi32>
//       CHECK: arith.mulf {{.*}} : vector<16xf32>
//       CHECK: arith.constant dense<32767> : vector<16xi32>
//   CHECK-NOT: arith.truncf
//       CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
func.func @brain(%x: vector<16xbf16>) -> vector<16xbf16> {
  %y = arith.mulf %x, %x : vector<16xbf16>
  return %y : vector<16xbf16>
}

// CHECK-LABEL: func.func @combinations
//       CHECK: arith.maximumf
//       CHECK: arith.minimumf
//       CHECK: math.sqrt
//       CHECK: arith.divf
//   CHECK-NOT: arith.ceildivsi
func.func @combinations(%x: vector<16xf32>, %low: vector<16xf32>, %high: vector<16xf32>, %i: index) -> (vector<16xf32>, vector<16xf32>, index) {
  %a = math.clampf %x to [%low, %high] : vector<16xf32>
  %b = math.rsqrt %x : vector<16xf32>
  %c = arith.ceildivsi %i, %i : index
  return %a, %b, %c : vector<16xf32>, vector<16xf32>, index
}

// Rounded once: the root stays in f32.
// CHECK-LABEL: func.func @narrow_root
//       CHECK: %[[ROOT:.+]] = math.sqrt %{{.+}} : vector<16xf32>
//  CHECK-NEXT: arith.divf %{{.+}}, %[[ROOT]] : vector<16xf32>
func.func @narrow_root(%x: vector<16xbf16>) -> vector<16xbf16> {
  %a = math.rsqrt %x : vector<16xbf16>
  return %a : vector<16xbf16>
}

// The lowest bit is tested: LLVM 22 gets a truncation of what a vector holds wrong.
// CHECK-LABEL: func.func @lowest_bit
//       CHECK: %[[AND:.+]] = arith.andi %arg0, %{{.+}} : i8
//       CHECK: arith.cmpi ne, %[[AND]], %{{.+}} : i8
//       CHECK: arith.cmpi ne, %{{.+}}, %{{.+}} : vector<4xi32>
//   CHECK-NOT: arith.trunci
func.func @lowest_bit(%x: i8, %y: vector<4xi32>) -> (i1, vector<4xi1>) {
  %0 = arith.trunci %x : i8 to i1
  %1 = arith.trunci %y : vector<4xi32> to vector<4xi1>
  return %0, %1 : i1, vector<4xi1>
}
