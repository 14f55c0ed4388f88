// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-lower-asserts))' --allow-unregistered-dialect --split-input-file --verify-diagnostics | FileCheck %s

// The status is 0, or the number of the message; equal messages are one.
// CHECK-LABEL: func.func @dispatch
//  CHECK-SAME: (%[[A:.+]]: i1, %[[B:.+]]: i1) -> i32 attributes {hal.assert_messages = ["first", "second"]}
//  CHECK-NEXT: cf.cond_br %[[A]], ^[[NEXT:.+]], ^[[FIRST:.+]]
//       CHECK: ^[[NEXT]]:
//       CHECK: "test.work"
//  CHECK-NEXT: cf.cond_br %[[B]], ^[[THEN:.+]], ^[[SECOND:.+]]
//       CHECK: ^[[THEN]]:
//  CHECK-NEXT: cf.cond_br %[[B]], ^[[LAST:.+]], ^[[FIRST]]
//       CHECK: ^[[LAST]]:
//  CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0 : i32
//  CHECK-NEXT: return %[[ZERO]] : i32
//       CHECK: ^[[FIRST]]:
//  CHECK-NEXT: %[[ONE:.+]] = arith.constant 1 : i32
//  CHECK-NEXT: return %[[ONE]] : i32
//       CHECK: ^[[SECOND]]:
//  CHECK-NEXT: %[[TWO:.+]] = arith.constant 2 : i32
//  CHECK-NEXT: return %[[TWO]] : i32
func.func @dispatch(%a: i1, %b: i1) {
  cf.assert %a, "first"
  "test.work"() : () -> ()
  cf.assert %b, "second"
  cf.assert %b, "first"
  return
}

// CHECK-LABEL: func.func @nothing_to_fail() {
func.func @nothing_to_fail() {
  return
}

// -----

func.func private @helper(%a: i1) {
  // expected-error @+1 {{cannot be compiled for the CPU here: only a dispatch itself can fail}}
  cf.assert %a, "no"
  return
}

// -----

func.func @inside(%a: i1, %n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @+1 {{only a dispatch itself can fail, outside of other operations}}
    cf.assert %a, "no"
  }
  return
}
