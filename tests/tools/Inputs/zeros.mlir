func.func @zeros() {
  %f64 = util.unfoldable_constant -0.0 : f64
  check.expect_false(%f64) : f64
  %f16 = util.unfoldable_constant -0.0 : f16
  check.expect_false(%f16) : f16
  %i64 = util.unfoldable_constant 0 : i64
  check.expect_false(%i64) : i64
  return
}

func.func @zeros_among_values() {
  %f32 = util.unfoldable_constant dense<[1.0, -0.0, 0.0, 0x7FC00000]> : tensor<4xf32>
  check.expect_all_true(%f32) : tensor<4xf32>
  %bf16 = util.unfoldable_constant dense<[-0.0, 1.0]> : tensor<2xbf16>
  check.expect_all_true(%bf16) : tensor<2xbf16>
  %i64 = util.unfoldable_constant dense<[4294967296, 0]> : tensor<2xi64>
  check.expect_all_true(%i64) : tensor<2xi64>
  %zero_f32 = util.unfoldable_constant -0.0 : f32
  check.expect_true(%zero_f32) : f32
  %zero_f64 = util.unfoldable_constant -0.0 : f64
  check.expect_true(%zero_f64) : f64
  return
}

// The lower 32 bits of all of them are zero.
func.func @values() {
  %i64 = util.unfoldable_constant 4294967296 : i64
  check.expect_true(%i64) : i64
  %index = util.unfoldable_constant 4294967296 : index
  check.expect_true(%index) : index
  %f64 = util.unfoldable_constant 0.25 : f64
  check.expect_true(%f64) : f64
  return
}

func.func @values_for_zeros() {
  %i64 = util.unfoldable_constant 4294967296 : i64
  check.expect_false(%i64) : i64
  %f64 = util.unfoldable_constant 0.25 : f64
  check.expect_false(%f64) : f64
  %f32 = util.unfoldable_constant 0x7FC00000 : f32
  check.expect_false(%f32) : f32
  return
}
