hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", native_vector_bits = 128 : i64, target_triple = "x86_64-unknown-linux-gnu"}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @f() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<8x64xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<8x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<8x64xf32>
        %2 = hal.interface.binding.subspan binding(1) <writeonly> : memref<8x64xf32, #hal.descriptor_type<storage_buffer>>
        %3 = tensor.empty() : tensor<8x64xf32>
        %4 = linalg.abs ins(%1 : tensor<8x64xf32>) outs(%3 : tensor<8x64xf32>) -> tensor<8x64xf32>
        bufferization.materialize_in_destination %4 in restrict writable %2 : (tensor<8x64xf32>, memref<8x64xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

