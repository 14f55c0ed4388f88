func.func @bits(%a: tensor<2xf32>) -> tensor<2xi32> {
  // expected-error @below {{'arith.bitcast' reads the bits of floats, which are others in f64}}
  %r = arith.bitcast %a : tensor<2xf32> to tensor<2xi32>
  return %r : tensor<2xi32>
}

// -----

// expected-error @below {{@blocks has no body of one block, whose floats could be widened to f64}}
func.func @blocks(%a: f32, %c: i1) -> f32 {
  cf.cond_br %c, ^then, ^else
^then:
  return %a : f32
^else:
  %r = arith.negf %a : f32
  return %r : f32
}
