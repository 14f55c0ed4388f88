// Both specs of the documents, byte for byte, as in their commands.

// RUN: %limit kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering,kiln-llvmcpu-lower-executable-target{spec=%S/Inputs/matmul_static_spec.mlir})))' | FileCheck %s --check-prefix=STATIC
// RUN: sed -e 's/3x5xf32/128x128xf32/g' -e 's/5x3xf32/128x128xf32/g' -e 's/3x3xf32/128x128xf32/g' %s > %t.mlir
// RUN: %limit kiln-opt %t.mlir --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-select-lowering,kiln-llvmcpu-lower-executable-target{spec=%S/Inputs/matmul_codegen_default_spec.mlir})))' | FileCheck %s --check-prefix=DEFAULT

// Kiln's own names do the same.
// RUN: sed -e 's/transform\.iree\./transform.kiln./' -e 's/apply_patterns\.iree\./apply_patterns.kiln./' %S/Inputs/matmul_codegen_default_spec.mlir > %t.kiln.mlir
// RUN: kiln-opt %t.mlir --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-llvmcpu-lower-executable-target{spec=%t.kiln.mlir})))' | FileCheck %s --check-prefix=DEFAULT

// STATIC-LABEL: hal.executable.export public @matmul_static
// STATIC-SAME:    count() -> (index, index, index)
// STATIC-DAG:     %[[TWO:.+]] = arith.constant 2 : index
// STATIC-DAG:     %[[ONE:.+]] = arith.constant 1 : index
// STATIC:         hal.return %[[TWO]], %[[ONE]], %{{.+}} : index, index, index
// STATIC-LABEL: func.func @matmul_static()
// STATIC:         hal.interface.workgroup.id[0]
// STATIC:         vector.maskedstore
// STATIC-NOT:     linalg.matmul

// DEFAULT-LABEL: hal.executable.export public @matmul_static
// DEFAULT:         %[[COUNT:.+]] = arith.constant 64 : index
// DEFAULT:         hal.return %[[COUNT]],
// DEFAULT-LABEL: func.func @matmul_static()
// DEFAULT-NOT:     memref.alloc
// DEFAULT:         hal.interface.workgroup.id[0]
// DEFAULT:         vector.transfer_read {{.*}} : memref<128x128xf32>, vector<2x128xf32>
// DEFAULT:         vector.contract {{.*}} into vector<2x128xf32>
// DEFAULT:         vector.transfer_write {{.*}} : vector<2x128xf32>

hal.executable private @matmul_static_dispatch_0 {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512bw,+avx512f,+avx512vl,+fma"}>) {
    hal.executable.export public @matmul_static ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, readwrite]>)
    builtin.module {
      func.func @matmul_static() {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<3x5xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<3x5xf32, #hal.descriptor_type<storage_buffer>> to tensor<3x5xf32>
        %2 = hal.interface.binding.subspan binding(1) <readonly> : memref<5x3xf32, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict : memref<5x3xf32, #hal.descriptor_type<storage_buffer>> to tensor<5x3xf32>
        %4 = hal.interface.binding.subspan binding(2) <readwrite> : memref<3x3xf32, #hal.descriptor_type<storage_buffer>>
        %5 = bufferization.to_tensor %4 restrict writable : memref<3x3xf32, #hal.descriptor_type<storage_buffer>> to tensor<3x3xf32>
        %6 = linalg.matmul ins(%1, %3 : tensor<3x5xf32>, tensor<5x3xf32>) outs(%5 : tensor<3x3xf32>) -> tensor<3x3xf32>
        bufferization.materialize_in_destination %6 in restrict writable %4 : (tensor<3x3xf32>, memref<3x3xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}
