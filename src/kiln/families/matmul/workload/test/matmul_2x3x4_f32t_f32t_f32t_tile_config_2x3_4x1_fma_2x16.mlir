// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xf32=[3 1 0 -2][-2 -4 -4 -4]' \
// RUN:   --input='4x3xf32=[-3 3 1][4 0 1][4 2 1][0 1 4]' \
// RUN:   --expected_output='2x3xf32=[-5 7 -4][-26 -18 -26]'
func.func @matmul_2x3x4_f32t_f32t_f32t_tile_config_2x3_4x1_fma_2x16(%lhs: tensor<2x4xf32>, %rhs: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = linalg.matmul
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"}
    ins(%lhs, %rhs : tensor<2x4xf32>, tensor<4x3xf32>)
    outs(%zeros : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %sum : tensor<2x3xf32>
}
