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

// A turn may begin while the device is at those before it: after it has submitted, the host waits until few submissions are in
// flight, and at the end for all. Memory of a turn is for what follows the last one, and its arena goes on to the next.
// CHECK-LABEL: util.func @turns
// CHECK: %[[REACHED:.+]] = stream.timepoint.immediate
// CHECK: %[[LOOP:.+]]:2 = scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[T:.+]] = %[[REACHED]])
// CHECK-DAG: %[[OUT:.+]] = stream.resource.alloc external await(%[[T]])
// CHECK-DAG: %[[ARENA:.+]] = stream.resource.alloc transient await(%[[T]])
// CHECK: %[[DONE:.+]] = stream.cmd.execute await(%[[T]])
// CHECK: %[[NEXT:.+]] = stream.timepoint.end_turn %[[T]] and %[[DONE]] releasing(%[[ARENA]])
// CHECK-NEXT: scf.yield %[[OUT]], %[[NEXT]]
// CHECK: stream.timepoint.await %[[LOOP]]#1
// CHECK-NEXT: util.return
util.func @turns(%a: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %0) -> !stream.resource {
    %3 = stream.async.dispatch @ex::@map[] (%x) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
    %4 = stream.async.dispatch @ex::@map[] (%3) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
    scf.yield %4 : !stream.resource
  }
  %5 = stream.tensor.export %1{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %5 : !hal.buffer_view
}

// Branches of a loop hand on what is in flight, and so do loops in loops.
// CHECK-LABEL: util.func @branches
// CHECK: scf.while (%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %[[B:.+]] = %{{.+}}) :
// CHECK: scf.condition(%{{.+}}) %{{.+}}, %{{.+}}, %[[B]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%{{.+}}: index, %{{.+}}: !stream.resource, %[[T:.+]]: !stream.timepoint)
// CHECK: %[[IF:.+]]:2 = scf.if
// CHECK: %[[DONE:.+]] = stream.cmd.execute await(%[[T]])
// CHECK: %[[NEXT:.+]] = stream.timepoint.end_turn %[[T]] and %[[DONE]] :
// CHECK: scf.yield %{{.+}}, %[[NEXT]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %{{.+}}, %[[T]]
// CHECK: %[[INNER:.+]]:2 = scf.for {{.*}}%{{.+}} = %[[IF]]#0, %{{.+}} = %[[IF]]#1)
// CHECK: scf.yield %{{.+}}, %[[INNER]]#0, %[[INNER]]#1
util.func @branches(%a: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1:2 = scf.while (%i = %c0, %x = %0) : (index, !stream.resource) -> (index, !stream.resource) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %x : index, !stream.resource
  } do {
  ^bb0(%i: index, %x: !stream.resource):
    %next = arith.addi %i, %c1 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %3 = scf.if %first -> !stream.resource {
      %5 = stream.async.dispatch @ex::@map[] (%x) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
      scf.yield %5 : !stream.resource
    } else {
      scf.yield %x : !stream.resource
    }
    %4 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %3) -> !stream.resource {
      %5 = stream.async.dispatch @ex::@map[] (%y) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
      scf.yield %5 : !stream.resource
    }
    scf.yield %next, %4 : index, !stream.resource
  }
  %2 = stream.tensor.export %1#1{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}

// What the host reads in a turn it waits for there, and so it carries nothing.
// CHECK-LABEL: util.func @reading_turns
// CHECK: scf.while (%{{.+}} = %{{.+}}) : (!stream.resource) -> !stream.resource {
// CHECK: %[[DONE:.+]] = stream.cmd.execute
// CHECK: stream.timepoint.await %[[DONE]]
// CHECK-NEXT: stream.resource.load
util.func @reading_turns(%a: !hal.buffer_view, %n: i32) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = scf.while (%x = %0) : (!stream.resource) -> !stream.resource {
    %3 = stream.async.dispatch @ex::@map[] (%x) {%c64} -> {%c64} tied [-1] : (!stream.resource) -> !stream.resource
    %4 = stream.async.load %3[%c0] : !stream.resource -> i32
    %5 = arith.cmpi slt, %4, %n : i32
    scf.condition(%5) %3 : !stream.resource
  } do {
  ^bb0(%x: !stream.resource):
    scf.yield %x : !stream.resource
  }
  %2 = stream.tensor.export %1{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
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
