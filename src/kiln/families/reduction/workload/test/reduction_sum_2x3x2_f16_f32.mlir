// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3x2xf16=[[1 2][3 4][5 6]][[-1 0.5][-2 0][4 -0.25]]' \
// RUN:   --expected_output='2x2xf32=[9 12][1 0.25]'
func.func @reduction_sum_2x3x2_f16_f32(%in: tensor<2x3x2xf16>) -> tensor<2x2xf32> {
  %reduced_value = arith.constant 0.0 : f32
  %reduced_empty = tensor.empty() : tensor<2x2xf32>
  %reduced_start = linalg.fill ins(%reduced_value : f32) outs(%reduced_empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %reduced = linalg.generic {
    indexing_maps = [affine_map<(r, c, i) -> (r, c, i)>,
                     affine_map<(r, c, i) -> (r, i)>],
    iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%in : tensor<2x3x2xf16>) outs(%reduced_start : tensor<2x2xf32>) {
  ^bb0(%x: f16, %s: f32):
    %w = arith.extf %x : f16 to f32
    %t = arith.addf %w, %s : f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  return %reduced : tensor<2x2xf32>
}
