// What a tuning database says of an operation on an architecture is taken before the default, and after the program.
// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-cuda-select-lowering{tuning-db=%S/Inputs/tuning.json dump-tuning-keys-to=%t.keys})))' \
// RUN:   2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t.err
// RUN: FileCheck %s --check-prefix=KEY < %t.keys/product.json
// What is found out when the kernel is written makes room for the default there.
// RUN: kiln-compile --kiln-hal-target-backends=cuda --kiln-hal-cuda-llvm-target-arch=sm_90a --tuning-db=%S/Inputs/tuning.json %S/Inputs/tuned_kernels.mlir \
// RUN:   -o %t.vmfb 2> %t.err
// RUN: FileCheck %s --check-prefix=KERNEL < %t.err
// A database of other architectures.
// RUN: kiln-compile --kiln-hal-target-backends=cuda --kiln-hal-cuda-llvm-target-arch=sm_89 --tuning-db=%S/Inputs/tuning.json %S/Inputs/tuned_kernels.mlir \
// RUN:   -o %t.vmfb 2> %t.err
// RUN: FileCheck %s --check-prefix=OTHER < %t.err

// KEY: "operation":"contraction p512 p512 r512: f16(d0, d2) f16(d2, d1) -> f32(d0, d1) by arith.extf arith.extf arith.mulf arith.addf","target":"cuda sm_90a"
// KEY-SAME: "configuration":"tile_config_128x128_64x3_tensorcore_wgmma_cluster2x1","source":"tuning-db"

// WARNING: warning: {{.*}}takes the default configuration, since what '{{.*}}tuning.json' says of it, tile_config_32x32_16x3_tensorcore_mmasync, is not legal for it: it computes f32 in tf32, which nobody asked for
// WARNING: warning: {{.*}}tile_config_48x64_64x4_tensorcore_mmasync, is not legal for it: it has 48 in it; tiles of tensorcore_mmasync are powers of two
// WARNING-NOT: {{warning|error}}
// KERNEL-DAG: warning: {{.*}}tile_config_64x64_16x4_tensorcore_mmasync_32x32, is not legal for it: it has a tile of 16 along K that is not 32 or 64, as tensorcore_mmasync wants for these elements
// KERNEL-DAG: warning: {{.*}}tile_config_256x128_64x16_tensorcore_wgmma_64x128, is not legal for it: it needs 852992 bytes of shared memory; sm_90a has 232448 for a block
// KERNEL-DAG: warning: {{.*}}tile_config_32x32_64x3_tensorcore_mmasync{{.*}}, is not legal for it: the operation multiplies what tensor cores do not
// KERNEL-DAG: warning: {{.*}}tile_config_64x64_64x4_tensorcore_wgmma{{.*}}, is not legal for it: the operation has inputs whose rows are no multiples of 16 bytes
// OTHER: warning: --tuning-db: nothing in '{{.*}}tuning.json' was measured for cuda sm_89, so that dispatches take their defaults there; it was measured for cuda sm_80, cuda sm_90a, llvm-cpu x86_64 generic
// OTHER-NOT: {{warning|error}}

#sm_90a = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90a"}>
#sm_80 = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80", fallback}>
#sm_90 = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90"}>

hal.executable private @dispatches {
  hal.executable.variant public @here target(#sm_90a) {
    builtin.module {
      // CHECK-LABEL: func.func @product(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_128x128_64x3_tensorcore_wgmma_cluster2x1">
      func.func @product(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // CHECK-LABEL: func.func @configured(
      // CHECK-SAME:    "tile_config_64x64_64x3_tensorcore_mmasync">
      func.func @configured(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul {kiln.configuration = "tile_config_64x64_64x3_tensorcore_mmasync"}
            ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // f32 stays f32, whatever was merged into the file.
      // CHECK-LABEL: func.func @exact(
      // CHECK-SAME:    simt_ffma
      func.func @exact(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
        return %r : tensor<64x64xf32>
      }
      // CHECK-LABEL: func.func @tuned_exact(
      // CHECK-SAME:    "tile_config_32x32_8x2_simt_ffma_4x4">
      func.func @tuned_exact(%a: tensor<32x64xf32>, %b: tensor<64x64xf32>, %c: tensor<32x64xf32>) -> tensor<32x64xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<32x64xf32>, tensor<64x64xf32>) outs(%c : tensor<32x64xf32>) -> tensor<32x64xf32>
        return %r : tensor<32x64xf32>
      }
      // CHECK-LABEL: func.func @illegal(
      // CHECK-SAME:    tensorcore_wgmma_64x
      func.func @illegal(%a: tensor<64x64xf16>, %b: tensor<64x512xf16>, %c: tensor<64x512xf32>) -> tensor<64x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x512xf16>) outs(%c : tensor<64x512xf32>) -> tensor<64x512xf32>
        return %r : tensor<64x512xf32>
      }
    }
  }
  // Each architecture has its own, and none has another's.
  hal.executable.variant public @fallback target(#sm_80) {
    builtin.module {
      // CHECK-LABEL: func.func @product(
      // CHECK-SAME:    "tile_config_64x128_32x5_tensorcore_mmasync">
      func.func @product(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
    }
  }
  hal.executable.variant public @other target(#sm_90) {
    builtin.module {
      // CHECK-LABEL: func.func @elsewhere(
      // CHECK-SAME:    "tile_config_32x64_64x4_tensorcore_mmasync_16x32">
      func.func @elsewhere(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
    }
  }
}
