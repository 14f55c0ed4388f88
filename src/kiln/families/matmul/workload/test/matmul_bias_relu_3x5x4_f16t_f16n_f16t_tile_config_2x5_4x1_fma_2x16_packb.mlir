// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='3x4xf16=[4 2 -4 -3][-2 -4 0 -4][0 3 2 2]' \
// RUN:   --input='5x4xf16=[2 -4 2 1][3 -2 0 4][-2 3 2 2][1 -1 4 -1][-3 0 2 1]' \
// RUN:   --input='5xf16=1 -2 30 -40 0.5' \
// RUN:   --expected_output='3x5xf16=[0 0 14 0 0][9 0 14 0 2.5][0 0 47 0 6.5]'
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu --compile-to=flow | FileCheck %s
// The epilogue is part of the product's dispatch.
// CHECK: linalg.matmul{{.*}}kiln.configuration
// CHECK: arith.maximumf
// CHECK-COUNT-1: flow.dispatch @
// CHECK-NOT: flow.dispatch
func.func @matmul_bias_relu_3x5x4_f16t_f16n_f16t_tile_config_2x5_4x1_fma_2x16_packb(%lhs: tensor<3x4xf16>, %rhs: tensor<5x4xf16>, %bias: tensor<5xf16>) -> tensor<3x5xf16> {
  %zero = arith.constant 0.0 : f32
  %zeros_empty = tensor.empty() : tensor<3x5xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%zeros_empty : tensor<3x5xf32>) -> tensor<3x5xf32>
  %sum = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                     affine_map<(m, n, k) -> (n, k)>,
                     affine_map<(m, n, k) -> (m, n)>]
    {kiln.configuration = "tile_config_2x5_4x1_fma_2x16_packb"}
    ins(%lhs, %rhs : tensor<3x4xf16>, tensor<5x4xf16>)
    outs(%zeros : tensor<3x5xf32>) -> tensor<3x5xf32>
  %finished = tensor.empty() : tensor<3x5xf16>
  %result = linalg.generic {
    indexing_maps = [affine_map<(m, n) -> (m, n)>,
                     affine_map<(m, n) -> (n)>,
                     affine_map<(m, n) -> (m, n)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%sum, %bias : tensor<3x5xf32>, tensor<5xf16>) outs(%finished : tensor<3x5xf16>) {
  ^bb0(%wide: f32, %bias_in: f16, %old: f16):
    %wide_bias = arith.extf %bias_in : f16 to f32
    %biased = arith.addf %wide, %wide_bias : f32
    %none = arith.constant 0.0 : f32
    %activated = arith.maximumf %biased, %none : f32
    %rounded = arith.truncf %activated : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<3x5xf16>
  return %result : tensor<3x5xf16>
}
