// RUN: bash %S/Inputs/configure %S/Inputs/programs.mlir znver4 | FileCheck %s --check-prefix=CHECK
// CHECK: @exp_dispatch_0_{{.*}}: elementwise tile_config_1x16384_0x1_vector
// Everything that has no reduction, and what is moved rather than computed: so many elements to a workgroup.
module attributes {hal.tuning = [
  {strategy = "elementwise", m = [1, 1], configuration = "tile_config_1x16384_0x1_vector"},
  {strategy = "elementwise", configuration = "tile_config_64x256_0x1_vector"},
  {strategy = "default", configuration = "tile_config_64x256_0x1_vector"}
]} {}
