// RUN: bash %S/Inputs/configure %S/Inputs/programs.mlir znver4 | FileCheck %s --check-prefix=AVX512
// RUN: bash %S/Inputs/configure %S/Inputs/programs.mlir haswell | FileCheck %s --check-prefix=AVX2
// RUN: bash %S/Inputs/configure %S/Inputs/programs.mlir generic | FileCheck %s --check-prefix=SSE
// Tiles shrink to share a result evenly; the register tile is the row's own.
// AVX512: @matmul_dispatch_0_matmul_512x512x512_f32: contraction tile_config_{{.*}}_fma_12x32_packb
// AVX512: @row_by_matrix_dispatch_0_matmul_1x512x512_f32: contraction tile_config_1x256_{{[0-9]+}}x1_fma_1x128
// AVX2: @matmul_dispatch_0_matmul_512x512x512_f32: contraction tile_config_{{.*}}_fma_6x16_packb
// SSE: @matmul_dispatch_0_matmul_512x512x512_f32: contraction tile_config_{{.*}}_fma_4x8_packb
// Contractions: matrix products and what is like them.
module attributes {hal.tuning = [
  // A vector times a matrix: rows of the matrix are used once, so there is nothing to keep but the result.
  {strategy = "contraction", m = [1, 1], configuration = "tile_config_1x256_0x1_fma"},
  {strategy = "contraction", architecture = "x86_64", features = ["avx512f"],
   configuration = "tile_config_96x128_256x1_fma_12x32_packb"},
  {strategy = "contraction", architecture = "x86_64", features = ["avx2", "fma"],
   configuration = "tile_config_96x128_256x1_fma_6x16_packb"},
  {strategy = "contraction", architecture = "x86_64", configuration = "tile_config_96x128_256x1_fma_4x8_packb"},
  {strategy = "contraction", configuration = "tile_config_96x128_256x1_fma_8x8_packb"}
]} {}
