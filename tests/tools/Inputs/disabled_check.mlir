// A test that its name leaves out.
func.func @DISABLED_wrong() {
  %a = util.unfoldable_constant dense<1.0> : tensor<2xf32>
  %b = util.unfoldable_constant dense<2.0> : tensor<2xf32>
  check.expect_eq(%a, %b) : tensor<2xf32>
  return
}
