// RUN: kiln-opt %s --kiln-run-preprocessing \
// RUN:   '--iree-preprocessing-pass-pipeline=builtin.module(util.func(linalg-generalize-named-ops))' | FileCheck %s
// RUN: kiln-opt %s --kiln-run-preprocessing \
// RUN:   '--iree-preprocessing-pass-pipeline=util.func(linalg-generalize-named-ops)' | FileCheck %s
// RUN: not kiln-opt %s --kiln-run-preprocessing --iree-preprocessing-pass-pipeline=no-such-pass 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ERROR
// RUN: kiln-opt %s --kiln-run-preprocessing | FileCheck %s --check-prefix=NONE

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
