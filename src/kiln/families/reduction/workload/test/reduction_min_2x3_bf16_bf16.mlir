// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x3xbf16=[1 2 6][3 inf 7]' \
// RUN:   --expected_output='2xbf16=1 3'
func.func @reduction_min_2x3_bf16_bf16(%in: tensor<2x3xbf16>) -> tensor<2xbf16> {
  %reduced_value = arith.constant 0x7F80 : bf16
  %reduced_empty = tensor.empty() : tensor<2xbf16>
  %reduced_start = linalg.fill ins(%reduced_value : bf16) outs(%reduced_empty : tensor<2xbf16>) -> tensor<2xbf16>
  %reduced = linalg.generic {
    indexing_maps = [affine_map<(r, c) -> (r, c)>,
                     affine_map<(r, c) -> (r)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%in : tensor<2x3xbf16>) outs(%reduced_start : tensor<2xbf16>) {
  ^bb0(%x: bf16, %s: bf16):
    %t = arith.minimumf %x, %s : bf16
    linalg.yield %t : bf16
  } -> tensor<2xbf16>
  return %reduced : tensor<2xbf16>
}
