// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic \
// RUN:   --compile-to=executable-sources | FileCheck %s
// RUN: not kiln-compile %s --compile-to=executable-sources 2>&1 | FileCheck %s --check-prefix=NOTARGET
// RUN: not kiln-compile %s --iree-hal-target-backends=llvm-gpu --compile-to=executable-sources 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN

// NOTARGET: error: no target is given; say --kiln-hal-target-backends=<name>, with one of: llvm-cpu
// UNKNOWN: error: there is no target backend 'llvm-gpu' in this build; there are: llvm-cpu

// CHECK: hal.executable private @main_dispatch_0
// CHECK: hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64"
// CHECK: hal.executable.export public @main_dispatch_0_matmul_Dx4x4_f32 ordinal(0)
// CHECK-SAME: layout(#hal.pipeline.layout<constants = 2, bindings = [readonly, readonly, readwrite]>)
// CHECK-NOT: count(
// CHECK: func.func @main_dispatch_0_matmul_Dx4x4_f32()
// CHECK: %[[M:.+]] = hal.interface.constant.load[0] : index
// CHECK: hal.interface.binding.subspan binding(0) {{.*}}readonly{{.*}} : memref<?x4xf32, #hal.descriptor_type<storage_buffer>>{%[[M]]}
// CHECK: linalg.matmul
func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
