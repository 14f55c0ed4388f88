// RUN: kiln-opt %s --kiln-stream-materialize-copies | FileCheck %s

stream.executable private @ex {
  builtin.module {
    func.func @update(%in: !stream.binding, %both: !stream.binding) attributes {access = ["readonly", "readwrite"]} {
      return
    }
    func.func @make(%out: !stream.binding) attributes {access = ["writeonly"]} {
      return
    }
  }
}

// The caller's memory is not the program's to change.
// CHECK-LABEL: util.func @callers
// CHECK: %[[A:.+]] = stream.tensor.import %arg0
// CHECK: %[[COPY:.+]] = stream.async.clone %[[A]]
// CHECK: stream.async.dispatch @ex::@update[] (%[[A]], %[[COPY]])
util.func @callers(%a: !hal.buffer_view) -> !hal.buffer_view {
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@update[] (%0, %0) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
  %2 = stream.tensor.export %1{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}

// What the program has made itself is updated in place by its last user, though others read it before.
// CHECK-LABEL: util.func @last_use
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK-NOT: stream.async.clone
// CHECK: stream.async.load %[[M]]
// CHECK-NOT: stream.async.clone
// CHECK: stream.async.dispatch @ex::@update[] (%{{.+}}, %[[M]])
// CHECK: util.return
util.func @last_use(%a: !hal.buffer_view) -> (!hal.buffer_view, f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %x = stream.async.load %1[%c0] : !stream.resource -> f32
  %2 = stream.async.dispatch @ex::@update[] (%0, %1) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
  %3 = stream.tensor.export %2{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3, %x : !hal.buffer_view, f32
}

// Who reads it afterwards gets what it was.
// CHECK-LABEL: util.func @read_later
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK: %[[COPY:.+]] = stream.async.clone %[[M]]
// CHECK: stream.async.dispatch @ex::@update[] (%{{.+}}, %[[COPY]])
// CHECK: stream.async.load %[[M]]
util.func @read_later(%a: !hal.buffer_view) -> (!hal.buffer_view, f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %2 = stream.async.dispatch @ex::@update[] (%0, %1) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
  %x = stream.async.load %1[%c0] : !stream.resource -> f32
  %3 = stream.tensor.export %2{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3, %x : !hal.buffer_view, f32
}

// Two results are two memories.
// CHECK-LABEL: util.func @twice
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK: stream.async.clone %[[M]]
// CHECK: stream.tensor.export
// CHECK: stream.tensor.export
util.func @twice() -> (!hal.buffer_view, !hal.buffer_view) {
  %c64 = arith.constant 64 : index
  %0 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %1 = stream.tensor.export %0{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  %2 = stream.tensor.export %0{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %1, %2 : !hal.buffer_view, !hal.buffer_view
}

util.global private mutable @g : !stream.resource
util.global private mutable @h : !stream.resource

// A global keeps memory that the program has written, also where it comes out of a loop, and what another global keeps. The
// caller's memory is copied.
// CHECK-LABEL: util.func @stores
// CHECK: %[[A:.+]] = stream.tensor.import
// CHECK: %[[G:.+]] = util.global.load @g
// CHECK: %[[H:.+]] = util.global.load @h
// CHECK-NOT: stream.async.clone
// CHECK: %[[R:.+]] = scf.for
// CHECK-NOT: stream.async.clone
// CHECK: util.global.store %[[R]], @h
// CHECK-NEXT: util.global.store %[[H]], @g
// CHECK-NEXT: %[[COPY:.+]] = stream.async.clone %[[A]]
// CHECK-NEXT: util.global.store %[[COPY]], @g
util.func @stores(%a: !hal.buffer_view, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %g = util.global.load @g : !stream.resource
  %h = util.global.load @h : !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %g) -> !stream.resource {
    %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
    scf.yield %1 : !stream.resource
  }
  %2 = stream.async.clone %r : !stream.resource -> !stream.resource{%c64}
  util.global.store %2, @h : !stream.resource
  %3 = stream.async.clone %h : !stream.resource -> !stream.resource{%c64}
  util.global.store %3, @g : !stream.resource
  %4 = stream.async.clone %0 : !stream.resource -> !stream.resource{%c64}
  util.global.store %4, @g : !stream.resource
  util.return
}

// What a global may keep is not the caller's to change: without turns the loop gives what it was given.
// CHECK-LABEL: util.func @stored_and_returned
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK: %[[R:.+]] = scf.for
// CHECK: util.global.store %[[R]], @g
// CHECK: %[[COPY:.+]] = stream.async.clone %[[M]]
// CHECK: stream.tensor.export %[[COPY]]
util.func @stored_and_returned(%n: index) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %0) -> !stream.resource {
    %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
    scf.yield %1 : !stream.resource
  }
  %2 = stream.async.clone %r : !stream.resource -> !stream.resource{%c64}
  util.global.store %2, @g : !stream.resource
  %3 = stream.tensor.export %0{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// What one branch updates and the other passes on unchanged is the loop's own: nothing is copied.
// CHECK-LABEL: util.func @in_a_branch
// CHECK-NOT: stream.async.clone
// CHECK: util.return
util.func @in_a_branch(%a: !hal.buffer_view, %n: index, %choice: i1) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %1) -> !stream.resource {
    %b = scf.if %choice -> !stream.resource {
      %2 = stream.async.dispatch @ex::@update[] (%0, %t) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
      scf.yield %2 : !stream.resource
    } else {
      scf.yield %t : !stream.resource
    }
    scf.yield %b : !stream.resource
  }
  %3 = stream.tensor.export %r{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// What stands in a loop, and is older than it, is needed in the next turn.
// CHECK-LABEL: util.func @in_each_turn
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %[[COPY:.+]] = stream.async.clone %[[M:.+]] :
// CHECK: stream.async.dispatch @ex::@update[] (%{{.+}}, %[[COPY]])
// CHECK-NOT: stream.async.clone
// CHECK: util.return
util.func @in_each_turn(%a: !hal.buffer_view, %n: index, %choice: i1) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %2 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %2) -> !stream.resource {
    %b = scf.if %choice -> !stream.resource {
      %3 = stream.async.dispatch @ex::@update[] (%0, %1) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
      scf.yield %3 : !stream.resource
    } else {
      scf.yield %t : !stream.resource
    }
    scf.yield %b : !stream.resource
  }
  %4 = stream.tensor.export %r{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %4 : !hal.buffer_view
}

// Of two selects with one condition each takes what the other leaves; with two conditions both may take the same.
// CHECK-LABEL: util.func @change_places
// CHECK-NOT: stream.async.clone
// CHECK: %[[FREE:.+]] = arith.select %arg1
// CHECK-NEXT: arith.select %arg1
// CHECK-NOT: stream.async.clone
// CHECK: stream.async.dispatch @ex::@update[] (%{{.+}}, %[[FREE]])
// CHECK: %[[SHARED:.+]] = arith.select %arg1
// CHECK-NEXT: arith.select %arg2
// CHECK: %[[COPY:.+]] = stream.async.clone %[[SHARED]]
// CHECK: stream.async.dispatch @ex::@update[] (%{{.+}}, %[[COPY]])
util.func @change_places(%a: !hal.buffer_view, %choice: i1, %other: i1) -> (!hal.buffer_view, f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %2 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %3 = arith.select %choice, %1, %2 : !stream.resource
  %4 = arith.select %choice, %2, %1 : !stream.resource
  %5 = stream.async.dispatch @ex::@update[] (%0, %3) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
  %6 = arith.select %choice, %4, %5 : !stream.resource
  %7 = arith.select %other, %5, %4 : !stream.resource
  %8 = stream.async.dispatch @ex::@update[] (%0, %6) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
  %x = stream.async.load %7[%c0] : !stream.resource -> f32
  %9 = stream.tensor.export %8{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %9, %x : !hal.buffer_view, f32
}

// The loop inside takes over what the loop around it has, which the caller's memory was copied for once.
// CHECK-LABEL: util.func @loops_in_loops
// CHECK: %[[A:.+]] = stream.tensor.import
// CHECK: %[[COPY:.+]] = stream.async.clone %[[A]]
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.+]] = %[[COPY]])
// CHECK: scf.for {{.*}} iter_args(%[[INNER:.+]] = %[[OUTER]])
// CHECK-NOT: stream.async.clone
// CHECK: util.return
util.func @loops_in_loops(%a: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %0) -> !stream.resource {
    %q = scf.for %j = %c0 to %n step %c1 iter_args(%t = %s) -> !stream.resource {
      %c64 = arith.constant 64 : index
      %1 = stream.async.dispatch @ex::@update[] (%0, %t) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
      scf.yield %1 : !stream.resource
    }
    scf.yield %q : !stream.resource
  }
  %c64 = arith.constant 64 : index
  %2 = stream.tensor.export %r{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}

// A loop that stands before takes a copy, so that the last one needs none.
// CHECK-LABEL: util.func @two_loops
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK: %[[COPY:.+]] = stream.async.clone %[[M]]
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[COPY]])
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[M]])
// CHECK-NOT: stream.async.clone
// CHECK: util.return
util.func @two_loops(%a: !hal.buffer_view, %n: index) -> (!hal.buffer_view, !hal.buffer_view) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %1) -> !stream.resource {
    %2 = stream.async.dispatch @ex::@update[] (%0, %t) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
    scf.yield %2 : !stream.resource
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %1) -> !stream.resource {
    %2 = stream.async.dispatch @ex::@update[] (%0, %t) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
    scf.yield %2 : !stream.resource
  }
  %3 = stream.tensor.export %r{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  %4 = stream.tensor.export %q{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3, %4 : !hal.buffer_view, !hal.buffer_view
}

// What stands before a branch and is updated in it may have been read before; what stands behind it may not.
// CHECK-LABEL: util.func @read_behind_a_branch
// CHECK: %[[M:.+]] = stream.async.dispatch @ex::@make
// CHECK: scf.if
// CHECK: stream.async.clone %[[M]]
// CHECK: stream.async.load %[[M]]
util.func @read_behind_a_branch(%a: !hal.buffer_view, %choice: i1) -> (!hal.buffer_view, f32) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %0 = stream.tensor.import %a : !hal.buffer_view -> !stream.resource
  %1 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
  %b = scf.if %choice -> !stream.resource {
    %2 = stream.async.dispatch @ex::@update[] (%0, %1) {%c64, %c64} -> {%c64} tied [1] : (!stream.resource, !stream.resource) -> !stream.resource
    scf.yield %2 : !stream.resource
  } else {
    %2 = stream.async.dispatch @ex::@make[] () {} -> {%c64} tied [-1] : () -> !stream.resource
    scf.yield %2 : !stream.resource
  }
  %x = stream.async.load %1[%c0] : !stream.resource -> f32
  %3 = stream.tensor.export %b{%c64} : !stream.resource as tensor<16xf32> -> !hal.buffer_view
  util.return %3, %x : !hal.buffer_view, f32
}
