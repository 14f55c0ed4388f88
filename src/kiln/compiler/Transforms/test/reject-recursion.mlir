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
