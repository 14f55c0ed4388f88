// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-cuda-select-lowering)))' | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>
#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

hal.executable private @dispatches {
  hal.executable.variant public @cuda target(#target) {
    builtin.module {
      // CHECK-LABEL: func.func @matmul(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_32x32_0x1_simt">
      func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
        return %r : tensor<512x512xf32>
      }
      // A long row is all that a block sums up; of columns there are a half or a whole line of the cache.
      // CHECK-LABEL: func.func @rows(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x1_0x1_simt">
      func.func @rows(%a: tensor<64x4096xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<64x4096xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
        return %r : tensor<64xf32>
      }
      // CHECK-LABEL: func.func @columns(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x16_0x1_simt">
      func.func @columns(%a: tensor<4096x64xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<4096x64xf32>) outs(%c : tensor<64xf32>) dimensions = [0]
        return %r : tensor<64xf32>
      }
      // CHECK-LABEL: func.func @many_columns(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x32_0x1_simt">
      func.func @many_columns(%a: tensor<64x8192xf32>, %c: tensor<8192xf32>) -> tensor<8192xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<64x8192xf32>) outs(%c : tensor<8192xf32>) dimensions = [0]
        return %r : tensor<8192xf32>
      }
      // A warp for each short row, four in a block.
      // CHECK-LABEL: func.func @short_rows(
      // CHECK-SAME:    lowering = #hal.lowering<"reduction", "tile_config_1x4_0x1_simt">
      func.func @short_rows(%a: tensor<64x256xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
        %r = linalg.reduce { arith.addf } ins(%a : tensor<64x256xf32>) outs(%c : tensor<64xf32>) dimensions = [1]
        return %r : tensor<64xf32>
      }
      // A product with a vector reduces the matrix's rows or columns.
      // CHECK-LABEL: func.func @vecmat(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_1x32_0x1_simt">
      func.func @vecmat(%a: tensor<1x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<1x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
        return %r : tensor<1x4096xf32>
      }
      // CHECK-LABEL: func.func @matvec(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_4x1_0x1_simt">
      func.func @matvec(%a: tensor<4096x256xf16>, %b: tensor<256x1xf16>, %c: tensor<4096x1xf32>) -> tensor<4096x1xf32> {
        %r = linalg.matmul ins(%a, %b : tensor<4096x256xf16>, tensor<256x1xf16>) outs(%c : tensor<4096x1xf32>) -> tensor<4096x1xf32>
        return %r : tensor<4096x1xf32>
      }
      // Two vectors for each of 256 threads, and fewer where there would be few blocks.
      // CHECK-LABEL: func.func @elementwise(
      // CHECK-SAME:    lowering = #hal.lowering<"elementwise", "tile_config_1x2048_0x1_simt">
      func.func @elementwise(%a: tensor<16777216xf32>, %c: tensor<16777216xf32>) -> tensor<16777216xf32> {
        %r = linalg.exp ins(%a : tensor<16777216xf32>) outs(%c : tensor<16777216xf32>) -> tensor<16777216xf32>
        return %r : tensor<16777216xf32>
      }
      // CHECK-LABEL: func.func @short(
      // CHECK-SAME:    lowering = #hal.lowering<"elementwise", "tile_config_1x256_0x1_simt">
      func.func @short(%a: tensor<65536xf32>, %c: tensor<65536xf32>) -> tensor<65536xf32> {
        %r = linalg.exp ins(%a : tensor<65536xf32>) outs(%c : tensor<65536xf32>) -> tensor<65536xf32>
        return %r : tensor<65536xf32>
      }
      // CHECK-LABEL: func.func @transpose(
      // CHECK-SAME:    lowering = #hal.lowering<"elementwise", "tile_config_64x64_0x1_simt">
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
