// RUN: kiln-opt %s --kiln-stream-place -split-input-file -verify-diagnostics | FileCheck %s
// RUN: kiln-opt %s --kiln-stream-place --kiln-stream-materialize-copies --kiln-stream-schedule -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=SCHEDULE

#first = #hal.device.affinity<@__device_0>
#second = #hal.device.affinity<@__device_1>

stream.executable private @ex {
  builtin.module {
    func.func @join(%a: !stream.binding, %b: !stream.binding, %out: !stream.binding) attributes {access = ["readonly", "readonly", "writeonly"]} {
      return
    }
  }
}

// A dispatch is where what it uses is; constants and splats are made there.
// CHECK-LABEL: util.func @moved
// CHECK: %[[K1:.+]] = stream.async.constant{{.*}} {stream.affinity = #hal.device.affinity<@__device_1>}
// CHECK: %[[K0:.+]] = stream.async.constant{{.*}} : !stream.resource{%{{[^ ]+}}}{{$}}
// CHECK: %[[X:.+]] = stream.async.transfer %{{.+}} to #hal.device.affinity<@__device_1>
// CHECK: %[[Y:.+]] = stream.async.dispatch @ex::@join[] (%[[X]], %[[K1]]) {{.*}} {stream.affinity = #hal.device.affinity<@__device_1>}
// CHECK: %[[BACK:.+]] = stream.async.transfer %[[Y]] {{.*}} to #hal.device.affinity<@__device_0>
// CHECK: stream.async.dispatch @ex::@join[] (%[[BACK]], %[[K0]]) {{.*}} tied [-1] :
// SCHEDULE-DAG: util.global private @__constants : !stream.resource
// SCHEDULE-DAG: util.global private @__constants_1 : !stream.resource
// SCHEDULE-DAG: stream.resource.constants({{.*}} {stream.affinity = #hal.device.affinity<@__device_1>}
// SCHEDULE-LABEL: util.func @moved
// SCHEDULE: stream.resource.transfer %{{.+}} to #hal.device.affinity<@__device_1>
// SCHEDULE: stream.resource.alloc transient : !stream.resource{%{{.+}}} {stream.affinity = #hal.device.affinity<@__device_1>}
// SCHEDULE: %[[DONE:.+]] = stream.cmd.execute
// SCHEDULE: } {stream.affinity = #hal.device.affinity<@__device_1>}
// SCHEDULE-NEXT: stream.timepoint.await %[[DONE]]
// SCHEDULE-NEXT: stream.resource.transfer
// SCHEDULE: stream.resource.alloc external
// SCHEDULE: stream.cmd.execute
util.func @moved(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c16 = arith.constant 16 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %k = stream.async.constant(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : !stream.resource{%c16}
  %1 = stream.async.transfer %0 : !stream.resource -> !stream.resource{%c16} to #second
  %2 = stream.async.dispatch @ex::@join[] (%1, %k) {%c16, %c16} -> {%c16} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %3 = stream.async.transfer %2 : !stream.resource -> !stream.resource{%c16} to #first
  %4 = stream.async.dispatch @ex::@join[] (%3, %k) {%c16, %c16} -> {%c16} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %5 = stream.tensor.export %4{%c16} : !stream.resource as tensor<4xf32> -> !hal.buffer_view
  util.return %5 : !hal.buffer_view
}

// -----

stream.executable private @ex {
  builtin.module {
    func.func @join(%a: !stream.binding, %b: !stream.binding, %out: !stream.binding) attributes {access = ["readonly", "readonly", "writeonly"]} {
      return
    }
  }
}

// Between queues nothing moves. What runs in different queues is a submission each, and the last waits for both.
// CHECK-LABEL: util.func @queues
// CHECK-NOT: stream.async.transfer
// CHECK: stream.async.dispatch {{.*}} {stream.affinity = #hal.device.affinity<@__device_0, [0]>}
// CHECK: stream.async.dispatch {{.*}} {stream.affinity = #hal.device.affinity<@__device_0, [1]>}
// CHECK: stream.async.dispatch {{.*}} tied [-1] :
// SCHEDULE-LABEL: util.func @queues
// SCHEDULE: %[[NOW:.+]] = stream.timepoint.immediate
// SCHEDULE: %[[A:.+]] = stream.cmd.execute await(%[[NOW]])
// SCHEDULE: %[[NOW:.+]] = stream.timepoint.immediate
// SCHEDULE: %[[B:.+]] = stream.cmd.execute await(%[[NOW]])
// SCHEDULE: %[[BOTH:.+]] = stream.timepoint.join %[[A]], %[[B]]
// SCHEDULE: %[[C:.+]] = stream.cmd.execute await(%[[BOTH]])
// SCHEDULE: stream.timepoint.await %[[C]]
util.func @queues(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c16 = arith.constant 16 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.transfer %0 : !stream.resource -> !stream.resource{%c16} to #hal.device.affinity<@__device_0, [0]>
  %2 = stream.async.dispatch @ex::@join[] (%1, %1) {%c16, %c16} -> {%c16} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %3 = stream.async.transfer %0 : !stream.resource -> !stream.resource{%c16} to #hal.device.affinity<@__device_0, [1]>
  %4 = stream.async.dispatch @ex::@join[] (%3, %3) {%c16, %c16} -> {%c16} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %5 = stream.async.transfer %2 : !stream.resource -> !stream.resource{%c16} to #hal.device.affinity<@__device_0>
  %6 = stream.async.transfer %4 : !stream.resource -> !stream.resource{%c16} to #hal.device.affinity<@__device_0>
  %7 = stream.async.dispatch @ex::@join[] (%5, %6) {%c16, %c16} -> {%c16} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %8 = stream.tensor.export %7{%c16} : !stream.resource as tensor<4xf32> -> !hal.buffer_view
  util.return %8 : !hal.buffer_view
}

// -----

util.func @wrong(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c16 = arith.constant 16 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.transfer %0 : !stream.resource -> !stream.resource{%c16} to #hal.device.affinity<@__device_1>
  // expected-error @+1 {{'stream.tensor.export' is given what lies on device 1; only what was transferred to the first device leaves the work of its own}}
  %2 = stream.tensor.export %1{%c16} : !stream.resource as tensor<4xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}
