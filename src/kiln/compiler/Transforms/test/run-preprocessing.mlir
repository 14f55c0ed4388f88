// RUN: kiln-opt %s --kiln-run-preprocessing \
// RUN:   '--iree-preprocessing-pass-pipeline=builtin.module(util.func(linalg-generalize-named-ops))' | FileCheck %s
// RUN: kiln-opt %s --kiln-run-preprocessing \
// RUN:   '--iree-preprocessing-pass-pipeline=util.func(linalg-generalize-named-ops)' | FileCheck %s
// RUN: not kiln-opt %s --kiln-run-preprocessing --iree-preprocessing-pass-pipeline=no-such-pass 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR
// RUN: kiln-opt %s --kiln-run-preprocessing | FileCheck %s --check-prefix=NONE

// RUN: kiln-opt %s --kiln-run-preprocessing --kiln-hal-target-backends=cuda \
// RUN:   '--iree-preprocessing-pass-pipeline=builtin.module(iree-preprocessing-transpose-convolution-pipeline, util.func(iree-preprocessing-pad-to-intrinsics))' \
// RUN:   | FileCheck %s --check-prefix=LAST

// LAST: util.func @convolution
// LAST: linalg.transpose ins(%arg0 : tensor<1x8x6x6xf32>) outs(%{{.*}} : tensor<1x6x6x8xf32>) permutation = [0, 2, 3, 1]
// LAST: tensor<3x3x8x4xf32>
// NONE: linalg.conv_2d_nchw_fchw
util.func @convolution(%image: tensor<1x8x6x6xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %filter = flow.tensor.parameter #flow.parameter.named<"filter"> : tensor<4x8x3x3xf32>
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x8x6x6xf32>, tensor<4x8x3x3xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  util.return %c : tensor<1x4x4x4xf32>
}

// The user's pipeline sees util.func and linalg, and may rewrite them.
// CHECK: util.func @main
// CHECK: linalg.generic
// CHECK-NOT: linalg.matmul
// NONE: linalg.matmul
// ERROR: error: --kiln-preprocessing-pass-pipeline cannot be parsed:
// ERROR-SAME: no-such-pass
util.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  util.return %0 : tensor<4x4xf32>
}
