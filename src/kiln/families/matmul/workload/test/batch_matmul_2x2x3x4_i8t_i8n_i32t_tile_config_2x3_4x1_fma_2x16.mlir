// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2x4xi8=[[2 4 3 0][4 4 4 -4]][[0 1 -2 -1][1 3 1 -3]]' \
// RUN:   --input='2x3x4xi8=[[2 0 -4 -1][3 -1 0 -3][-3 4 4 3]][[4 -1 1 -3][4 2 4 0][4 4 1 1]]' \
// RUN:   --expected_output='2x2x3xi32=[[-8 2 22][-4 20 8]][[0 -6 1][11 14 14]]'
func.func @batch_matmul_2x2x3x4_i8t_i8n_i32t_tile_config_2x3_4x1_fma_2x16(%lhs: tensor<2x2x4xi8>, %rhs: tensor<2x3x4xi8>) -> tensor<2x2x3xi32> {
  %zero = arith.constant 0 : i32
  %zeros_empty = tensor.empty() : tensor<2x2x3xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%zeros_empty : tensor<2x2x3xi32>) -> tensor<2x2x3xi32>
  %sum = linalg.batch_matmul
    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                     affine_map<(b, m, n, k) -> (b, n, k)>,
                     affine_map<(b, m, n, k) -> (b, m, n)>]
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"}
    ins(%lhs, %rhs : tensor<2x2x4xi8>, tensor<2x3x4xi8>)
    outs(%zeros : tensor<2x2x3xi32>) -> tensor<2x2x3xi32>
  return %sum : tensor<2x2x3xi32>
}
