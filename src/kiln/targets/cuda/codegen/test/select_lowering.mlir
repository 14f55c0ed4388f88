// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-cuda-select-lowering)))' | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>
#map = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

hal.executable private @dispatches {
  hal.executable.variant public @cuda target(#target) {
    builtin.module {
      // CHECK-LABEL: func.func @matmul(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_16x64_16x4_simt_ffma_4x4">
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
      // What tiles would make faster says why it has none, and what multiplies scalars why it has no tensor cores.
      // CHECK-LABEL: func.func @convolution(
      // CHECK-SAME:    kiln.remarks = [#util.remark<scalar_loop, "convolution", "computes its contraction without tiles in shared memory, since it reads an input at what is computed of several loops, as a convolution does"
      func.func @convolution(%a: tensor<1x34x34x64xf16>, %b: tensor<3x3x64x64xf16>, %c: tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32> {
        %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x34x34x64xf16>, tensor<3x3x64x64xf16>) outs(%c : tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32>
        return %r : tensor<1x32x32x64xf32>
      }
      // CHECK-LABEL: func.func @two_sums(
      // CHECK-SAME:    since it adds up along 2 loops, not one
      func.func @two_sums(%a: tensor<64x8x64xf16>, %b: tensor<8x64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
        %r = linalg.generic {indexing_maps = [affine_map<(m, n, j, k) -> (m, j, k)>, affine_map<(m, n, j, k) -> (j, k, n)>, affine_map<(m, n, j, k) -> (m, n)>],
                             iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
            ins(%a, %b : tensor<64x8x64xf16>, tensor<8x64x64xf16>) outs(%c : tensor<64x64xf32>) {
        ^bb0(%x: f16, %y: f16, %before: f32):
          %product = arith.mulf %x, %y : f16
          %wide = arith.extf %product : f16 to f32
          %next = arith.addf %before, %wide : f32
          linalg.yield %next : f32
        } -> tensor<64x64xf32>
        return %r : tensor<64x64xf32>
      }
      // CHECK-LABEL: func.func @bytes(
      // CHECK-SAME:    "multiplies without tensor cores, which take
      // CHECK-SAME:    _simt_ffma
      func.func @bytes(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %c: tensor<512x512xi32>) -> tensor<512x512xi32> {
        %r = linalg.matmul ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%c : tensor<512x512xi32>) -> tensor<512x512xi32>
        return %r : tensor<512x512xi32>
      }
      // Each element of the image is used by one filter alone.
      // CHECK-LABEL: func.func @depthwise(
      // CHECK-SAME:    attributes {lowering =
      func.func @depthwise(%a: tensor<1x34x34x64xf32>, %b: tensor<3x3x64xf32>, %c: tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32> {
        %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%a, %b : tensor<1x34x34x64xf32>, tensor<3x3x64xf32>) outs(%c : tensor<1x32x32x64xf32>) -> tensor<1x32x32x64xf32>
        return %r : tensor<1x32x32x64xf32>
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
      // What the program says of its dispatch is taken; what it says for CPUs is not.
      // CHECK-LABEL: func.func @asked(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_128x64_32x3_tensorcore_mmasync">
      func.func @asked(%a: tensor<512x512xf16>, %c: tensor<512x512xf16>) -> tensor<512x512xf16> {
        %r = linalg.matmul {kiln.configuration = "tile_config_128x64_32x3_tensorcore_mmasync"} ins(%a, %a : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf16>) -> tensor<512x512xf16>
        return %r : tensor<512x512xf16>
      }
      // CHECK-LABEL: func.func @other(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_64x64_64x4_tensorcore_mmasync_32x32">
      // expected-warning @below {{has the configuration 'tile_config_64x64_64x1_fma', which is for CPUs; cuda takes its own}}
      func.func @other(%a: tensor<512x512xf16>, %c: tensor<512x512xf16>) -> tensor<512x512xf16> {
        %r = linalg.matmul {kiln.configuration = "tile_config_64x64_64x1_fma"} ins(%a, %a : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf16>) -> tensor<512x512xf16>
        return %r : tensor<512x512xf16>
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90a"}>

hal.executable private @dispatches {
  hal.executable.variant public @cuda target(#target) {
    builtin.module {
      // A GPU that has them multiplies by groups of warps, where rows are multiples of 16 bytes.
      // CHECK-LABEL: func.func @grouped(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_128x256_64x4_tensorcore_wgmma_64x256_cluster2x1">
      func.func @grouped(%a: tensor<4096x4096xbf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
        %r = linalg.matmul ins(%a, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
        return %r : tensor<4096x4096xf32>
      }
      // CHECK-LABEL: func.func @odd(
      // CHECK-SAME:    tensorcore_mmasync
      func.func @odd(%a: tensor<127x513xf16>, %b: tensor<513x255xf16>, %c: tensor<127x255xf16>) -> tensor<127x255xf16> {
        %r = linalg.matmul ins(%a, %b : tensor<127x513xf16>, tensor<513x255xf16>) outs(%c : tensor<127x255xf16>) -> tensor<127x255xf16>
        return %r : tensor<127x255xf16>
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_90a"}>

hal.executable private @dispatches {
  hal.executable.variant public @cuda target(#target) {
    builtin.module {
      // expected-error @below {{has the configuration 'tile_config_64x64_64x3_tensorcore_abc', which is for instructions 'tensorcore_abc'; cuda has simt_ffma, tensorcore_wmma, tensorcore_mmasync, tensorcore_wgmma and simt}}
      func.func @wrong(%a: tensor<512x512xf16>, %c: tensor<512x512xf16>) -> tensor<512x512xf16> {
        %r = linalg.matmul {kiln.configuration = "tile_config_64x64_64x3_tensorcore_abc"} ins(%a, %a : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf16>) -> tensor<512x512xf16>
        return %r : tensor<512x512xf16>
      }
    }
  }
}

// -----

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80", fallback}>

hal.executable private @dispatches {
  hal.executable.variant public @cuda_sm_80 target(#target) {
    builtin.module {
      // What was asked of another target need not be possible here.
      // CHECK-LABEL: func.func @fallback(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_64x64_64x4_tensorcore_mmasync_32x32">
      func.func @fallback(%a: tensor<512x512xf16>, %c: tensor<512x512xf16>) -> tensor<512x512xf16> {
        %r = linalg.matmul {kiln.configuration = "tile_config_128x256_64x4_tensorcore_wgmma"} ins(%a, %a : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf16>) -> tensor<512x512xf16>
        return %r : tensor<512x512xf16>
      }
    }
  }
}
