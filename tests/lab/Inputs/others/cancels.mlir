// The root of a large number, less the root of the large part of it: in f32 nothing is left of x.
func.func @cancels(%x: tensor<64xf32>) -> tensor<64xf32> {
  %large = arith.constant dense<1.0e12> : tensor<64xf32>
  %root = arith.constant dense<1.0e6> : tensor<64xf32>
  %a = arith.addf %x, %large : tensor<64xf32>
  %b = math.sqrt %a : tensor<64xf32>
  %c = arith.subf %b, %root : tensor<64xf32>
  return %c : tensor<64xf32>
}
