// RUN: kiln-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target)))'

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @f() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8xf32>
        %a = bufferization.to_tensor %0 restrict : memref<8xf32> to tensor<8xf32>
        %1 = hal.interface.binding.subspan binding(1) <writeonly> : memref<8xf32>
        // expected-error @+1 {{'func.call' op cannot be part of a dispatch: it works on tensors, and has no form on memory}}
        %r = func.call @g(%a) : (tensor<8xf32>) -> tensor<8xf32>
        bufferization.materialize_in_destination %r in restrict writable %1 : (tensor<8xf32>, memref<8xf32>) -> ()
        return
      }
      func.func private @g(tensor<8xf32>) -> tensor<8xf32>
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
    builtin.module {
      // expected-error @+1 {{has a configuration for instructions 'tensorcore_mmasync'; llvm-cpu has fma, vector and scalar}}
      func.func @f() attributes {lowering = #hal.lowering<"contraction", "tile_config_128x128_64x1_tensorcore_mmasync">} {
        return
      }
    }
  }
}

// -----

hal.executable private @e {
  hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>) count() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      // expected-error @+1 {{is distributed already: its export has a workgroup count}}
      func.func @f() {
        return
      }
    }
  }
}
