// RUN: kiln-opt %s --kiln-stream-schedule | FileCheck %s

stream.executable private @ex {
  builtin.module {
    func.func @map(%in: !stream.binding, %out: !stream.binding) attributes {access = ["readonly", "writeonly"]} {
      return
    }
    func.func @join(%a: !stream.binding, %b: !stream.binding, %out: !stream.binding) attributes {access = ["readonly", "readonly", "writeonly"]} {
      return
    }
  }
}

// Commands of one depth run at the same time. What lives inside of the submission shares one transient, two of 64 bytes
// in it; what leaves has memory of its own; the host waits once, at the end.
// CHECK-LABEL: util.func @diamond
// CHECK: %[[A:.+]] = stream.tensor.import
// CHECK-DAG: %[[OUT:.+]] = stream.resource.alloc external : !stream.resource{%c64
// CHECK-DAG: %[[ARENA:.+]] = stream.resource.alloc transient : !stream.resource{%c128
// CHECK: %[[DONE:.+]] = stream.cmd.execute {{.*}} with(
// CHECK: stream.cmd.concurrent {
// CHECK-NEXT: stream.cmd.dispatch @ex::@map
// CHECK-NEXT: stream.cmd.dispatch @ex::@map
// CHECK-NEXT: }
// CHECK-NEXT: stream.cmd.dispatch @ex::@join
// CHECK-NEXT: }
// CHECK-NOT: stream.cmd.execute
// CHECK: stream.tensor.export %[[OUT]]
// CHECK: stream.timepoint.await %[[DONE]]
// CHECK-NEXT: util.return
util.func @diamond(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@map[] (%0) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
  %2 = stream.async.dispatch @ex::@map[] (%0) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
  %3 = stream.async.dispatch @ex::@join[] (%1, %2) {%c64, %c64} -> {%c64} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
  %4 = stream.tensor.export %3{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %4 : !hal.buffer_view
}

// An element that the host reads ends a submission.
// CHECK-LABEL: util.func @read
// CHECK: %[[FIRST:.+]] = stream.cmd.execute
// CHECK: stream.cmd.dispatch @ex::@map
// CHECK: stream.timepoint.await %[[FIRST]]
// CHECK-NEXT: stream.resource.load
// CHECK: %[[SECOND:.+]] = stream.cmd.execute
// CHECK: stream.cmd.dispatch @ex::@map
// CHECK: stream.timepoint.await %[[SECOND]]
util.func @read(%a: !hal.buffer_view) -> (!hal.buffer_view, f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@map[] (%0) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
  %x = stream.async.load %1[%c0] : !stream.resource -> f32
  %2 = stream.async.dispatch @ex::@map[] (%1) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
  %3 = stream.tensor.export %2{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3, %x : !hal.buffer_view, f32
}

// What control flow passes on to become a result is memory that may leave the program, wherever it was made.
// CHECK-LABEL: util.func @through_control_flow
// CHECK: scf.while
// CHECK: stream.resource.alloc transient
// CHECK: stream.resource.load
// CHECK: } do {
// CHECK: scf.if
// CHECK: stream.resource.alloc external
// CHECK: } else {
// CHECK: stream.resource.alloc external
// CHECK: stream.tensor.export
util.func @through_control_flow(%a: !hal.buffer_view, %choice: i1) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@map[] (%0) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
  %r = scf.while (%t = %1) : (!stream.resource) -> !stream.resource {
    %2 = stream.async.dispatch @ex::@map[] (%t) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
    %more = stream.async.load %2[%c0] : !stream.resource -> i1
    scf.condition(%more) %t : !stream.resource
  } do {
  ^bb0(%t: !stream.resource):
    %b = scf.if %choice -> !stream.resource {
      %2 = stream.async.dispatch @ex::@map[] (%t) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
      scf.yield %2 : !stream.resource
    } else {
      %2 = stream.async.dispatch @ex::@join[] (%t, %0) {%c64, %c64} -> {%c64} tied [-1] : (!stream.resource, !stream.resource) -> !stream.resource
      scf.yield %2 : !stream.resource
    }
    scf.yield %b : !stream.resource
  }
  %3 = stream.tensor.export %r{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}
