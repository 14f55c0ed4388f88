// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='3x2xbf16=[3 -2][-4 -2][-1 3]' \
// RUN:   --input='2x2xbf16=[0 -1][-4 1]' \
// RUN:   --expected_output='3x2xf32=[2 -14][2 14][-3 7]'
func.func @matmul_3x2x2_bf16t_bf16n_f32t(%lhs: tensor<3x2xbf16>, %rhs: tensor<2x2xbf16>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<3x2xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<3x2xf32>) -> tensor<3x2xf32>
  %sum = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                     affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>]
    ins(%lhs, %rhs : tensor<3x2xbf16>, tensor<2x2xbf16>)
    outs(%zeros : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %sum : tensor<3x2xf32>
}
