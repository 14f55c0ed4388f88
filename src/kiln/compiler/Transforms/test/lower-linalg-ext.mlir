// RUN: kiln-opt %s -split-input-file -verify-diagnostics --kiln-lower-linalg-ext | FileCheck %s

// Passes over the tensor double the distance; each is one operation.
// CHECK-LABEL: func.func @scan
// CHECK: %[[R:.+]]:3 = scf.while (%[[W:.+]] = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %arg0)
// CHECK: arith.cmpi slt, %[[W]], %c100
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: scf.yield
// CHECK: linalg.generic
// CHECK-NOT: iree_linalg_ext
func.func @scan(%x: tensor<4x100xi32>, %a: tensor<4xi32>) -> (tensor<4x100xi32>, tensor<4xi32>) {
  %out = tensor.empty() : tensor<4x100xi32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<4x100xi32>)
      outs(%out, %a : tensor<4x100xi32>, tensor<4xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    iree_linalg_ext.yield %s : i32
  } -> tensor<4x100xi32>, tensor<4xi32>
  return %0#0, %0#1 : tensor<4x100xi32>, tensor<4xi32>
}

// A slice goes into the tensor that the loop carries; where it goes is told as the scatter's.
// CHECK-LABEL: func.func @scatter
// CHECK: scf.for {{.*}} iter_args(%[[C:.+]] = %arg2)
// CHECK: tensor.insert_slice %{{.+}} into %[[C]]{{.*}} {kiln.name_in_source = "iree_linalg_ext.scatter"}
func.func @scatter(%x: tensor<3x4xf32>, %i: tensor<3xi32>, %into: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%x, %i : tensor<3x4xf32>, tensor<3xi32>) outs(%into : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// Two contractions, with what lies between them.
// CHECK-LABEL: func.func @attention
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: math.exp2
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.divf
func.func @attention(%q: tensor<8x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x5xf32>, %s: f32) -> tensor<8x5xf32> {
  %e = tensor.empty() : tensor<8x5xf32>
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, k1, k2, n) -> (m, k1)>,
      affine_map<(m, k1, k2, n) -> (k2, k1)>, affine_map<(m, k1, k2, n) -> (k2, n)>, affine_map<(m, k1, k2, n) -> ()>,
      affine_map<(m, k1, k2, n) -> (m, n)>]}
      ins(%q, %k, %v, %s : tensor<8x4xf32>, tensor<6x4xf32>, tensor<6x5xf32>, f32) outs(%e : tensor<8x5xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no dimension 1 in 'tensor<4xf32>'}}
  %0 = iree_linalg_ext.sort dimension(1) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs a body that yields ['i1']}}
  %0 = iree_linalg_ext.sort dimension(0) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @slices(%x: tensor<3x4xf32>, %i: tensor<2xi32>, %into: tensor<9x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{needs indices of shape 3, and has 'tensor<2xi32>'}}
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
      ins(%x, %i : tensor<3x4xf32>, tensor<2xi32>) outs(%into : tensor<9x4xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

func.func @same_dimension_twice(%x: tensor<3x4xf32>, %i: tensor<2xi32>, %e: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{has a dimension_map that is not of different dimensions of a tensor of rank 2}}
  %0 = iree_linalg_ext.gather dimension_map = [0, 0] ins(%x, %i : tensor<3x4xf32>, tensor<2xi32>)
      outs(%e : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @maps(%q: tensor<8x4xf32>, %k: tensor<6x3xf32>, %v: tensor<6x5xf32>, %s: f32, %e: tensor<8x5xf32>) -> tensor<8x5xf32> {
  // expected-error @+1 {{has loops of 4 and of 3 elements that are the same loop}}
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, k1, k2, n) -> (m, k1)>,
      affine_map<(m, k1, k2, n) -> (k2, k1)>, affine_map<(m, k1, k2, n) -> (k2, n)>, affine_map<(m, k1, k2, n) -> ()>,
      affine_map<(m, k1, k2, n) -> (m, n)>]}
      ins(%q, %k, %v, %s : tensor<8x4xf32>, tensor<6x3xf32>, tensor<6x5xf32>, f32) outs(%e : tensor<8x5xf32>) {
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  } -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}

// -----

func.func @tiles(%x: tensor<1x6x6x1xf32>, %e: tensor<6x6x1x1x1x1xf32>) -> tensor<6x6x1x1x1x1xf32> {
  // expected-error @+1 {{is supported for output_tile_size(6) and kernel_size(3)}}
  %0 = iree_linalg_ext.winograd.input_transform output_tile_size(4) kernel_size(3) image_dimensions([1, 2])
      ins(%x : tensor<1x6x6x1xf32>) outs(%e : tensor<6x6x1x1x1x1xf32>) -> tensor<6x6x1x1x1x1xf32>
  return %0 : tensor<6x6x1x1x1x1xf32>
}
