// Elements of less than a byte, and floats of a byte: arithmetic, reductions, control flow, globals, and the packed form
// that callers see.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb
// RUN: bash %S/Inputs/packed-arguments.sh %S/Inputs/packed-arguments.mlir %t | FileCheck %S/Inputs/packed-arguments.mlir

// Results have the bits that fit; signed operations see signs.
func.func @integers() {
  %a = util.unfoldable_constant dense<[7, -8, -3, 5]> : tensor<4xi4>
  %b = util.unfoldable_constant dense<[1, 1, 2, -2]> : tensor<4xi4>
  %0 = arith.addi %a, %b : tensor<4xi4>
  %1 = arith.subi %a, %b : tensor<4xi4>
  %2 = arith.muli %a, %b : tensor<4xi4>
  %3 = arith.divsi %a, %b : tensor<4xi4>
  %4 = arith.divui %a, %b : tensor<4xi4>
  %5 = arith.maxsi %a, %b : tensor<4xi4>
  %6 = arith.maxui %a, %b : tensor<4xi4>
  %7 = arith.remsi %a, %b : tensor<4xi4>
  check.expect_eq_const(%0, dense<[-8, -7, -1, 3]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%1, dense<[6, 7, -5, 7]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%2, dense<[7, -8, -6, 6]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%3, dense<[7, -8, -1, -2]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%4, dense<[7, -8, 6, 0]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%5, dense<[7, 1, 2, 5]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%6, dense<[7, -8, -3, -2]> : tensor<4xi4>) : tensor<4xi4>
  check.expect_eq_const(%7, dense<[0, 0, -1, 1]> : tensor<4xi4>) : tensor<4xi4>
  return
}

func.func @shifts_and_comparisons() {
  %a = util.unfoldable_constant dense<[1, -2, 0, -1]> : tensor<4xi2>
  %b = util.unfoldable_constant dense<[1, 1, 1, 1]> : tensor<4xi2>
  %0 = arith.shrsi %a, %b : tensor<4xi2>
  %1 = arith.shrui %a, %b : tensor<4xi2>
  %2 = arith.shli %a, %b : tensor<4xi2>
  %3 = arith.cmpi slt, %a, %b : tensor<4xi2>
  %4 = arith.cmpi ult, %a, %b : tensor<4xi2>
  check.expect_eq_const(%0, dense<[0, -1, 0, -1]> : tensor<4xi2>) : tensor<4xi2>
  check.expect_eq_const(%1, dense<[0, 1, 0, 1]> : tensor<4xi2>) : tensor<4xi2>
  check.expect_eq_const(%2, dense<[-2, 0, 0, -2]> : tensor<4xi2>) : tensor<4xi2>
  check.expect_eq_const(%3, dense<[false, true, true, true]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%4, dense<[false, false, true, false]> : tensor<4xi1>) : tensor<4xi1>
  return
}

func.func @conversions() {
  %a = util.unfoldable_constant dense<[7, -8, -1, 0]> : tensor<4xi4>
  %0 = arith.extsi %a : tensor<4xi4> to tensor<4xi32>
  %1 = arith.extui %a : tensor<4xi4> to tensor<4xi8>
  %2 = arith.sitofp %a : tensor<4xi4> to tensor<4xf32>
  %3 = arith.uitofp %a : tensor<4xi4> to tensor<4xf16>
  %4 = arith.fptosi %2 : tensor<4xf32> to tensor<4xi4>
  %5 = arith.trunci %a : tensor<4xi4> to tensor<4xi2>
  %6 = arith.extsi %5 : tensor<4xi2> to tensor<4xi4>
  check.expect_eq_const(%0, dense<[7, -8, -1, 0]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%1, dense<[7, 8, 15, 0]> : tensor<4xi8>) : tensor<4xi8>
  check.expect_eq_const(%2, dense<[7.0, -8.0, -1.0, 0.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq_const(%3, dense<[7.0, 8.0, 15.0, 0.0]> : tensor<4xf16>) : tensor<4xf16>
  check.expect_eq(%4, %a) : tensor<4xi4>
  check.expect_eq_const(%6, dense<[-1, 0, -1, 0]> : tensor<4xi4>) : tensor<4xi4>
  return
}

func.func @four_bit_floats() {
  %a = util.unfoldable_constant dense<[0.5, 6.0, -4.0, 3.0]> : tensor<4xf4E2M1FN>
  %0 = arith.addf %a, %a : tensor<4xf4E2M1FN>
  %1 = arith.negf %a : tensor<4xf4E2M1FN>
  %2 = arith.extf %a : tensor<4xf4E2M1FN> to tensor<4xf16>
  %3 = math.sqrt %2 : tensor<4xf16>
  %4 = arith.truncf %3 : tensor<4xf16> to tensor<4xf4E2M1FN>
  %5 = tensor.extract_slice %4[0] [2] [1] : tensor<4xf4E2M1FN> to tensor<2xf4E2M1FN>
  check.expect_eq_const(%0, dense<[1.0, 6.0, -6.0, 6.0]> : tensor<4xf4E2M1FN>) : tensor<4xf4E2M1FN>
  check.expect_eq_const(%1, dense<[-0.5, -6.0, 4.0, -3.0]> : tensor<4xf4E2M1FN>) : tensor<4xf4E2M1FN>
  check.expect_eq_const(%5, dense<[0.5, 2.0]> : tensor<2xf4E2M1FN>) : tensor<2xf4E2M1FN>
  return
}

func.func @scales() {
  %a = util.unfoldable_constant dense<[1.0, -6.0, 0.5, 2.0]> : tensor<4xf4E2M1FN>
  %s = util.unfoldable_constant dense<[0.25, 1024.0, 2.0, 1.0]> : tensor<4xf8E8M0FNU>
  %0 = arith.scaling_extf %a, %s : tensor<4xf4E2M1FN>, tensor<4xf8E8M0FNU> to tensor<4xf32>
  %1 = arith.scaling_truncf %0, %s : tensor<4xf32>, tensor<4xf8E8M0FNU> to tensor<4xf4E2M1FN>
  check.expect_eq_const(%0, dense<[0.25, -6144.0, 1.0, 2.0]> : tensor<4xf32>) : tensor<4xf32>
  check.expect_eq(%1, %a) : tensor<4xf4E2M1FN>
  return
}

// Inputs are widened before the product, which is one of f32; of i4 one of i8.
func.func @products() {
  %a = util.unfoldable_constant dense<[[1.0, 2.0], [-0.5, 448.0]]> : tensor<2x2xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xf8E4M3FN>, tensor<2x2xf8E4M3FN>) outs(%zero : tensor<2x2xf32>)
    -> tensor<2x2xf32>
  check.expect_eq_const(%0, dense<[[0.0, 898.0], [-224.5, 200703.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
  %b = util.unfoldable_constant dense<[[7, -8], [-1, 3]]> : tensor<2x2xi4>
  %izero = arith.constant dense<0> : tensor<2x2xi32>
  %1 = linalg.matmul ins(%b, %b : tensor<2x2xi4>, tensor<2x2xi4>) outs(%izero : tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const(%1, dense<[[57, -80], [-10, 17]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  return
}

// Each step is rounded to the type of the sum.
func.func @sums() {
  %a = util.unfoldable_constant dense<1.0> : tensor<40xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<f8E4M3FN>
  %0 = linalg.reduce ins(%a : tensor<40xf8E4M3FN>) outs(%zero : tensor<f8E4M3FN>) dimensions = [0]
    (%x: f8E4M3FN, %y: f8E4M3FN) {
      %1 = arith.addf %x, %y : f8E4M3FN
      linalg.yield %1 : f8E4M3FN
    }
  check.expect_eq_const(%0, dense<16.0> : tensor<f8E4M3FN>) : tensor<f8E4M3FN>
  return
}

util.global private mutable @state = dense<[1, 2, 3]> : tensor<3xi4>
func.func @state_and_loops() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %start = util.global.load @state : tensor<3xi4>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %start) -> tensor<3xi4> {
    %1 = arith.addi %a, %start : tensor<3xi4>
    scf.yield %1 : tensor<3xi4>
  }
  util.global.store %0, @state : tensor<3xi4>
  %2 = util.global.load @state : tensor<3xi4>
  check.expect_eq_const(%2, dense<[4, -8, -4]> : tensor<3xi4>) : tensor<3xi4>
  %3 = tensor.extract %2[%c1] : tensor<3xi4>
  %4 = arith.extsi %3 : i4 to i32
  %minus8 = arith.constant -8 : i32
  %5 = arith.cmpi eq, %4, %minus8 : i32
  check.expect_true(%5) : i1
  return
}

func.func @shapes() {
  %a = util.unfoldable_constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi4>
  %zero = arith.constant 0 : i4
  %0 = tensor.pad %a low[0, 1] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i4
  } : tensor<2x3xi4> to tensor<3x4xi4>
  check.expect_eq_const(%0, dense<[[0, 1, 2, 3], [0, 4, 5, 6], [0, 0, 0, 0]]> : tensor<3x4xi4>) : tensor<3x4xi4>
  %init = tensor.empty() : tensor<3x2xi4>
  %1 = linalg.transpose ins(%a : tensor<2x3xi4>) outs(%init : tensor<3x2xi4>) permutation = [1, 0]
  check.expect_eq_const(%1, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi4>) : tensor<3x2xi4>
  %2 = flow.tensor.bitcast %a : tensor<2x3xi4> -> tensor<3xi8>
  check.expect_eq_const(%2, dense<[33, 67, 101]> : tensor<3xi8>) : tensor<3xi8>
  %3 = flow.tensor.bitcast %2 : tensor<3xi8> -> tensor<12xi2>
  check.expect_eq_const(%3, dense<[1, 0, -2, 0, -1, 0, 0, 1, 1, 1, -2, 1]> : tensor<12xi2>) : tensor<12xi2>
  return
}

// Truth values a bit each: 140 is 00110001, from the lowest bit on.
func.func @packed_truth_values() {
  %a = util.unfoldable_constant dense<[140, 77]> : tensor<2xi8>
  %0 = flow.tensor.bitcast %a : tensor<2xi8> -> tensor<16xi1, #iree_encoding.packed_storage>
  %1 = tensor.extract_slice %0[0] [8] [1] : tensor<16xi1, #iree_encoding.packed_storage>
    to tensor<8xi1, #iree_encoding.packed_storage>
  %init = tensor.empty() : tensor<8xi8>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
    ins(%1 : tensor<8xi1, #iree_encoding.packed_storage>) outs(%init : tensor<8xi8>) {
  ^bb0(%x: i1, %y: i8):
    %3 = arith.extui %x : i1 to i8
    linalg.yield %3 : i8
  } -> tensor<8xi8>
  check.expect_eq_const(%2, dense<[0, 0, 1, 1, 0, 0, 0, 1]> : tensor<8xi8>) : tensor<8xi8>
  %4 = flow.tensor.bitcast %0 : tensor<16xi1, #iree_encoding.packed_storage> -> tensor<2xi8>
  check.expect_eq(%4, %a) : tensor<2xi8>
  return
}

// Truth values are of less bits than all others, and no byte that is packed.
func.func @truth_values() {
  %a = util.unfoldable_constant dense<[1, -2, -1, 0]> : tensor<4xi2>
  %b = util.unfoldable_constant dense<[7, -8, -1, 2]> : tensor<4xi4>
  %0 = arith.trunci %a : tensor<4xi2> to tensor<4xi1>
  %1 = arith.trunci %b : tensor<4xi4> to tensor<4xi1>
  %2 = arith.extui %1 : tensor<4xi1> to tensor<4xi2>
  %3 = arith.extsi %0 : tensor<4xi1> to tensor<4xi4>
  check.expect_eq_const(%0, dense<[true, false, true, false]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%1, dense<[true, false, true, false]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%2, dense<[1, 0, 1, 0]> : tensor<4xi2>) : tensor<4xi2>
  check.expect_eq_const(%3, dense<[-1, 0, -1, 0]> : tensor<4xi4>) : tensor<4xi4>
  // The last one of a vector, whose other bits are not all zeros.
  %c = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %d = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi16>
  %4 = arith.trunci %c : tensor<4xi8> to tensor<4xi1>
  %5 = arith.trunci %d : tensor<4xi16> to tensor<4xi1>
  check.expect_eq_const(%4, dense<[true, false, true, false]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%5, dense<[true, false, true, false]> : tensor<4xi1>) : tensor<4xi1>
  return
}
