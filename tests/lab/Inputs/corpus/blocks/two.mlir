func.func @matmul(%x: tensor<17x33xf32>, %w: tensor<33x65xf32>) -> tensor<17x65xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<17x65xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<17x65xf32>) -> tensor<17x65xf32>
  %y = linalg.matmul ins(%x, %w : tensor<17x33xf32>, tensor<33x65xf32>) outs(%zeros : tensor<17x65xf32>) -> tensor<17x65xf32>
  return %y : tensor<17x65xf32>
}
func.func @twice(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %empty = tensor.empty(%n) : tensor<?xi32>
  %y = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%empty : tensor<?xi32>) -> tensor<?xi32>
  return %y : tensor<?xi32>
}
// kiln-shapes: @twice 7xi32 -> 7xi32
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
