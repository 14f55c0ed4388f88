func.func @bits(%x: tensor<64xf32>) -> tensor<64xi32> {
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %y = arith.mulf %x, %two : tensor<64xf32>
  %z = arith.bitcast %y : tensor<64xf32> to tensor<64xi32>
  return %z : tensor<64xi32>
}
