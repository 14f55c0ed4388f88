// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='3xf16=0 inf -inf' \
// RUN:   --expected_output='3xf16=0.5 1 0'
func.func @elementwise_sigmoid_3_f16(%lhs: tensor<3xf16>) -> tensor<3xf16> {
  %empty = tensor.empty() : tensor<3xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>,
                     affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]}
    ins(%lhs : tensor<3xf16>) outs(%empty : tensor<3xf16>) {
  ^bb0(%a: f16, %out: f16):
    %x = arith.extf %a : f16 to f32
    %one = arith.constant 1.0 : f32
    %negated = arith.negf %x : f32
    %exp = math.exp %negated : f32
    %sum = arith.addf %exp, %one : f32
    %r = arith.divf %one, %sum : f32
    %narrow = arith.truncf %r : f32 to f16
    linalg.yield %narrow : f16
  } -> tensor<3xf16>
  return %result : tensor<3xf16>
}
