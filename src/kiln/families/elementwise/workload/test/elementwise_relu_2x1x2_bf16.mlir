// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x1x2xbf16=[[1.5 -2]][[-0.5 3]]' \
// RUN:   --expected_output='2x1x2xbf16=[[1.5 0]][[0 3]]'
func.func @elementwise_relu_2x1x2_bf16(%lhs: tensor<2x1x2xbf16>) -> tensor<2x1x2xbf16> {
  %empty = tensor.empty() : tensor<2x1x2xbf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
                     affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
    iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%lhs : tensor<2x1x2xbf16>) outs(%empty : tensor<2x1x2xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %zero = arith.constant 0.0 : bf16
    %r = arith.maximumf %a, %zero : bf16
    linalg.yield %r : bf16
  } -> tensor<2x1x2xbf16>
  return %result : tensor<2x1x2xbf16>
}
