// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(kiln-hal-translate-executable)))' \
// RUN:   --split-input-file --verify-diagnostics | FileCheck %s

// Code in the target's dialect, and a workgroup count.
// CHECK: hal.executable.export public @f
// CHECK-SAME: count() -> (index, index, index)
// CHECK: %[[ONE:.+]] = arith.constant 1 : index
// CHECK-NEXT: hal.return %[[ONE]], %[[ONE]], %[[ONE]]
// CHECK: llvm.func @f(
// CHECK: llvm.intr.fabs({{.*}}) : (vector<4xf32>) -> vector<4xf32>
// CHECK-NOT: func.func
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", native_vector_bits = 128 : i64, target_triple = "x86_64-unknown-linux-gnu"}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      func.func @f() attributes {lowering = #hal.lowering<"elementwise", "tile_config_1x64_0x1_vector">} {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<64xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<64xf32, #hal.descriptor_type<storage_buffer>> to tensor<64xf32>
        %2 = hal.interface.binding.subspan binding(1) <writeonly> : memref<64xf32, #hal.descriptor_type<storage_buffer>>
        %3 = tensor.empty() : tensor<64xf32>
        %4 = linalg.abs ins(%1 : tensor<64xf32>) outs(%3 : tensor<64xf32>) -> tensor<64xf32>
        bufferization.materialize_in_destination %4 in restrict writable %2 : (tensor<64xf32>, memref<64xf32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

// Of so much work it is told that one workgroup does it all.
// CHECK: hal.executable.variant public @llvm_cpu
// CHECK-SAME: kiln.remarks
// CHECK-SAME: #util.remark<one_workgroup, "g", "runs in one workgroup, although it has 1000003 steps"
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", native_vector_bits = 128 : i64, target_triple = "x86_64-unknown-linux-gnu"}>) {
    hal.executable.export public @g ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readwrite]>)
    builtin.module {
      func.func @g() attributes {lowering = #hal.lowering<"reduction", "tile_config_1x1_0x1_vector">} {
        %0 = hal.interface.binding.subspan binding(0) <readonly> : memref<1000003xf32, #hal.descriptor_type<storage_buffer>>
        %1 = bufferization.to_tensor %0 restrict : memref<1000003xf32, #hal.descriptor_type<storage_buffer>> to tensor<1000003xf32>
        %2 = hal.interface.binding.subspan binding(1) <readwrite> : memref<f32, #hal.descriptor_type<storage_buffer>>
        %3 = bufferization.to_tensor %2 restrict writable : memref<f32, #hal.descriptor_type<storage_buffer>> to tensor<f32>
        %4 = linalg.reduce { arith.addf } ins(%1 : tensor<1000003xf32>) outs(%3 : tensor<f32>) dimensions = [0]
        bufferization.materialize_in_destination %4 in restrict writable %2 : (tensor<f32>, memref<f32, #hal.descriptor_type<storage_buffer>>) -> ()
        return
      }
    }
  }
}

// -----

hal.executable private @ex {
  // expected-error @+1 {{needs the target backend 'other', which this build does not have}}
  hal.executable.variant public @other target(<"other", "other", {}>) {
    builtin.module {
    }
  }
}

// -----

hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {cpu = "generic", cpu_features = "", data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", native_vector_bits = 128 : i64, target_triple = "x86_64-unknown-linux-gnu"}>) {
    // expected-error @+1 {{'f' has no workgroup count after code generation; a transform spec sets it with transform.iree.populate_workgroup_count_region_using_num_threads_slice}}
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly]>)
    builtin.module {
    }
  }
}
