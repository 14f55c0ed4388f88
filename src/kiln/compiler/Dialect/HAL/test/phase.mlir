// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --compile-to=hal | FileCheck %s
// RUN: kiln-compile %s --iree-hal-target-backends=llvm-cpu --compile-to=hal \
// RUN:   --iree-hal-benchmark-dispatch-repeat-count=3 | FileCheck %s --check-prefix=REPEAT
// RUN: for n in -1 0 65537; do not kiln-compile --iree-hal-target-backends=llvm-cpu --iree-hal-benchmark-dispatch-repeat-count=$n %s 2>&1; done | FileCheck %s --check-prefix=COUNT
// COUNT: --kiln-hal-benchmark-dispatch-repeat-count: -1 is no number from 1 to 65536
// COUNT: --kiln-hal-benchmark-dispatch-repeat-count: 0 is no number from 1 to 65536
// COUNT: --kiln-hal-benchmark-dispatch-repeat-count: 65537 is no number from 1 to 65536

// All executables are linked into one, and loaded once; a static program records its commands once.
// CHECK: util.initializer
// CHECK: hal.device.get
// CHECK: hal.executable.create({{.*}}) @module_linked
// CHECK: hal.command_buffer.create
// CHECK: hal.command_buffer.dispatch
// CHECK: hal.command_buffer.finalize
// CHECK: util.global.store {{.*}}, @__command_buffer_0
// CHECK: hal.executable private @module_linked
// CHECK: ordinal(0)
// CHECK: ordinal(1)
// CHECK-LABEL: util.func @static
// CHECK-NOT: hal.command_buffer
// CHECK: util.global.load @__command_buffer_0
// CHECK: hal.device.execute
// CHECK: hal.fence.await
// REPEAT: kiln.dispatch_repeat_count = "3"
// REPEAT: util.initializer
// REPEAT-COUNT-3: hal.command_buffer.dispatch
func.func @static(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = math.absf %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// One whose extents are known at run time only records them at each call.
// CHECK-LABEL: util.func @dynamic
// CHECK: hal.command_buffer.create
// CHECK: hal.command_buffer.dispatch
// CHECK: hal.device.execute
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = math.exp %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
