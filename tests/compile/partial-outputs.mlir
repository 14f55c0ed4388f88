// What an operation does not store to stays as its output was, whether or not the body reads the output.
// REQUIRES: compiler
// RUN: call() { kiln-run-module $device --module=%t.vmfb --function="$@" 2>&1; }; \
// RUN: calls() { kiln-compile --iree-hal-target-backends=$1 %s -o %t.vmfb && \
// RUN:   call diagonal --input="4xf32=1 2 3 4" && \
// RUN:   call second --input="3xf32=1 2 3" --input="6xf32=9 8 7 6 5 4" && \
// RUN:   call column --input="3xi32=1 2 3" --input="3x2xi32=4 5 6 7 8 9" && \
// RUN:   call computed --input="2xf32=1 2" --input="5xf32=1 2 3 4 5" && \
// RUN:   call itself --input="4xf32=1 2 3 4" && \
// RUN:   call both --input="2xf32=1 2" --input="4xf32=5 6 7 8" && \
// RUN:   call in_row --input=3xi8=5 && \
// RUN:   call sums --input="2x3xf32=1 2 3 4 5 6" && \
// RUN:   call no_step --input=2x0xf32 --input="2xf32=5 6" && \
// RUN:   call in_body --input="2xf32=1 2" && \
// RUN:   call on_the_way --input="2xf32=1 2" --input=4xf32=7 --input=2 && \
// RUN:   call long --input=100000xi64=3; }; \
// RUN: device= calls llvm-cpu > %t.cpu && device=--device=local-task calls llvm-cpu > %t.task && \
// RUN: device=--device=cuda-sim calls cuda > %t.gpu
// RUN: FileCheck %s < %t.cpu
// RUN: FileCheck %s < %t.task
// RUN: FileCheck %s < %t.gpu

#id = affine_map<(i) -> (i)>

// CHECK: 4x4xf32=[1 7 7 7][7 2 7 7][7 7 3 7][7 7 7 4]
func.func @diagonal(%x: tensor<4xf32>) -> tensor<4x4xf32> {
  %seven = arith.constant dense<7.0> : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%seven : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK: 6xf32=9 -1 7 -2 5 -3
func.func @second(%x: tensor<3xf32>, %y: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%y : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK: 3x2xi32=[1 5][2 7][3 9]
func.func @column(%x: tensor<?xi32>, %y: tensor<?x2xi32>) -> tensor<?x2xi32> {
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%y : tensor<?x2xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<?x2xi32>
  return %r : tensor<?x2xi32>
}

// What the output held is read elsewhere, too.
// CHECK: 5xf32=2 4 6 -1 -2
// CHECK: 5xf32=2 4 6 8 10
func.func @computed(%x: tensor<2xf32>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = arith.addf %y, %y : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i + 3)>], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%0 : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  return %r, %0 : tensor<5xf32>, tensor<5xf32>
}

// The operation reads what it updates a part of.
// CHECK: 4xf32=1 4 3 2
func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (3 - i * 2)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]} ins(%two, %x : tensor<2xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%n: f32, %a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Two results start from one tensor.
// CHECK: 4xf32=1 6 2 8
// CHECK: 4xf32=5 -1 7 -2
func.func @both(%x: tensor<2xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%y, %y : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = arith.negf %a : f32
    linalg.yield %a, %0 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK: 3x4xi8=[1 1 1 1][1 5 5 5][1 1 1 1]
func.func @in_row(%x: tensor<3xi8>) -> tensor<3x4xi8> {
  %one = arith.constant 1 : i8
  %e = tensor.empty() : tensor<3x4xi8>
  %f = linalg.fill ins(%one : i8) outs(%e : tensor<3x4xi8>) -> tensor<3x4xi8>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (1, i + 1)>], iterator_types = ["parallel"]} ins(%x : tensor<3xi8>) outs(%f : tensor<3x4xi8>) {
  ^bb0(%a: i8, %o: i8):
    linalg.yield %a : i8
  } -> tensor<3x4xi8>
  return %r : tensor<3x4xi8>
}

// Sums of rows on a diagonal, of which an elementwise operation reads all.
// CHECK: 2x2xf32=[-6 -0][-0 -15]
func.func @sums(%x: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x3xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %m = arith.negf %r : tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}

// Without a step nothing is stored.
// CHECK: 2xf32=5 6
func.func @no_step(%x: tensor<2x?xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x?xf32>) outs(%y : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// The element computes a column and a diagonal of tensors of its own, and reads elements beside them.
// CHECK: 2x5xf32=[1 5 1 5 1][2 5 2 5 2]
func.func @in_body(%x: tensor<2xf32>) -> tensor<2x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %five = arith.constant dense<5.0> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 1 : index
    %t = tensor.from_elements %a, %a : tensor<2xf32>
    %column = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i, 0)>], iterator_types = ["parallel"]} ins(%t : tensor<2xf32>) outs(%five : tensor<2x2xf32>) {
    ^bb1(%p: f32, %q: f32):
      linalg.yield %p : f32
    } -> tensor<2x2xf32>
    %diagonal = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]} ins(%t : tensor<2xf32>) outs(%five : tensor<2x2xf32>) {
    ^bb1(%p: f32, %q: f32):
      linalg.yield %p : f32
    } -> tensor<2x2xf32>
    %0 = tensor.extract %column[%c1, %c0] : tensor<2x2xf32>
    %1 = tensor.extract %column[%c1, %c1] : tensor<2x2xf32>
    %2 = tensor.extract %diagonal[%c1, %c1] : tensor<2x2xf32>
    %3 = tensor.extract %diagonal[%c1, %c0] : tensor<2x2xf32>
    %all = tensor.from_elements %0, %1, %2, %3, %0 : tensor<5xf32>
    %y = tensor.extract %all[%j] : tensor<5xf32>
    linalg.yield %y : f32
  } -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// What it takes in starts from a value, and is needed no more itself.
// CHECK: 4xf32=14 19 14 21
// CHECK: 4xf32=14 14 14 14
func.func @on_the_way(%x: tensor<?xf32>, %y: tensor<?xf32>, %m: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %twice = arith.addf %y, %y : tensor<?xf32>
  %four = arith.constant 4.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%four : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %0 = arith.addf %p, %q : f32
    %1 = arith.addf %0, %k : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%twice : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r, %twice : tensor<?xf32>, tensor<?xf32>
}

// Several workgroups: how many elements are 3, and how many are 1.
// CHECK: i64=100000{{$}}
// CHECK: i64=100003
func.func @long(%x: tensor<100000xi64>) -> (i64, i64) {
  %one = arith.constant dense<1> : tensor<200003xi64>
  %zero = arith.constant dense<0> : tensor<i64>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (i * 2 + 2)>], iterator_types = ["parallel"]} ins(%x : tensor<100000xi64>) outs(%one : tensor<200003xi64>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<200003xi64>
  %counts:2 = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%r : tensor<200003xi64>) outs(%zero, %zero : tensor<i64>, tensor<i64>) {
  ^bb0(%a: i64, %o: i64, %p: i64):
    %three = arith.constant 3 : i64
    %1 = arith.constant 1 : i64
    %is_three = arith.cmpi eq, %a, %three : i64
    %is_one = arith.cmpi eq, %a, %1 : i64
    %threes = arith.extui %is_three : i1 to i64
    %ones = arith.extui %is_one : i1 to i64
    %2 = arith.addi %o, %threes : i64
    %3 = arith.addi %p, %ones : i64
    linalg.yield %2, %3 : i64, i64
  } -> (tensor<i64>, tensor<i64>)
  %threes = tensor.extract %counts#0[] : tensor<i64>
  %ones = tensor.extract %counts#1[] : tensor<i64>
  return %threes, %ones : i64, i64
}
