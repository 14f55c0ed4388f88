func.func @bits(%a: tensor<2xf32>) -> tensor<2xi32> {
  // expected-error @below {{'arith.bitcast' reads the bits of floats, which are others in f64}}
  %r = arith.bitcast %a : tensor<2xf32> to tensor<2xi32>
  return %r : tensor<2xi32>
}
