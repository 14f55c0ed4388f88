// Parts of a configuration that its operation would not follow are errors at the operation.
// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering)))'

#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @legal(%a: tensor<8x100xf32>, %b: tensor<8xf32>, %e: tensor<4xf32>) -> (tensor<8xf32>) {
        %r = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"],
            kiln.configuration = "tile_config_1x4_100x1_vector_2x32"} ins(%a : tensor<8x100xf32>) outs(%b : tensor<8xf32>) {
        ^bb0(%x: f32, %s: f32):
          %t = arith.addf %x, %s : f32
          linalg.yield %t : f32
        } -> tensor<8xf32>
        return %r : tensor<8xf32>
      }
      func.func @blocks(%a: tensor<8x100xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
        // expected-error @+1 {{has the configuration 'tile_config_1x4_64x1_vector_2x32', in which K is 64; a row is reduced as a whole, and it must be 0}}
        %r = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"],
            kiln.configuration = "tile_config_1x4_64x1_vector_2x32"} ins(%a : tensor<8x100xf32>) outs(%b : tensor<8xf32>) {
        ^bb0(%x: f32, %s: f32):
          %t = arith.addf %x, %s : f32
          linalg.yield %t : f32
        } -> tensor<8xf32>
        return %r : tensor<8xf32>
      }
    }
  }
}

// -----

#elements = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%a: tensor<8x100xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
        // expected-error @+1 {{in which M is 4; the result has one dimension here, which N cuts, and M must be 1 or 0}}
        %r = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"],
            kiln.configuration = "tile_config_4x1_0x1_vector"} ins(%a : tensor<8x100xf32>) outs(%b : tensor<8xf32>) {
        ^bb0(%x: f32, %s: f32):
          %t = arith.addf %x, %s : f32
          linalg.yield %t : f32
        } -> tensor<8xf32>
        return %r : tensor<8xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        // expected-error @+1 {{in which K is 2; nothing is reduced here, and it must be 0}}
        %r = linalg.exp {kiln.configuration = "tile_config_1x4_2x1_vector"} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        // expected-error @+1 {{in which the register tile has 2 rows; elementwise operations take one at a time}}
        %r = linalg.exp {kiln.configuration = "tile_config_1x4_0x1_vector_2x8"} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        // expected-error @+1 {{in which _packb asks for panels of B; only contractions have them}}
        %r = linalg.exp {kiln.configuration = "tile_config_1x4_0x1_vector_packb"} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
    }
  }
}
