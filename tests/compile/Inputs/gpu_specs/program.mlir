func.func @matmul(%A: tensor<128x64xf32>, %B: tensor<64x192xf32>) -> tensor<128x192xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x192xf32>) -> tensor<128x192xf32>
  %0 = linalg.matmul ins(%A, %B : tensor<128x64xf32>, tensor<64x192xf32>)
                     outs(%init : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %0 : tensor<128x192xf32>
}
