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
