// An integer division on the host that has no result fails the call, and says where it stands in the source.
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: run() { kiln-run-module --module=%t.vmfb --function=$1 --input=$2 --input=$3 2>&1; echo "exit code $?"; }; \
// RUN: { for f in signed unsigned remainder floor index; do run $f 7 0; run $f 7 2; done; \
// RUN:   run signed -2147483648 -1; run floor -2147483648 -1; run remainder -2147483648 -1; } | FileCheck %s

// CHECK: host-division.mlir:[[#@LINE+15]]:8: 'arith.divsi': integer division by zero
// CHECK: exit code 1
// CHECK: i32=3
// CHECK: host-division.mlir:[[#@LINE+16]]:8: 'arith.divui': integer division by zero
// CHECK: i32=3
// CHECK: host-division.mlir:[[#@LINE+18]]:8: 'arith.remsi': integer division by zero
// CHECK: i32=1
// CHECK: host-division.mlir:[[#@LINE+20]]:8: 'arith.floordivsi': integer division by zero
// CHECK: i32=3
// CHECK: host-division.mlir:[[#@LINE+22]]:8: 'arith.ceildivsi': integer division by zero
// CHECK: i64=4
// CHECK: 'arith.divsi': signed overflow in an integer division: the least value by -1
// CHECK: 'arith.floordivsi': signed overflow in an integer division: the least value by -1
// CHECK: i32=0
func.func @signed(%a: i32, %b: i32) -> i32 {
  %r = arith.divsi %a, %b : i32
  return %r : i32
}
func.func @unsigned(%a: i32, %b: i32) -> i32 {
  %r = arith.divui %a, %b : i32
  return %r : i32
}
func.func @remainder(%a: i32, %b: i32) -> i32 {
  %r = arith.remsi %a, %b : i32
  return %r : i32
}
func.func @floor(%a: i32, %b: i32) -> i32 {
  %r = arith.floordivsi %a, %b : i32
  return %r : i32
}
func.func @index(%a: index, %b: index) -> index {
  %r = arith.ceildivsi %a, %b : index
  return %r : index
}
