// Globals of util and of ml_program: what one function stores, others find; what is stored stays as it was.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu --kiln-remarks %S/Inputs/kept-global.mlir -o %t.kept.vmfb 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: kept-global.mlir:4:3: remark: copy: keep copies 12 bytes in each call: a global holds memory of its own, and not the caller's
// RUN: kiln-run-module --module=%t.kept.vmfb --input=3xf32="1 2 3" | FileCheck %s
// CHECK: result[0]: hal.buffer_view
// CHECK-NEXT: 3xf32=2 4 6
// CHECK: result[1]: hal.buffer_view
// CHECK-NEXT: 3xf32=1 2 3

util.global private mutable @scalar = 5 : i32
util.global private mutable @byte = 200 : i8
util.global private mutable @flag = true
util.global private mutable @half = 1.5 : f16
util.global private @table = dense<[10, 20, 30]> : tensor<3xi32>
ml_program.global private mutable @vector(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
util.global private mutable @dynamic = dense<[1, 2]> : tensor<2xi32> : tensor<?xi32>
util.global private mutable @empty : tensor<?xi32>
util.global private mutable @zeros : tensor<2x2xi32>
util.global private @derived : tensor<3xi32>

util.initializer {
  %0 = util.global.load @table : tensor<3xi32>
  %1 = arith.muli %0, %0 : tensor<3xi32>
  util.global.store %1, @derived : tensor<3xi32>
  util.return
}

func.func @use_scalar() {
  %0 = util.global.load @scalar : i32
  %1 = arith.constant 2 : i32
  %2 = arith.muli %0, %1 : i32
  util.global.store %2, @scalar : i32
  %3 = util.global.load @scalar : i32
  %4 = arith.constant 10 : i32
  %5 = arith.cmpi eq, %3, %4 : i32
  check.expect_true(%5) : i1
  return
}

func.func @narrow_scalars() {
  %0 = util.global.load @byte : i8
  %1 = arith.extui %0 : i8 to i32
  %2 = arith.constant 200 : i32
  %3 = arith.cmpi eq, %1, %2 : i32
  check.expect_true(%3) : i1
  %4 = util.global.load @flag : i1
  check.expect_true(%4) : i1
  %5 = util.global.load @half : f16
  %6 = arith.extf %5 : f16 to f32
  %7 = arith.constant 1.5 : f32
  %8 = arith.cmpf oeq, %6, %7 : f32
  check.expect_true(%8) : i1
  return
}

func.func @tensor() {
  %0 = ml_program.global_load @vector : tensor<3xf32>
  %1 = arith.addf %0, %0 : tensor<3xf32>
  ml_program.global_store @vector = %1 : tensor<3xf32>
  %2 = ml_program.global_load @vector : tensor<3xf32>
  check.expect_eq_const(%0, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  check.expect_eq_const(%2, dense<[2.0, 4.0, 6.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}

func.func @initial() {
  %0 = util.global.load @table : tensor<3xi32>
  check.expect_eq_const(%0, dense<[10, 20, 30]> : tensor<3xi32>) : tensor<3xi32>
  %1 = util.global.load @zeros : tensor<2x2xi32>
  check.expect_eq_const(%1, dense<0> : tensor<2x2xi32>) : tensor<2x2xi32>
  %2 = util.global.load @derived : tensor<3xi32>
  check.expect_eq_const(%2, dense<[100, 400, 900]> : tensor<3xi32>) : tensor<3xi32>
  %3 = util.global.load @empty : tensor<?xi32>
  %4 = tensor.cast %3 : tensor<?xi32> to tensor<0xi32>
  check.expect_eq_const(%4, dense<> : tensor<0xi32>) : tensor<0xi32>
  return
}

// A loop stores a longer tensor each time.
func.func @growing() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = util.global.load @dynamic : tensor<?xi32>
    %1 = tensor.concat dim(0) %0, %0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    util.global.store %1, @dynamic : tensor<?xi32>
  }
  %2 = util.global.load @dynamic : tensor<?xi32>
  %3 = tensor.cast %2 : tensor<?xi32> to tensor<16xi32>
  check.expect_eq_const(%3, dense<[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]> : tensor<16xi32>) : tensor<16xi32>
  return
}

// Stored in one branch only; a constant, and a value that is updated in place afterwards.
util.global private mutable @chosen = dense<1> : tensor<4xi32>
func.func @branches() {
  %false = util.unfoldable_constant false
  %true = util.unfoldable_constant true
  %nine = arith.constant 9 : i32
  %c0 = arith.constant 0 : index
  %constant = arith.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  scf.if %false {
    %0 = util.unfoldable_constant dense<3> : tensor<4xi32>
    util.global.store %0, @chosen : tensor<4xi32>
  }
  %1 = util.global.load @chosen : tensor<4xi32>
  check.expect_eq_const(%1, dense<1> : tensor<4xi32>) : tensor<4xi32>
  scf.if %true {
    util.global.store %constant, @chosen : tensor<4xi32>
  }
  %2 = util.global.load @chosen : tensor<4xi32>
  %3 = tensor.insert %nine into %2[%c0] : tensor<4xi32>
  check.expect_eq_const(%3, dense<[9, 6, 7, 8]> : tensor<4xi32>) : tensor<4xi32>
  %4 = util.global.load @chosen : tensor<4xi32>
  check.expect_eq_const(%4, dense<[5, 6, 7, 8]> : tensor<4xi32>) : tensor<4xi32>
  %5 = arith.addi %4, %4 : tensor<4xi32>
  util.global.store %5, @chosen : tensor<4xi32>
  %6 = tensor.insert %nine into %5[%c0] : tensor<4xi32>
  check.expect_eq_const(%6, dense<[9, 12, 14, 16]> : tensor<4xi32>) : tensor<4xi32>
  %7 = util.global.load @chosen : tensor<4xi32>
  check.expect_eq_const(%7, dense<[10, 12, 14, 16]> : tensor<4xi32>) : tensor<4xi32>
  return
}

// What one global keeps another may keep, too; and what a loop gives is kept as it is, also if it had no turn.
util.global private mutable @left = dense<[1, 2, 3]> : tensor<3xi32>
util.global private mutable @right = dense<[4, 5, 6]> : tensor<3xi32>
func.func @exchange() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = util.unfoldable_constant 2 : index
  %none = util.unfoldable_constant 0 : index
  %true = util.unfoldable_constant true
  %nine = arith.constant 9 : i32
  %l = util.global.load @left : tensor<3xi32>
  %r = util.global.load @right : tensor<3xi32>
  util.global.store %l, @right : tensor<3xi32>
  util.global.store %r, @left : tensor<3xi32>
  %0 = util.global.load @left : tensor<3xi32>
  check.expect_eq_const(%0, dense<[4, 5, 6]> : tensor<3xi32>) : tensor<3xi32>
  // The loop updates what it was given, which both globals keep.
  %1 = scf.for %i = %c0 to %turns step %c1 iter_args(%s = %l) -> tensor<3xi32> {
    %t = tensor.insert %nine into %s[%i] : tensor<3xi32>
    scf.yield %t : tensor<3xi32>
  }
  util.global.store %1, @left : tensor<3xi32>
  %2 = tensor.insert %nine into %1[%turns] : tensor<3xi32>
  check.expect_eq_const(%2, dense<9> : tensor<3xi32>) : tensor<3xi32>
  %3 = util.global.load @left : tensor<3xi32>
  check.expect_eq_const(%3, dense<[9, 9, 3]> : tensor<3xi32>) : tensor<3xi32>
  %4 = util.global.load @right : tensor<3xi32>
  check.expect_eq_const(%4, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  // Each turn stores what the next one updates.
  %5 = scf.for %i = %c0 to %turns step %c1 iter_args(%s = %r) -> tensor<3xi32> {
    %b = scf.if %true -> tensor<3xi32> {
      scf.yield %s : tensor<3xi32>
    } else {
      scf.yield %l : tensor<3xi32>
    }
    util.global.store %b, @right : tensor<3xi32>
    %t = tensor.insert %nine into %s[%i] : tensor<3xi32>
    scf.yield %t : tensor<3xi32>
  }
  check.expect_eq_const(%5, dense<[9, 9, 6]> : tensor<3xi32>) : tensor<3xi32>
  %6 = util.global.load @right : tensor<3xi32>
  check.expect_eq_const(%6, dense<[9, 5, 6]> : tensor<3xi32>) : tensor<3xi32>
  %7 = scf.for %i = %c0 to %none step %c1 iter_args(%s = %4) -> tensor<3xi32> {
    %t = arith.addi %s, %s : tensor<3xi32>
    scf.yield %t : tensor<3xi32>
  }
  util.global.store %7, @left : tensor<3xi32>
  %8 = tensor.insert %nine into %7[%c0] : tensor<3xi32>
  check.expect_eq_const(%8, dense<[9, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  %9 = util.global.load @left : tensor<3xi32>
  check.expect_eq_const(%9, dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  return
}

// By an address, and with elements whose bytes are all the same.
util.global private mutable @bytes {inlining_policy = #util.inline.never} = #util.byte_pattern<1> : tensor<3xi16>
func.func @addresses() {
  %at = util.global.address @bytes : !util.ptr<tensor<3xi16>>
  %0 = util.global.load.indirect %at : !util.ptr<tensor<3xi16>> -> tensor<3xi16>
  %1 = arith.addi %0, %0 : tensor<3xi16>
  util.global.store.indirect %1, %at : tensor<3xi16> -> !util.ptr<tensor<3xi16>>
  %2 = util.global.load @bytes : tensor<3xi16>
  check.expect_eq_const(%0, dense<257> : tensor<3xi16>) : tensor<3xi16>
  check.expect_eq_const(%2, dense<514> : tensor<3xi16>) : tensor<3xi16>
  return
}

// The block of the address comes behind the one that uses it.
func.func @later_address() {
  cf.br ^address
^use:
  %0 = util.global.load.indirect %at : !util.ptr<tensor<3xi32>> -> tensor<3xi32>
  check.expect_eq_const(%0, dense<[10, 20, 30]> : tensor<3xi32>) : tensor<3xi32>
  return
^address:
  %at = util.global.address @table : !util.ptr<tensor<3xi32>>
  cf.br ^use
}
