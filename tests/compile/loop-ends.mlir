// Loops end also where their index would pass the largest number of its type, on the host and in kernels.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: call() { %limit kiln-run-module --module=%t.vmfb --function="$@" | grep "result\|xi32"; }; { call constant; call far; \
// RUN:   call from_zero --input=9223372036854775807 --input=4611686018427387904; call from_zero --input=10 --input=3; \
// RUN:   call from_zero --input=-5 --input=3; call anywhere --input=-2147483648 --input=2147483647 --input=2147483647; \
// RUN:   call anywhere --input=-7 --input=8 --input=5; call anywhere --input=3 --input=3 --input=1; \
// RUN:   call unsigned --input=0 --input=-1 --input=1000000000; call unsigned --input=-3 --input=-1 --input=1; \
// RUN:   call bytes --input=-128 --input=127 --input=100; call bytes --input=100 --input=127 --input=50; \
// RUN:   call kernel --input="4xi32=2 1073741824 2000000000 2147483647" --input="4xi32=2147483000 2 -2147483648 1"; \
// RUN:   call kernel --input="4xi32=0 -1 1 7" --input="4xi32=2147483640 2147483640 2147483640 2147483640"; \
// RUN:   call kernel_from_zero --input="4xi32=1073741824 2000000000 2147483646 536870912"; } | FileCheck %s

// CHECK: i64=3
func.func @constant() -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : index
  %end = arith.constant 9223372036854775807 : index
  %step = arith.constant 4000000000000000000 : index
  %r = scf.for %i = %c0 to %end step %step iter_args(%n = %zero) -> i64 {
    %m = arith.addi %n, %one : i64
    scf.yield %m : i64
  }
  return %r : i64
}

// The distance is no signed number.
// CHECK-NEXT: i32=5
func.func @far() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant -2147483648 : i32
  %end = arith.constant 2147483647 : i32
  %step = arith.constant 1000000000 : i32
  %r = scf.for %i = %start to %end step %step iter_args(%n = %zero) -> i32 : i32 {
    %m = arith.addi %n, %one : i32
    scf.yield %m : i32
  }
  return %r : i32
}

// The sum of the indices.
// CHECK-NEXT: i64=4611686018427387904
// CHECK-NEXT: i64=18
// CHECK-NEXT: i64=0
func.func @from_zero(%end: index, %step: index) -> index {
  %c0 = arith.constant 0 : index
  %r = scf.for %i = %c0 to %end step %step iter_args(%n = %c0) -> index {
    %m = arith.addi %n, %i : index
    scf.yield %m : index
  }
  return %r : index
}

// CHECK-NEXT: i32=-3
// CHECK-NEXT: i32=-6
// CHECK-NEXT: i32=0
func.func @anywhere(%start: i32, %end: i32, %step: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %r = scf.for %i = %start to %end step %step iter_args(%n = %zero) -> i32 : i32 {
    %m = arith.addi %n, %i : i32
    scf.yield %m : i32
  }
  return %r : i32
}

// CHECK-NEXT: i32=5
// CHECK-NEXT: i32=2
func.func @unsigned(%start: i32, %end: i32, %step: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for unsigned %i = %start to %end step %step iter_args(%n = %zero) -> i32 : i32 {
    %m = arith.addi %n, %one : i32
    scf.yield %m : i32
  }
  return %r : i32
}

// CHECK-NEXT: i32=3
// CHECK-NEXT: i32=1
func.func @bytes(%start: i8, %end: i8, %step: i8) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %start to %end step %step iter_args(%n = %zero) -> i32 : i8 {
    %m = arith.addi %n, %one : i32
    scf.yield %m : i32
  }
  return %r : i32
}

// How many turns from each number on; a step of a kernel is at least 1.
// CHECK-NEXT: result
// CHECK-NEXT: 4xi32=324 2 3 1
// CHECK-NEXT: result
// CHECK-NEXT: 4xi32=7 7 7 1
func.func @kernel(%steps: tensor<4xi32>, %starts: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 2147483647 : i32
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%steps, %starts : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%step: i32, %start: i32, %a: i32):
    %x = scf.for %i = %start to %end step %step iter_args(%n = %zero) -> i32 : i32 {
      %m = arith.addi %n, %one : i32
      scf.yield %m : i32
    }
    linalg.yield %x : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// The sum of the indices, which no compiler knows without the loop.
// CHECK-NEXT: result
// CHECK-NEXT: 4xi32=1073741824 2000000000 2147483646 -1073741824
func.func @kernel_from_zero(%steps: tensor<4xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %end = arith.constant 2147483647 : i32
  %e = tensor.empty() : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%steps : tensor<4xi32>) outs(%e : tensor<4xi32>) {
  ^bb0(%step: i32, %a: i32):
    %x = scf.for %i = %zero to %end step %step iter_args(%n = %zero) -> i32 : i32 {
      %m = arith.addi %n, %i : i32
      scf.yield %m : i32
    }
    linalg.yield %x : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}
