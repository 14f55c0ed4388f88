// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xi8=[-128 -128 -83 -68][-82 77 94 21]' \
// RUN:   --input='4x3xi8=[-128 -104 -43][-128 31 -6][-61 -88 49][60 -120 -99]' \
// RUN:   --expected_output='2x3xi32=[32427 23556 7139][-2573 1456 6378]'
func.func @qmatmul_2x3x4_i8t_i8t_i32t_za3_zbm5_tile_config_2x3_4x1_fma_2x16(%lhs: tensor<2x4xi8>, %rhs: tensor<4x3xi8>) -> tensor<2x3xi32> {
  %za = arith.constant 3 : i32
  %zb = arith.constant -5 : i32
  %zero = arith.constant 0 : i32
  %zeros_empty = tensor.empty() : tensor<2x3xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%zeros_empty : tensor<2x3xi32>) -> tensor<2x3xi32>
  %sum = linalg.quantized_matmul
    {kiln.configuration = "tile_config_2x3_4x1_fma_2x16"}
    ins(%lhs, %rhs, %za, %zb : tensor<2x4xi8>, tensor<4x3xi8>, i32, i32)
    outs(%zeros : tensor<2x3xi32>) -> tensor<2x3xi32>
  return %sum : tensor<2x3xi32>
}
