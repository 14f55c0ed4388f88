// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering,kiln-llvmcpu-lower-executable-target)))' | FileCheck %s

// From tensors to vectors, memory and workgroups, in one pass.

// CHECK-LABEL: hal.executable.export public @main_dispatch_0_matmul_DxDx64_f32
// CHECK-SAME:    count(%[[M:.+]]: index, %[[N:.+]]: index) -> (index, index, index)
// CHECK:         hal.return
// CHECK-LABEL: func.func @main_dispatch_0_matmul_DxDx64_f32()
// CHECK-NOT:     tensor<
// CHECK-NOT:     linalg.
// CHECK-NOT:     scf.forall
// CHECK-NOT:     #hal.descriptor_type
// CHECK-DAG:     hal.interface.workgroup.id[0]
// CHECK-DAG:     hal.interface.workgroup.id[1]
// CHECK:         math.fma {{.*}} : vector<16xf32>
// CHECK:         return
#target = #hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>
hal.executable private @main_dispatch_0 {
  hal.executable.variant public @llvm_cpu target(#target) {
    hal.executable.export public @main_dispatch_0_matmul_DxDx64_f32 ordinal(0) layout(#hal.pipeline.layout<constants = 2, bindings = [readonly, readonly, writeonly]>)
    builtin.module {
      func.func @main_dispatch_0_matmul_DxDx64_f32() {
        %zero = arith.constant 0.0 : f32
        %m = hal.interface.constant.load[0] : index
        %n = hal.interface.constant.load[1] : index
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<?x64xf32, #hal.descriptor_type<storage_buffer>>{%m}
        %a = bufferization.to_tensor %0 restrict : memref<?x64xf32, #hal.descriptor_type<storage_buffer>> to tensor<?x64xf32>
        %1 = hal.interface.binding.subspan binding(1) <readonly> : memref<64x?xf32, #hal.descriptor_type<storage_buffer>>{%n}
        %b = bufferization.to_tensor %1 restrict : memref<64x?xf32, #hal.descriptor_type<storage_buffer>> to tensor<64x?xf32>
        %2 = hal.interface.binding.subspan binding(2) <writeonly> : memref<?x?xf32, #hal.descriptor_type<storage_buffer>>{%m, %n}
        %e = tensor.empty(%m, %n) : tensor<?x?xf32>
        %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
        %r = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
        bufferization.materialize_in_destination %r in restrict writable %2
          : (tensor<?x?xf32>, memref<?x?xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}
