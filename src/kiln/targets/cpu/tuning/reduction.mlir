// RUN: bash %S/Inputs/configure %S/Inputs/programs.mlir znver4 | FileCheck %s --check-prefix=CHECK
// CHECK: @row_sums_dispatch_0_{{.*}}: reduction tile_config_{{.*}}_0x1_vector
// Reductions of one input: so many elements of the input to a workgroup.
module attributes {hal.tuning = [
  {strategy = "reduction", configuration = "tile_config_64x256_0x1_vector"}
]} {}
