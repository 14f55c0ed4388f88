// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-cuda-select-lowering,kiln-cuda-lower-executable-target)))' | FileCheck %s

#target = #hal.executable.target<"cuda", "ptx", {cpu = "sm_80"}>

// From tensors to threads: the export gets its workgroup count, and no tensor and no linalg is left.
// CHECK-LABEL: hal.executable.export public @rows
//       CHECK:   hal.return %c{{.*}}, %c1, %c1
// CHECK-LABEL: func.func @rows
//   CHECK-NOT:   tensor
//   CHECK-NOT:   linalg
//       CHECK:   gpu.block_id x
//       CHECK:   gpu.thread_id x
//       CHECK:   gpu.shuffle
hal.executable private @executable {
  hal.executable.variant public @cuda target(#target) {
    hal.executable.export public @rows ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @rows() {
        %zero = arith.constant 0.0 : f32
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<64x1000xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<64x1000xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x1000xf32>
        %2 = hal.interface.binding.subspan binding(1) <writeonly> : memref<64xf32, #hal.descriptor_type<storage_buffer>>
        %3 = tensor.empty() : tensor<64xf32>
        %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<64xf32>) -> tensor<64xf32>
        %5 = linalg.reduce { arith.addf } ins(%1 : tensor<64x1000xf32>) outs(%4 : tensor<64xf32>) dimensions = [1]
        bufferization.materialize_in_destination %5 in restrict writable %2 : (tensor<64xf32>, memref<64xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}
