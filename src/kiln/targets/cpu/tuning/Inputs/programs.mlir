func.func @exp(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = math.exp %a : tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
func.func @row_sums(%a: tensor<1024x1024xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %0 = linalg.reduce ins(%a : tensor<1024x1024xf32>) outs(%init : tensor<1024xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  return %0 : tensor<1024xf32>
}
func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>)
    -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func @row_by_matrix(%a: tensor<1x512xf32>, %b: tensor<512x512xf32>, %c: tensor<1x512xf32>) -> tensor<1x512xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<1x512xf32>, tensor<512x512xf32>) outs(%c : tensor<1x512xf32>)
    -> tensor<1x512xf32>
  return %0 : tensor<1x512xf32>
}
