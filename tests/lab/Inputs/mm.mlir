func.func @mm(%lhs: tensor<33x17xf32>, %rhs: tensor<17x20xf32>) -> tensor<33x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x20xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x20xf32>) -> tensor<33x20xf32>
  %result = linalg.matmul ins(%lhs, %rhs : tensor<33x17xf32>, tensor<17x20xf32>)
                          outs(%zeros : tensor<33x20xf32>) -> tensor<33x20xf32>
  return %result : tensor<33x20xf32>
}
