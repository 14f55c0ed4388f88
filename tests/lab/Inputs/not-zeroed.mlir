// Adds to whatever its result holds.
func.func @mm(%lhs: tensor<33x17xf32>, %rhs: tensor<17x20xf32>) -> tensor<33x20xf32> {
  %sum = tensor.empty() : tensor<33x20xf32>
  %r = linalg.matmul ins(%lhs, %rhs : tensor<33x17xf32>, tensor<17x20xf32>) outs(%sum : tensor<33x20xf32>) -> tensor<33x20xf32>
  return %r : tensor<33x20xf32>
}
