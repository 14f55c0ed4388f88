// RUN: kiln-opt %s --kiln-reject-recursion --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @straight
func.func @straight(%a: i32) -> i32 {
  return %a : i32
}

// -----

func.func @forever(%a: i32) -> i32 {
  // expected-error @+1 {{calls 'forever' in a recursion, which Kiln does not compile; write it as a loop (scf.while)}}
  %0 = call @forever(%a) : (i32) -> i32
  return %0 : i32
}

// -----

// One of the calls of a circle is named.
func.func @even(%c: i1) -> i1 {
  // expected-error @+1 {{calls 'odd' in a recursion}}
  %0 = call @odd(%c) : (i1) -> i1
  return %0 : i1
}
func.func @odd(%c: i1) -> i1 {
  %0 = call @even(%c) : (i1) -> i1
  return %0 : i1
}

// -----

// A call of an initializer is inlined, with what that function calls in turn inlined before.
// CHECK-LABEL: util.global private mutable @seven
// CHECK-NOT: func.func private @seven_as_a_value
// CHECK: util.initializer
// CHECK: %[[SEVEN:.+]] = arith.constant 7
// CHECK: util.global.store %[[SEVEN]], @seven
util.global private mutable @seven : i32
func.func private @seven_as_a_value() -> i32 {
  %c = arith.constant 7 : i32
  return %c : i32
}
util.initializer {
  %x = func.call @seven_as_a_value() : () -> i32
  util.global.store %x, @seven : i32
  util.return
}
