// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-cuda-select-lowering)))' | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>
#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

hal.executable private @dispatches {
  hal.executable.variant public @cuda target(#target) {
    builtin.module {
      // CHECK-LABEL: func.func @matmul(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_64x64_16x3_simt_ffma_8x4">
      func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // A long row is all that a block sums up; columns are summed up 32 at a time.
      // CHECK-LABEL: func.func @rows(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x1_0x1_simt">
      func.func @rows(%a: tensor<64x4096xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<64x4096xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
        return %r : tensor<64xf32>
      }
      // CHECK-LABEL: func.func @columns(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x32_0x1_simt">
      func.func @columns(%a: tensor<4096x64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<4096x64xf32>) outs(%c : tensor<64xf32>) dimensions = [0]
        return %r : tensor<64xf32>
      }
      // CHECK-LABEL: func.func @transpose(
      // CHECK-SAME:    lowering = #hal.lowering<"elementwise", "tile_config_16x64_0x1_simt">
      func.func @transpose(%a: tensor<4096x64xf32>, %c: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
        %r = linalg.transpose ins(%a : tensor<4096x64xf32>) outs(%c : tensor<64x4096xf32>) permutation = [1, 0]
        return %r : tensor<64x4096xf32>
      }
      // What a function has already stays.
      // CHECK-LABEL: func.func @given(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_8x16_0x1_simt">
      func.func @given(%a: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {lowering = #hal.lowering<"contraction", "tile_config_8x16_0x1_simt">} {
        %r = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
        return %r : tensor<8x8xf32>
      }
    }
  }
}
