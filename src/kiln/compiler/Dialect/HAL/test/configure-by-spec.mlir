// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --iree-hal-dump-executable-configurations-to=%t --iree-codegen-transform-dialect-library=%S/Inputs/configurations.mlir -o /dev/null
// RUN: cat %t/*_dispatch_0.mlir | FileCheck %s
// RUN: cat %t/*_dispatch_1.mlir | FileCheck %s --check-prefix=OTHER
// RUN: kiln-opt --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-hal-configure-by-spec)))' \
// RUN:   --iree-codegen-transform-dialect-library=%S/Inputs/configurations.mlir@__kernel_config %S/Inputs/dispatch.mlir | FileCheck %s --check-prefix=WRITTEN
// RUN: kiln-opt --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-hal-configure-by-spec)))' \
// RUN:   %S/Inputs/dispatch.mlir | FileCheck %s --check-prefix=NONE
// RUN: not kiln-compile %s --iree-hal-target-backends=llvm-cpu --iree-codegen-transform-dialect-library=%S/Inputs/configurations.mlir@wrong -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not kiln-compile %s --iree-hal-target-backends=llvm-cpu --iree-codegen-transform-dialect-library=%S/Inputs/configurations.mlir@nowhere -o /dev/null 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not kiln-compile %s --iree-hal-target-backends=llvm-cpu --iree-codegen-transform-dialect-library=%t/missing.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: tile_config_1x128_0x1_vector
// OTHER: lowering = #hal.lowering<"elementwise"
// OTHER-NOT: tile_config_1x128_0x1_vector
// WRITTEN: linalg.abs {kiln.configuration = "tile_config_1x128_0x1_vector"}
// NONE: linalg.abs ins
// WRONG: error: {{.*}}tile_config_everything
// NOWHERE: holds no transform to start with; write one transform.sequence, or a transform.named_sequence @nowhere
// MISSING: cannot read the transform spec '{{.*}}missing.mlir': No such file or directory
func.func @f(%x: tensor<8x64xf32>, %y: tensor<8x32xf32>) -> (tensor<8x64xf32>, tensor<8x32xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %r = linalg.abs ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
  %e2 = tensor.empty() : tensor<8x32xf32>
  %r2 = linalg.abs ins(%y : tensor<8x32xf32>) outs(%e2 : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r, %r2 : tensor<8x64xf32>, tensor<8x32xf32>
}
