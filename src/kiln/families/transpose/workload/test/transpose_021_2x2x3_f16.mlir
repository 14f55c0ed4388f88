// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2x3xf16=[[1 2 3][4 5 6]][[7 8 9][inf -0.5 0]]' \
// RUN:   --expected_output='2x3x2xf16=[[1 4][2 5][3 6]][[7 inf][8 -0.5][9 0]]'
func.func @transpose_021_2x2x3_f16(%in: tensor<2x2x3xf16>) -> tensor<2x3x2xf16> {
  %empty = tensor.empty() : tensor<2x3x2xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>,
                     affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%in : tensor<2x2x3xf16>) outs(%empty : tensor<2x3x2xf16>) {
  ^bb0(%a: f16, %out: f16):
    linalg.yield %a : f16
  } -> tensor<2x3x2xf16>
  return %result : tensor<2x3x2xf16>
}
