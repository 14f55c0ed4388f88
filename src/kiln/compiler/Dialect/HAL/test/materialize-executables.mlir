// RUN: kiln-opt %s --kiln-hal-materialize-executables --iree-hal-target-backends=llvm-cpu \
// RUN:   --iree-llvmcpu-target-cpu=generic | FileCheck %s
// RUN: not kiln-opt %s --kiln-hal-materialize-executables 2>&1 | FileCheck %s --check-prefix=NOTARGET
// RUN: not kiln-opt %s --kiln-hal-materialize-executables --iree-hal-target-backends=llvm-gpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// NOTARGET: error: no target is given; say --kiln-hal-target-backends=<name>, with one of: llvm-cpu
// UNKNOWN: error: there is no target backend 'llvm-gpu' in this build; there are: llvm-cpu

// Arguments become bindings and constants, which the export counts; how many workgroups there are stays open.
// CHECK: hal.executable private @ex
// CHECK: hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-{{x86_64|arm_64}}", {cpu = "generic",
// CHECK: hal.executable.export public @f ordinal(0)
// CHECK-SAME: layout(#hal.pipeline.layout<constants = 2, bindings = [readonly, readwrite]>)
// CHECK-NOT: count(
// CHECK: func.func @f() {
// CHECK-DAG: %[[N:.+]] = hal.interface.constant.load[0] : index
// CHECK-DAG: %[[X:.+]] = hal.interface.constant.load[1] : i32
// CHECK: %[[A:.+]] = hal.interface.binding.subspan binding(0) <readonly> : memref<?x4xf32, #hal.descriptor_type<storage_buffer>>{%[[N]]}
// CHECK: %[[B:.+]] = hal.interface.binding.subspan binding(1) <readwrite> : memref<8xi32, #hal.descriptor_type<storage_buffer>>
// CHECK: bufferization.to_tensor %[[A]]
// CHECK: linalg.fill ins(%[[X]] : i32)
// CHECK: bufferization.materialize_in_destination {{.*}} %[[B]]
// CHECK-NOT: stream.executable
stream.executable private @ex {
  builtin.module {
    func.func @f(%a: !stream.binding, %b: !stream.binding, %n: index, %x: i32) attributes {access = ["readonly", "readwrite"]} {
      %0 = stream.binding.subspan %a : memref<?x4xf32>{%n}
      %1 = stream.binding.subspan %b : memref<8xi32>
      %2 = bufferization.to_tensor %0 restrict : memref<?x4xf32> to tensor<?x4xf32>
      %3 = tensor.empty() : tensor<8xi32>
      %4 = linalg.fill ins(%x : i32) outs(%3 : tensor<8xi32>) -> tensor<8xi32>
      bufferization.materialize_in_destination %4 in restrict writable %1 : (tensor<8xi32>, memref<8xi32>) -> ()
      return
    }
  }
}
