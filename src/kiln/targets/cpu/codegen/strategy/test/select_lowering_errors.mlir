// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering)))'

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{'tile_config_8_64x1_fma' is no configuration: '8' is no tile {M}x{N}}}
      func.func @f() attributes {lowering = #hal.lowering<"contraction", "tile_config_8_64x1_fma">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a strategy 'wmma' that llvm-cpu does not have; it has contraction, reduction, elementwise and default}}
      func.func @f() attributes {lowering = #hal.lowering<"wmma", "tile_config_8x8_64x1_fma">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a configuration for instructions 'tensorcore_mmasync'; llvm-cpu has fma, vector and scalar}}
      func.func @f() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x128_64x4_tensorcore_mmasync">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a configuration with 4 stages; llvm-cpu does not overlap K tiles, so it must be 1}}
      func.func @f() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x128_64x4_fma">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a configuration with a register tile that no CPU can hold}}
      func.func @f() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x128_64x1_fma_128x128">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a 'lowering' that is no #hal.lowering<"strategy", "tile_config_...">}}
      func.func @f() attributes {lowering = "contraction"} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // expected-error @+1 {{has a wrong configuration: 'tile_128' is no configuration: it must start with tile_config_}}
      func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        %r = linalg.exp {kiln.configuration = "tile_128"} ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }
    }
  }
}
