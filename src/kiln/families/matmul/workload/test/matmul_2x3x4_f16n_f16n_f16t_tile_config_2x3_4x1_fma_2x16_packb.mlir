// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='4x2xf16=[0 -4][0 -3][2 3][4 4]' \
// RUN:   --input='3x4xf16=[-2 -1 -2 0][-2 -2 -1 -4][3 3 1 -4]' \
// RUN:   --expected_output='2x3xf16=[-4 -18 -14][5 -5 -34]'
func.func @matmul_2x3x4_f16n_f16n_f16t_tile_config_2x3_4x1_fma_2x16_packb(%lhs: tensor<4x2xf16>, %rhs: tensor<3x4xf16>) -> tensor<2x3xf16> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                     affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>]
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16_packb"}
    ins(%lhs, %rhs : tensor<4x2xf16>, tensor<3x4xf16>)
    outs(%zeros : tensor<2x3xf32>) -> tensor<2x3xf32>
  %finished = tensor.empty() : tensor<2x3xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum : tensor<2x3xf32>) outs(%finished : tensor<2x3xf16>) {
  ^bb0(%wide: f32, %old: f16):
    %rounded = arith.truncf %wide : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<2x3xf16>
  return %result : tensor<2x3xf16>
}
