// What kind of number a float is, in kernels and on the host; what divisions by zero give in a kernel.
// REQUIRES: compiler
// RUN: kiln-compile --iree-hal-target-backends=llvm-cpu %s -o %t.vmfb
// RUN: kiln-check-module --module=%t.vmfb

// NaN, infinities, zero, the smallest and the largest subnormal, the smallest normal and the largest number.
func.func @floats() {
  %a = util.unfoldable_constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 0x80000000, 1.0e-45, 0x007FFFFF, 0x80800000,
                                       0x7F7FFFFF]> : tensor<8xf32>
  %0 = math.isnan %a : tensor<8xf32>
  %1 = math.isinf %a : tensor<8xf32>
  %2 = math.isfinite %a : tensor<8xf32>
  %3 = math.isnormal %a : tensor<8xf32>
  check.expect_eq_const(%0, dense<[true, false, false, false, false, false, false, false]> : tensor<8xi1>) : tensor<8xi1>
  check.expect_eq_const(%1, dense<[false, true, true, false, false, false, false, false]> : tensor<8xi1>) : tensor<8xi1>
  check.expect_eq_const(%2, dense<[false, false, false, true, true, true, true, true]> : tensor<8xi1>) : tensor<8xi1>
  check.expect_eq_const(%3, dense<[false, false, false, false, false, false, true, true]> : tensor<8xi1>) : tensor<8xi1>
  return
}
// Without infinity; the smallest normal number is 2^-6, the largest 448.
func.func @small_floats() {
  %a = util.unfoldable_constant dense<[0x7F, 448.0, 0.013671875, 0.015625]> : tensor<4xf8E4M3FN>
  %1 = math.isinf %a : tensor<4xf8E4M3FN>
  %2 = math.isfinite %a : tensor<4xf8E4M3FN>
  %3 = math.isnormal %a : tensor<4xf8E4M3FN>
  check.expect_eq_const(%1, dense<false> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%2, dense<[false, true, true, true]> : tensor<4xi1>) : tensor<4xi1>
  check.expect_eq_const(%3, dense<[false, true, false, true]> : tensor<4xi1>) : tensor<4xi1>
  return
}
func.func @host() {
  %infinity = util.unfoldable_constant 0x7C00 : f16
  %small = util.unfoldable_constant -1.0e-5 : f16
  %0 = math.isnan %infinity : f16
  %1 = math.isinf %infinity : f16
  %2 = math.isfinite %infinity : f16
  %3 = math.isnormal %infinity : f16
  check.expect_false(%0) : i1
  check.expect_true(%1) : i1
  check.expect_false(%2) : i1
  check.expect_false(%3) : i1
  %4 = math.isinf %small : f16
  %5 = math.isfinite %small : f16
  %6 = math.isnormal %small : f16
  check.expect_false(%4) : i1
  check.expect_true(%5) : i1
  check.expect_false(%6) : i1
  return
}

func.func @divisions_by_zero() {
  %a = util.unfoldable_constant dense<[5, -5, 7]> : tensor<3xi32>
  %b = util.unfoldable_constant dense<[0, 0, 2]> : tensor<3xi32>
  %0 = arith.floordivsi %a, %b : tensor<3xi32>
  %1 = arith.ceildivsi %a, %b : tensor<3xi32>
  %2 = arith.ceildivui %a, %b : tensor<3xi32>
  check.expect_eq_const(%0, dense<[0, 0, 3]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%1, dense<[0, 0, 4]> : tensor<3xi32>) : tensor<3xi32>
  check.expect_eq_const(%2, dense<[0, 0, 4]> : tensor<3xi32>) : tensor<3xi32>
  return
}
