// RUN: kiln-opt %s --kiln-decompose-ops | FileCheck %s

// Tiles of a size that only the call knows: elements are fetched by their indices.
// CHECK-LABEL: func.func @pack
// CHECK-NOT: linalg.pack
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: arith.select
func.func @pack(%a: tensor<?xf32>, %tile: index, %padding: f32, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.pack %a padding_value(%padding : f32) inner_dims_pos = [0] inner_tiles = [%tile] into %e
    : tensor<?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Tiles of known size: upstream's lowering.
// CHECK-LABEL: func.func @unpack
// CHECK: linalg.transpose
// CHECK-LABEL: func.func @unpack_dynamic
// CHECK: arith.remui
// CHECK: arith.divui
func.func @unpack(%a: tensor<2x2x4x8xf32>, %e: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %e : tensor<2x2x4x8xf32> -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @unpack_dynamic(%a: tensor<?x?xf32>, %tile: index, %e: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0] inner_tiles = [%tile] into %e : tensor<?x?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What works on memory has no results that others could take, and stays.
// CHECK-LABEL: func.func @memory
// CHECK-NEXT: linalg.softmax
// CHECK-NEXT: return
func.func @memory(%a: memref<4x8xf32>, %r: memref<4x8xf32>) {
  linalg.softmax dimension(1) ins(%a : memref<4x8xf32>) outs(%r : memref<4x8xf32>)
  return
}
