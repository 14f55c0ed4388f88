func.func @right() {
  %input = util.unfoldable_constant dense<[1.0, -2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %abs = linalg.abs ins(%input : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%abs, dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_almost_eq_const(%abs, dense<[1.005, 2.0]> : tensor<2xf32>, atol 1.0e-2) : tensor<2xf32>
  check.expect_almost_eq_const(%abs, dense<[1.05, 2.1]> : tensor<2xf32>, rtol 0.06) : tensor<2xf32>
  return
}

func.func @nan_equals_nan() {
  %nan = util.unfoldable_constant dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>
  check.expect_eq_const(%nan, dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>) : tensor<2xf32>
  check.expect_almost_eq_const(%nan, dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func @in_control_flow() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = util.unfoldable_constant 4 : index
  %input = util.unfoldable_constant dense<0> : tensor<3xi32>
  %ones = arith.constant dense<1> : tensor<3xi32>
  %sum = scf.for %i = %zero to %four step %one iter_args(%now = %input) -> tensor<3xi32> {
    %next = arith.addi %now, %ones : tensor<3xi32>
    check.expect_all_true(%next) : tensor<3xi32>
    scf.yield %next : tensor<3xi32>
  }
  check.expect_eq_const(%sum, dense<4> : tensor<3xi32>) : tensor<3xi32>
  return
}

func.func @wrong_values() {
  %input = util.unfoldable_constant dense<[1.0, -2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %abs = linalg.abs ins(%input : tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%abs, dense<[1.0, 3.0]> : tensor<2xf32>) : tensor<2xf32>
  %false = util.unfoldable_constant false
  check.expect_true(%false) : i1
  %seven = util.unfoldable_constant 7 : i32
  check.expect_false(%seven) : i32
  %zero = util.unfoldable_constant dense<[1, 0, 2]> : tensor<3xi8>
  check.expect_all_true(%zero) : tensor<3xi8>
  return
}

func.func @wrong_call() {
  %false = util.unfoldable_constant false
  cf.assert %false, "it was said so"
  return
}

func.func @wrong_division() {
  %zero = util.unfoldable_constant 0 : i32
  %seven = arith.constant 7 : i32
  %quotient = arith.divsi %seven, %zero : i32
  check.expect_false(%quotient) : i32
  return
}
