func.func @identity(%input: tensor<2xf32>) -> tensor<2xf32> {
  return %input : tensor<2xf32>
}
