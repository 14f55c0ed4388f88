// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x5xf16=[1 2 3 4 5][-1 0 2 1 -2]' \
// RUN:   --input='5x3xf16=[1 0 2][2 1 0][0 -1 1][3 2 -2][1 1 1]' \
// RUN:   --input='3xf16=0.5 -1 2048' \
// RUN:   --expected_output='2x3xf16=[22.5 11 2050][0.5 -3 2044]'
func.func @matmul_bias_2x3x5_f16t_f16t_f16t_tile_config_2x3_5x1_fma_2x16(%lhs: tensor<2x5xf16>, %rhs: tensor<5x3xf16>, %bias: tensor<3xf16>) -> tensor<2x3xf16> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = linalg.matmul
    {kiln.configuration = "tile_config_2x3_5x1_fma_2x16"}
    ins(%lhs, %rhs : tensor<2x5xf16>, tensor<5x3xf16>)
    outs(%zeros : tensor<2x3xf32>) -> tensor<2x3xf32>
  %finished = tensor.empty() : tensor<2x3xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %bias : tensor<2x3xf32>, tensor<3xf16>) outs(%finished : tensor<2x3xf16>) {
  ^bb0(%wide: f32, %bias_in: f16, %old: f16):
    %wide_bias = arith.extf %bias_in : f16 to f32
    %biased = arith.addf %wide, %wide_bias : f32
    %rounded = arith.truncf %biased : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<2x3xf16>
  return %result : tensor<2x3xf16>
}
