// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='3x2xf16=[3 -2][-4 -3][-3 3]' \
// RUN:   --input='3x2xf16=[3 1][-4 -4][-2 -1]' \
// RUN:   --expected_output='2x2xf16=[31 22][0 7]'
func.func @matmul_2x2x3_f16n_f16t_f16t_accf16(%lhs: tensor<3x2xf16>, %rhs: tensor<3x2xf16>) -> tensor<2x2xf16> {
  %zero = arith.constant 0.0 : f16
  %zeros_empty = tensor.empty() : tensor<2x2xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%zeros_empty : tensor<2x2xf16>) -> tensor<2x2xf16>
  %sum = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                     affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%lhs, %rhs : tensor<3x2xf16>, tensor<3x2xf16>) outs(%zeros : tensor<2x2xf16>) {
  ^bb0(%a: f16, %b: f16, %before: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %wide_before = arith.extf %before : f16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %next = arith.addf %wide_before, %product : f32
    %rounded = arith.truncf %next : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<2x2xf16>
  return %sum : tensor<2x2xf16>
}
