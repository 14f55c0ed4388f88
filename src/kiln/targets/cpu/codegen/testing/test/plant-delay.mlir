// The loop that kiln-lying-compile plants stands in the kernel of a contraction, and in no other; kiln-compile has no such
// flag.
// RUN: $LYING_COMPILE --kiln-hal-target-backends=llvm-cpu --kiln-debug-plant-delay=7 --compile-to=executable-targets %s | FileCheck %s
// RUN: not kiln-compile --kiln-hal-target-backends=llvm-cpu --kiln-debug-plant-delay=7 %s 2>&1 | FileCheck %s --check-prefix=PRODUCT

// PRODUCT: unknown flag '--kiln-debug-plant-delay'

// CHECK-LABEL: llvm.func @{{.*}}elementwise
// CHECK-NOT: llvm.inline_asm
// CHECK-LABEL: llvm.func @{{.*}}matmul
// CHECK: llvm.inline_asm has_side_effects
// CHECK-NOT: llvm.inline_asm
func.func @f(%a: tensor<32x16xf32>, %b: tensor<16x24xf32>, %c: tensor<32x24xf32>) -> (tensor<32x16xf32>, tensor<32x24xf32>) {
  %e = tensor.empty() : tensor<32x16xf32>
  %x = linalg.exp ins(%a : tensor<32x16xf32>) outs(%e : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.matmul ins(%a, %b : tensor<32x16xf32>, tensor<16x24xf32>) outs(%c : tensor<32x24xf32>) -> tensor<32x24xf32>
  return %x, %r : tensor<32x16xf32>, tensor<32x24xf32>
}
