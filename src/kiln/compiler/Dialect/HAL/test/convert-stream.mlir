// RUN: kiln-opt %s --kiln-hal-convert-stream --iree-hal-target-backends=llvm-cpu --split-input-file | FileCheck %s
// RUN: kiln-opt %s --kiln-hal-convert-stream --iree-hal-target-backends=llvm-cpu --split-input-file \
// RUN:   --iree-hal-benchmark-dispatch-repeat-count=3 | FileCheck %s --check-prefix=REPEAT

// A submission of the same commands in each call is recorded by an initializer, after the device and the executable.
// REPEAT-COUNT-3: hal.command_buffer.dispatch(
// CHECK: util.global private @__device : !hal.device
// CHECK: util.global private @__executable_ex : !hal.executable
// CHECK: util.global private @__command_buffer_0 : !hal.command_buffer
// CHECK: util.initializer
// CHECK: %[[DEVICE:.+]] = hal.device.get(
// CHECK: util.global.store %[[DEVICE]], @__device
// CHECK: %[[EX:.+]] = hal.executable.create(%[[DEVICE]]) @ex
// CHECK: util.global.store %[[EX]], @__executable_ex
// CHECK: %[[COMMANDS:.+]] = hal.command_buffer.create(
// CHECK: hal.command_buffer.dispatch(%[[COMMANDS]],
// CHECK: hal.command_buffer.finalize(%[[COMMANDS]])
// CHECK: util.global.store %[[COMMANDS]], @__command_buffer_0
// CHECK-LABEL: util.func @main
// CHECK-SAME: (%[[VIEW:.+]]: !hal.buffer_view)
// CHECK-NOT: hal.command_buffer.create
// CHECK: %[[IN:.+]] = hal.buffer_view.buffer(%[[VIEW]])
// CHECK: %[[OUT:.+]] = hal.buffer.allocate(
// CHECK: %[[RECORDED:.+]] = util.global.load @__command_buffer_0
// CHECK: %[[FENCE:.+]] = hal.device.execute(%{{.+}}, %{{.+}}, %[[RECORDED]], %[[IN]], {{.*}}, %[[OUT]],
// CHECK: hal.fence.await(%[[FENCE]])
// CHECK-NOT: stream.
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>) count() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
    }
  }
}
util.func @main(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c256 = arith.constant 256 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.resource.alloc external : !stream.resource{%c256}
  %2 = stream.timepoint.immediate : !stream.timepoint
  %3 = stream.cmd.execute await(%2) with(%0, %1 : !stream.resource, !stream.resource) {%c256, %c256} {
  ^bb0(%in: !stream.resource, %out: !stream.resource):
    %c0 = arith.constant 0 : index
    %size = arith.constant 256 : index
    stream.cmd.dispatch @ex::@f[] (%in, %out : !stream.resource, !stream.resource) at(%c0, %c0) for(%size, %size)
  }
  %4 = stream.tensor.export %1{%c256} : !stream.resource as tensor<64xf32> -> !hal.buffer_view
  stream.timepoint.await %3 : !stream.timepoint
  util.return %4 : !hal.buffer_view
}

// -----

// One that depends on the call is recorded in it, and gets the workgroup count from the export.
// CHECK-LABEL: util.func @main
// CHECK-SAME: (%[[VIEW:.+]]: !hal.buffer_view, %[[N:.+]]: i64)
// CHECK: %[[COMMANDS:.+]] = hal.command_buffer.create(
// CHECK: %[[COUNT:.+]] = arith.index_cast %[[N]] : i64 to index
// CHECK: hal.command_buffer.dispatch(%[[COMMANDS]], %{{[^,]+}}, %{{[^,]+}}, %[[COUNT]],
// CHECK: hal.command_buffer.finalize(%[[COMMANDS]])
// CHECK: hal.device.execute(%{{.+}}, %{{.+}}, %[[COMMANDS]],
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly]>) count(%n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
    }
  }
}
util.func @main(%a: !hal.buffer_view, %n: i64) {
  %c256 = arith.constant 256 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %2 = stream.timepoint.immediate : !stream.timepoint
  %3 = stream.cmd.execute await(%2) with(%0 : !stream.resource) {%c256} using(%n : i64) {
  ^bb0(%in: !stream.resource, %m: i64):
    %c0 = arith.constant 0 : index
    %size = arith.constant 256 : index
    stream.cmd.dispatch @ex::@f[%m : i64] (%in : !stream.resource) at(%c0) for(%size)
  }
  stream.timepoint.await %3 : !stream.timepoint
  util.return
}

// -----

// What is in the order of a queue, and what is elsewhere, is asked of the device that it is of, which loads what it launches.
// CHECK: util.global private @__device : !hal.device
// CHECK: util.global private @__device_1 : !hal.device
// CHECK: util.global private @__executable_ex_device_1 : !hal.executable
// CHECK: util.initializer
// CHECK: %[[FIRST:.+]] = hal.device.get(%c0_i32)
// CHECK: util.global.store %[[FIRST]], @__device
// CHECK: %[[SECOND:.+]] = hal.device.get(%c1_i32)
// CHECK: hal.executable.create(%[[SECOND]]) @ex
// CHECK-LABEL: util.func @places
// CHECK: %[[OLD:.+]] = hal.device.execute(
// CHECK: %[[D1:.+]] = util.global.load @__device_1
// CHECK: %[[IN:.+]] = hal.buffer.transfer(%[[D1]], %
// CHECK: %[[OUT:.+]] = hal.device.queue.alloca(%{{.+}}, %[[OLD]], %c1_i32
// CHECK: %[[DONE:.+]] = hal.device.queue.execute(%{{.+}}, %c6_i64, %[[OLD]], %{{.+}}, %[[IN]], {{.*}}, %[[OUT]],
// CHECK: %[[NEXT:.+]] = hal.device.end_turn(%[[D1]], %[[OLD]], %[[DONE]], %[[OUT]])
// CHECK: %[[NONE:.+]] = util.null : !hal.buffer
// CHECK: %[[LAST:.+]] = hal.device.end_turn(%{{.+}}, %[[NEXT]], %[[DONE]], %[[NONE]])
// CHECK: %[[BOTH:.+]] = hal.fence.join(%[[OLD]], %[[LAST]])
// CHECK: hal.fence.await(%[[BOTH]])
hal.executable private @ex {
  hal.executable.variant public @llvm_cpu target(<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>) count() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
    }
  }
}
util.func @places(%a: !hal.buffer_view) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %now = stream.timepoint.immediate : !stream.timepoint
  %old = stream.cmd.execute await(%now) with(%0 : !stream.resource) {%c256} {
  ^bb0(%in: !stream.resource):
  }
  %1 = stream.resource.transfer %0[%c0 for %c256] : !stream.resource -> !stream.resource to #hal.device.affinity<@__device_1>
  %2 = stream.resource.alloc transient await(%old) : !stream.resource{%c256} {stream.affinity = #hal.device.affinity<@__device_1, [1, 2]>}
  %3 = stream.cmd.execute await(%old) with(%1, %2 : !stream.resource, !stream.resource) {%c256, %c256} {
  ^bb0(%in: !stream.resource, %out: !stream.resource):
    %zero = arith.constant 0 : index
    %size = arith.constant 256 : index
    stream.cmd.dispatch @ex::@f[] (%in, %out : !stream.resource, !stream.resource) at(%zero, %zero) for(%size, %size)
  } {stream.affinity = #hal.device.affinity<@__device_1, [1, 2]>}
  %next = stream.timepoint.end_turn %old and %3 releasing(%2) {stream.affinity = #hal.device.affinity<@__device_1, [1, 2]>} : !stream.timepoint
  %last = stream.timepoint.end_turn %next and %3 : !stream.timepoint
  %4 = stream.timepoint.join %old, %last : !stream.timepoint
  stream.timepoint.await %4 : !stream.timepoint
  util.return
}
