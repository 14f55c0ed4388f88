// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xf32=[-1 4 -2 1][3 -3 -4 3]' \
// RUN:   --input='4x3xf32=[0 4 -1][-1 3 4][4 3 2][-2 -1 -2]' \
// RUN:   --input='3xf32=-20 40 9' \
// RUN:   --expected_output='2x3xf32=[-0 41 20][-0 28 -0]'
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu --compile-to=flow | FileCheck %s
// CHECK: linalg.matmul
// CHECK: math.tanh
// CHECK-COUNT-1: flow.dispatch @
// CHECK-NOT: flow.dispatch
func.func @matmul_bias_gelu_tanh_2x3x4_f32t_f32t_f32t(%lhs: tensor<2x4xf32>, %rhs: tensor<4x3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<2x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = linalg.matmul
    ins(%lhs, %rhs : tensor<2x4xf32>, tensor<4x3xf32>)
    outs(%zeros : tensor<2x3xf32>) -> tensor<2x3xf32>
  %finished = tensor.empty() : tensor<2x3xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %bias : tensor<2x3xf32>, tensor<3xf32>) outs(%finished : tensor<2x3xf32>) {
  ^bb0(%wide: f32, %bias_in: f32, %old: f32):
    %biased = arith.addf %wide, %bias_in : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 0.044715 : f32
    %root = arith.constant 0.79788456080286536 : f32
    %square = arith.mulf %biased, %biased : f32
    %cube = arith.mulf %square, %biased : f32
    %bent = arith.mulf %cube, %cubic : f32
    %argument = arith.addf %biased, %bent : f32
    %scaled = arith.mulf %argument, %root : f32
    %tanh = math.tanh %scaled : f32
    %share = arith.addf %tanh, %one : f32
    %halved = arith.mulf %biased, %half : f32
    %activated = arith.mulf %halved, %share : f32
    linalg.yield %activated : f32
  } -> tensor<2x3xf32>
  return %result : tensor<2x3xf32>
}
