// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x7xf32=[0 0 -2 -4 1 1 1][-2 2 2 3 4 2 4]' \
// RUN:   --input='7x3xf32=[-3 4 0][2 -1 0][2 0 4][0 4 1][-4 2 1][-4 2 -2][-4 1 3]' \
// RUN:   --expected_output='2x3xf32=[-16 -11 -10][-26 18 23]'
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu --compile-to=flow | FileCheck %s
// Each slice updates what those before it have made.
// CHECK: flow.dispatch @{{.+}} tied [-1]
// CHECK: flow.dispatch @{{.+}} tied [2]
// CHECK: flow.dispatch @{{.+}} tied [2]
// CHECK-NOT: flow.dispatch
func.func @matmul_splitk_serial_3_2x3x7_f32t_f32t_f32t_partf32_tile_config_2x3_4x1_fma_2x16(%lhs: tensor<2x7xf32>, %rhs: tensor<7x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<1x2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %first_extent = tensor.empty() : tensor<3xf32>
  %first = linalg.generic {
    indexing_maps = [affine_map<(s, m, n, k) -> (m, s * 3 + k)>,
                     affine_map<(s, m, n, k) -> (s * 3 + k, n)>,
                     affine_map<(s, m, n, k) -> (k)>,
                     affine_map<(s, m, n, k) -> (s, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %first_extent : tensor<2x7xf32>, tensor<7x3xf32>, tensor<3xf32>) outs(%zeros : tensor<1x2x3xf32>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"} {
  ^bb0(%a: f32, %b: f32, %extent: f32, %before: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x2x3xf32>
  %sum_1 = tensor.collapse_shape %first [[0, 1], [2]] : tensor<1x2x3xf32> into tensor<2x3xf32>
  %sum_2_extent = tensor.empty() : tensor<3xf32>
  %sum_2 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k + 3)>,
                     affine_map<(m, n, k) -> (k + 3, n)>,
                     affine_map<(m, n, k) -> (k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %sum_2_extent : tensor<2x7xf32>, tensor<7x3xf32>, tensor<3xf32>) outs(%sum_1 : tensor<2x3xf32>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"} {
  ^bb0(%a: f32, %b: f32, %extent: f32, %before: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x3xf32>
  %sum_3_extent = tensor.empty() : tensor<1xf32>
  %sum_3 = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k + 6)>,
                     affine_map<(m, n, k) -> (k + 6, n)>,
                     affine_map<(m, n, k) -> (k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %sum_3_extent : tensor<2x7xf32>, tensor<7x3xf32>, tensor<1xf32>) outs(%sum_2 : tensor<2x3xf32>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"} {
  ^bb0(%a: f32, %b: f32, %extent: f32, %before: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %before, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x3xf32>
  return %sum_3 : tensor<2x3xf32>
}
