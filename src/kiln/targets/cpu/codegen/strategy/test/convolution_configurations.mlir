// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering)))' | FileCheck %s

#avx512 = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma", native_vector_bits = 512 : i64}>
hal.executable private @e {
  hal.executable.variant public @v target(#avx512) {
    builtin.module {
      // Rows are pixels of a row of the image; channels are what k is about.
      // CHECK-LABEL: func.func @nhwc(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_56x64_64x1_fma_14x32">
      func.func @nhwc(%image: tensor<1x58x58x64xf32>, %filter: tensor<3x3x64x64xf32>, %out: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
        %r = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%out : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
        return %r : tensor<1x56x56x64xf32>
      }
      // Rows are filters, outside of the rows of the image: m has 13 filters, with all 56 rows of each.
      // CHECK-LABEL: func.func @nchw(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_728x32_64x1_fma_13x32">
      func.func @nchw(%image: tensor<1x64x58x58xf32>, %filter: tensor<64x64x3x3xf32>, %out: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
        %r = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%out : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
        return %r : tensor<1x64x56x56xf32>
      }
      // Rows of many filters are copied into panels, for all lines of the image that a workgroup can have.
      // CHECK-LABEL: func.func @many_filters(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_56x32_128x1_fma_14x32_packb">
      func.func @many_filters(%image: tensor<1x16x16x256xf32>, %filter: tensor<3x3x256x256xf32>, %out: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
        %r = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<1x16x16x256xf32>, tensor<3x3x256x256xf32>) outs(%out : tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32>
        return %r : tensor<1x14x14x256xf32>
      }
      // Columns of the image are no filters.
      // CHECK-LABEL: func.func @wide_image(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_{{[0-9]+x[0-9]+}}_64x1_fma_{{[0-9]+x[0-9]+}}">
      func.func @wide_image(%image: tensor<1x64x58x258xf32>, %filter: tensor<64x64x3x3xf32>, %out: tensor<1x64x56x256xf32>) -> tensor<1x64x56x256xf32> {
        %r = linalg.conv_2d_nchw_fchw ins(%image, %filter : tensor<1x64x58x258xf32>, tensor<64x64x3x3xf32>) outs(%out : tensor<1x64x56x256xf32>) -> tensor<1x64x56x256xf32>
        return %r : tensor<1x64x56x256xf32>
      }
      // What is written on the op is taken as it is.
      // CHECK-LABEL: func.func @given(
      // CHECK-SAME:    lowering = #hal.lowering<"contraction", "tile_config_112x64_16x1_fma_14x32_packb">
      // CHECK-NOT:     kiln.configuration
      func.func @given(%image: tensor<1x58x58x64xf32>, %filter: tensor<3x3x64x64xf32>, %out: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
        %r = linalg.conv_2d_nhwc_hwcf {kiln.configuration = "tile_config_112x64_16x1_fma_14x32_packb"} ins(%image, %filter : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%out : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
        return %r : tensor<1x56x56x64xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%image: tensor<1x64x58x58xf32>, %filter: tensor<64x64x3x3xf32>, %out: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
        // expected-error @+1 {{has a configuration that packs B, the filters (_packb); that needs a result whose innermost dimension is the filters, each of which has all channels of its group}}
        %r = linalg.conv_2d_nchw_fchw {kiln.configuration = "tile_config_896x56_64x1_fma_8x16_packb"} ins(%image, %filter : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%out : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
        return %r : tensor<1x64x56x56xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%image: tensor<1x10x10x16xf32>, %filter: tensor<3x3x16xf32>, %out: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
        // expected-error @+1 {{has a configuration that packs B, the filters (_packb)}}
        %r = linalg.depthwise_conv_2d_nhwc_hwc {kiln.configuration = "tile_config_64x16_1x1_fma_4x16_packb"} ins(%image, %filter : tensor<1x10x10x16xf32>, tensor<3x3x16xf32>) outs(%out : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
        return %r : tensor<1x8x8x16xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%image: tensor<1x9x9x512xf32>, %filter: tensor<3x3x512x512xf32>, %out: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
        // expected-error @+1 {{has a configuration whose panels of filters (_packb) take 9437184 bytes of the 2097152 that they may; a smaller N or K makes them smaller}}
        %r = linalg.conv_2d_nhwc_hwcf {kiln.configuration = "tile_config_49x512_512x1_fma_7x32_packb"} ins(%image, %filter : tensor<1x9x9x512xf32>, tensor<3x3x512x512xf32>) outs(%out : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
        return %r : tensor<1x7x7x512xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a configuration with a register tile that no CPU can hold}}
      func.func @f(%image: tensor<1x9x9x512xf32>, %filter: tensor<3x3x512x512xf32>, %out: tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32> {
        %r = linalg.conv_2d_nhwc_hwcf {kiln.configuration = "tile_config_49x512_512x1_fma_64x32"} ins(%image, %filter : tensor<1x9x9x512xf32>, tensor<3x3x512x512xf32>) outs(%out : tensor<1x7x7x512xf32>) -> tensor<1x7x7x512xf32>
        return %r : tensor<1x7x7x512xf32>
      }
    }
  }
}
