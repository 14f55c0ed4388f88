// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x8xf16=[-4 0 -2 1 4 -3 -1 0][0 -3 -3 3 3 -3 1 -3]' \
// RUN:   --input='3x8xf16=[2 0 -3 2 0 -4 -3 -4][-2 2 -4 1 4 0 -3 -1][-4 2 -4 4 -1 -4 4 2]' \
// RUN:   --expected_output='2x3xf16=[15 36 32][36 21 25]'
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu --compile-to=flow | FileCheck %s
// Two slices at once, the last one beside them, and their sum.
// CHECK: %[[PARTS:.+]] = flow.dispatch @{{.+}}(%[[LHS:.+]], %[[RHS:.+]]) {{.*}} -> tensor<2x2x3xf16>
// CHECK: %[[TAIL:.+]] = flow.dispatch @{{.+}}(%[[LHS]], %[[RHS]]) {{.*}} -> tensor<2x3xf16>
// CHECK: flow.dispatch @{{.+}}(%[[PARTS]], %[[TAIL]])
// CHECK-NOT: flow.dispatch
func.func @matmul_splitk_parallel_3_2x3x8_f16t_f16n_f16t_partf16_tile_config_2x3_4x1_fma_2x16_packb(%lhs: tensor<2x8xf16>, %rhs: tensor<3x8xf16>) -> tensor<2x3xf16> {
  %zero = arith.constant 0.0 : f32
  %zero_part = arith.constant 0.0 : f16
  %zeros_empty = tensor.empty() : tensor<2x2x3xf16>
  %zeros = linalg.fill ins(%zero_part : f16) outs(%zeros_empty : tensor<2x2x3xf16>) -> tensor<2x2x3xf16>
  %parts_extent = tensor.empty() : tensor<3xf16>
  %parts = linalg.generic {
    indexing_maps = [affine_map<(s, m, n, k) -> (m, s * 3 + k)>,
                     affine_map<(s, m, n, k) -> (n, s * 3 + k)>,
                     affine_map<(s, m, n, k) -> (k)>,
                     affine_map<(s, m, n, k) -> (s, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %parts_extent : tensor<2x8xf16>, tensor<3x8xf16>, tensor<3xf16>) outs(%zeros : tensor<2x2x3xf16>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16_packb"} {
  ^bb0(%a: f16, %b: f16, %extent: f16, %before: f16):
    %product = arith.mulf %a, %b : f16
    %next = arith.addf %before, %product : f16
    linalg.yield %next : f16
  } -> tensor<2x2x3xf16>
  %sum_zeros_empty = tensor.empty() : tensor<2x3xf32>
  %sum_zeros = linalg.fill ins(%zero : f32) outs(%sum_zeros_empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(m, n, s) -> (s, m, n)>,
                     affine_map<(m, n, s) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%parts : tensor<2x2x3xf16>) outs(%sum_zeros : tensor<2x3xf32>) {
  ^bb0(%part: f16, %before: f32):
    %wide = arith.extf %part : f16 to f32
    %next = arith.addf %before, %wide : f32
    linalg.yield %next : f32
  } -> tensor<2x3xf32>
  %tail_zeros_empty = tensor.empty() : tensor<2x3xf16>
  %tail_zeros = linalg.fill ins(%zero_part : f16) outs(%tail_zeros_empty : tensor<2x3xf16>) -> tensor<2x3xf16>
  %tail_extent = tensor.empty() : tensor<2xf16>
  %tail = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k + 6)>,
                     affine_map<(m, n, k) -> (n, k + 6)>,
                     affine_map<(m, n, k) -> (k)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs, %tail_extent : tensor<2x8xf16>, tensor<3x8xf16>, tensor<2xf16>) outs(%tail_zeros : tensor<2x3xf16>) attrs = {kiln.configuration = "tile_config_2x3_4x1_fma_2x16_packb"} {
  ^bb0(%a: f16, %b: f16, %extent: f16, %before: f16):
    %product = arith.mulf %a, %b : f16
    %next = arith.addf %before, %product : f16
    linalg.yield %next : f16
  } -> tensor<2x3xf16>
  %result_empty = tensor.empty() : tensor<2x3xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %tail : tensor<2x3xf32>, tensor<2x3xf16>) outs(%result_empty : tensor<2x3xf16>) {
  ^bb0(%sum_in: f32, %tail_in: f16, %old: f16):
    %wide_tail = arith.extf %tail_in : f16 to f32
    %total = arith.addf %sum_in, %wide_tail : f32
    %converted = arith.truncf %total : f32 to f16
    linalg.yield %converted : f16
  } -> tensor<2x3xf16>
  return %result : tensor<2x3xf16>
}
