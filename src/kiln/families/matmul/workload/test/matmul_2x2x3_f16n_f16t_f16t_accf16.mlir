// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='3x2xf16=[3 -2][-4 -3][-3 3]' \
// RUN:   --input='3x2xf16=[3 1][-4 -4][-2 -1]' \
// RUN:   --expected_output='2x2xf16=[31 22][0 7]'
func.func @matmul_2x2x3_f16n_f16t_f16t_accf16(%lhs: tensor<3x2xf16>, %rhs: tensor<3x2xf16>) -> tensor<2x2xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x2xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x2xf16>) -> tensor<2x2xf16>
  %sum = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                     affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>]
    ins(%lhs, %rhs : tensor<3x2xf16>, tensor<3x2xf16>)
    outs(%zeros : tensor<2x2xf16>) -> tensor<2x2xf16>
  return %sum : tensor<2x2xf16>
}
