// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3xf16=[1 2 6][-3 0 -6]' \
// RUN:   --expected_output='2xf16=3 -3'
func.func @reduction_mean_2x3_f16_f16(%in: tensor<2x3xf16>) -> tensor<2xf16> {
  %reduced_value = arith.constant 0.0 : f32
  %reduced_empty = tensor.empty() : tensor<2xf32>
  %reduced_start = linalg.fill ins(%reduced_value : f32) outs(%reduced_empty : tensor<2xf32>) -> tensor<2xf32>
  %reduced = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%in : tensor<2x3xf16>) outs(%reduced_start : tensor<2xf32>) {
  ^bb0(%x: f16, %s: f32):
    %w = arith.extf %x : f16 to f32
    %t = arith.addf %w, %s : f32
    linalg.yield %t : f32
  } -> tensor<2xf32>
  %columns = arith.constant 3.0 : f32
  %empty = tensor.empty() : tensor<2xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(r) -> (r)>,
                     affine_map<(r) -> (r)>],
    iterator_types = ["parallel"]}
    ins(%reduced : tensor<2xf32>) outs(%empty : tensor<2xf16>) {
  ^bb0(%s: f32, %out: f16):
    %mean = arith.divf %s, %columns : f32
    %narrow = arith.truncf %mean : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<2xf16>
  return %result : tensor<2xf16>
}
