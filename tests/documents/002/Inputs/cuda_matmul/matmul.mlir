func.func @matmul_static(%A: tensor<3456x2048xf32>, %B: tensor<2048x1024xf32>) -> tensor<3456x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3456x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  %0 = linalg.matmul ins(%A, %B : tensor<3456x2048xf32>, tensor<2048x1024xf32>)
                     outs(%init : tensor<3456x1024xf32>) -> tensor<3456x1024xf32>
  return %0 : tensor<3456x1024xf32>
}
