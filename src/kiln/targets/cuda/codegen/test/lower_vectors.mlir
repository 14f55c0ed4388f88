// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-cuda-lower-vectors))' -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @product
//   CHECK-NOT:   vector.transfer
//   CHECK-NOT:   vector.contract
//       CHECK:   vector.load {{.*}} vector<4xf32>
//       CHECK:   vector.fma {{.*}} : vector<4xf32>
//       CHECK:   vector.store {{.*}} vector<4xf32>
func.func @product(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = vector.transfer_read %a[%i, %i], %zero {in_bounds = [true, true]} : memref<2x3xf32>, vector<2x3xf32>
  %y = vector.transfer_read %b[%i, %i], %zero {in_bounds = [true, true]} : memref<3x4xf32>, vector<3x4xf32>
  %z = vector.transfer_read %c[%i, %i], %zero {in_bounds = [true, true]} : memref<2x4xf32>, vector<2x4xf32>
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                         affine_map<(m, n, k) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction"]}
    %x, %y, %z : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
  vector.transfer_write %r, %c[%i, %i] {in_bounds = [true, true]} : vector<2x4xf32>, memref<2x4xf32>
  return
}

// -----

func.func @large(%a: memref<64x64xf32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  // expected-error @+1 {{works on 'vector<64x64xf32>' in each thread, which has registers for 1024 elements at most}}
  vector.transfer_write %zero, %a[%i, %i] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
  return
}
