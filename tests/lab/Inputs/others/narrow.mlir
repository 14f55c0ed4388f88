// Rounded to bf16 on its way to f32.
func.func @narrow(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %a = arith.mulf %x, %y : tensor<64xf32>
  %b = arith.truncf %a : tensor<64xf32> to tensor<64xbf16>
  %c = arith.extf %b : tensor<64xbf16> to tensor<64xf32>
  %d = arith.addf %c, %y : tensor<64xf32>
  return %d : tensor<64xf32>
}
