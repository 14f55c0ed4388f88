func.func @two_layers(%x: tensor<33x64xf32>, %v: tensor<64x48xf32>, %w: tensor<48x16xf32>) -> tensor<33x16xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<33x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%wide : tensor<33x48xf32>) -> tensor<33x48xf32>
  %h = linalg.matmul ins(%x, %v : tensor<33x64xf32>, tensor<64x48xf32>) outs(%zeros : tensor<33x48xf32>) -> tensor<33x48xf32>
  %t = math.tanh %h : tensor<33x48xf32>
  %narrow = tensor.empty() : tensor<33x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%narrow : tensor<33x16xf32>) -> tensor<33x16xf32>
  %y = linalg.matmul ins(%t, %w : tensor<33x48xf32>, tensor<48x16xf32>) outs(%start : tensor<33x16xf32>) -> tensor<33x16xf32>
  return %y : tensor<33x16xf32>
}
