// RUN: kiln-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-emit-kernels))' | FileCheck %s

#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
#column = affine_map<(i, j) -> (j)>

// Bias and relu are computed of sums in registers, which are stored once.
// CHECK-LABEL: func.func @in_place
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.store
// CHECK-NOT: scf.for
func.func @in_place(%a: memref<8x64xf32>, %b: memref<64x32xf32>, %bias: memref<32xf32>, %c: memref<8x32xf32>)
    attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_0x1_fma_4x8">} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x32xf32>)
  linalg.matmul ins(%a, %b : memref<8x64xf32>, memref<64x32xf32>) outs(%c : memref<8x32xf32>)
  linalg.generic {indexing_maps = [#same, #column, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : memref<8x32xf32>, memref<32xf32>) outs(%c : memref<8x32xf32>) {
  ^bb0(%sum: f32, %more: f32, %out: f32):
    %biased = arith.addf %sum, %more : f32
    %positive = arith.maximumf %biased, %zero : f32
    linalg.yield %positive : f32
  }
  return
}

// -----

#same = affine_map<(i, j) -> (i, j)>

// A tile that only the two need is not stored at all.
// CHECK-LABEL: func.func @elsewhere
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<8x32xf16>
// CHECK: arith.truncf
// CHECK-NEXT: vector.store %{{.+}}, %[[OUT]]
// CHECK-NOT: vector.store %{{.+}} : memref<8x32xf32>
func.func @elsewhere(%d: memref<8x32xf16>, %a: memref<8x64xf32>, %b: memref<64x32xf32>)
    attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_0x1_fma_4x8">} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<8x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<8x32xf32>)
  linalg.matmul ins(%a, %b : memref<8x64xf32>, memref<64x32xf32>) outs(%c : memref<8x32xf32>)
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<8x32xf32>) outs(%d : memref<8x32xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %narrow = arith.truncf %sum : f32 to f16
    linalg.yield %narrow : f16
  }
  return
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// What is read in two orders needs all of the product first.
// CHECK-LABEL: func.func @two_orders
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: arith.addf
func.func @two_orders(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %d: memref<32x32xf32>)
    attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_0x1_fma_4x8">} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<32x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  linalg.matmul ins(%a, %b : memref<32x64xf32>, memref<64x32xf32>) outs(%c : memref<32x32xf32>)
  linalg.generic {indexing_maps = [#same, #turned, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c, %c : memref<32x32xf32>, memref<32x32xf32>) outs(%d : memref<32x32xf32>) {
  ^bb0(%sum: f32, %other: f32, %out: f32):
    %both = arith.addf %sum, %other : f32
    linalg.yield %both : f32
  }
  return
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// A part of the result that is read elsewhere as well, and sums that somebody else needs.
// CHECK-LABEL: func.func @shared
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: math.absf
func.func @shared(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %c: memref<32x32xf32>, %d: memref<32x32xf32>)
    attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_0x1_fma_4x8">} {
  linalg.matmul ins(%a, %b : memref<32x64xf32>, memref<64x32xf32>) outs(%c : memref<32x32xf32>)
  linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<32x32xf32>) outs(%d : memref<32x32xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %size = math.absf %sum : f32
    linalg.yield %size : f32
  }
  return
}

// -----

#same = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// What is stored elsewhere in the same memory would be where sums are still to come.
// CHECK-LABEL: func.func @moved
// CHECK: arith.mulf
// CHECK: vector.store
// CHECK: math.absf
func.func @moved(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %c: memref<32x32xf32>)
    attributes {lowering = #hal.lowering<"contraction", "tile_config_8x32_0x1_fma_4x8">} {
  linalg.matmul ins(%a, %b : memref<32x64xf32>, memref<64x32xf32>) outs(%c : memref<32x32xf32>)
  linalg.generic {indexing_maps = [#same, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<32x32xf32>) outs(%c : memref<32x32xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %size = math.absf %sum : f32
    linalg.yield %size : f32
  }
  return
}
